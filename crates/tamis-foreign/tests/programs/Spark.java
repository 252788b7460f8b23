// Asks a filter through Spark's sketch library itself: prints the keys of a file that pass.
// java -cp spark-sketch.jar Spark.java FILTER KIND KEYS
import java.io.FileInputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HexFormat;
import org.apache.spark.util.sketch.BloomFilter;

public class Spark {
    public static void main(String[] args) throws Exception {
        BloomFilter filter;
        try (var in = new FileInputStream(args[0])) {
            filter = BloomFilter.readFrom(in);
        }
        var out = new StringBuilder();
        for (String key : Files.readString(Path.of(args[2])).split("\n")) {
            boolean passes = switch (args[1]) {
                case "text" -> filter.mightContainString(key);
                case "long" -> filter.mightContainLong(Long.parseLong(key));
                case "hex" -> filter.mightContainBinary(HexFormat.of().parseHex(key));
                default -> throw new IllegalArgumentException(args[1]);
            };
            if (passes) out.append(key).append('\n');
        }
        System.out.write(out.toString().getBytes(StandardCharsets.UTF_8));
        System.out.flush();
    }
}
