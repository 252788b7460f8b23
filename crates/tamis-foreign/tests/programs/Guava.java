// Asks a filter through Guava itself: prints the keys of a file that pass.
// java -cp guava.jar Guava.java FILTER KIND KEYS
import com.google.common.hash.BloomFilter;
import com.google.common.hash.Funnel;
import com.google.common.hash.Funnels;
import java.io.FileInputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HexFormat;
import java.util.function.Function;

public class Guava {
    static <T> void ask(String file, Funnel<? super T> funnel, Function<String, T> parse, String keys)
            throws Exception {
        BloomFilter<T> filter;
        try (var in = new FileInputStream(file)) {
            filter = BloomFilter.readFrom(in, funnel);
        }
        var out = new StringBuilder();
        for (String key : Files.readString(Path.of(keys)).split("\n")) {
            if (filter.mightContain(parse.apply(key))) out.append(key).append('\n');
        }
        System.out.write(out.toString().getBytes(StandardCharsets.UTF_8));
        System.out.flush();
    }

    public static void main(String[] args) throws Exception {
        switch (args[1]) {
            case "text" -> Guava.<CharSequence>ask(
                    args[0], Funnels.stringFunnel(StandardCharsets.UTF_8), s -> s, args[2]);
            case "chars" -> Guava.<CharSequence>ask(
                    args[0], Funnels.unencodedCharsFunnel(), s -> s, args[2]);
            case "long" -> ask(args[0], Funnels.longFunnel(), Long::parseLong, args[2]);
            case "int" -> ask(args[0], Funnels.integerFunnel(), Integer::parseInt, args[2]);
            case "hex" -> ask(
                    args[0], Funnels.byteArrayFunnel(), HexFormat.of()::parseHex, args[2]);
            default -> throw new IllegalArgumentException(args[1]);
        }
    }
}
