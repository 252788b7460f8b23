// Lookups of unknown texts of 16 bytes in a filter of Guava, in nanoseconds a key.
// java -cp guava.jar GuavaLookup.java ITEMS
import com.google.common.hash.BloomFilter;
import com.google.common.hash.Funnels;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.Random;

public class GuavaLookup {
    static String[] texts(long seed, int count) {
        var random = new Random(seed);
        var texts = new String[count];
        for (int i = 0; i < count; i++) texts[i] = String.format("%016x", random.nextLong());
        return texts;
    }

    public static void main(String[] args) {
        int items = Integer.parseInt(args[0]);
        BloomFilter<CharSequence> filter =
                BloomFilter.create(Funnels.stringFunnel(StandardCharsets.UTF_8), items, 0.01);
        for (String text : texts(1, items)) filter.put(text);
        String[] asked = texts(2, 1 << 17);
        // Short rounds: another program that runs meanwhile spoils few of them.
        int size = 1 << 12;
        double[] times = new double[4000];
        long passed = 0;
        for (int round = 0; round < times.length; round++) {
            long start = System.nanoTime();
            for (int i = 0; i < size; i++) {
                String text = asked[(round * size + i) % asked.length];
                if (filter.mightContain(text)) passed++;
            }
            times[round] = (System.nanoTime() - start) / (double) size;
        }
        // The first half warms the compiler.
        double[] later = Arrays.copyOfRange(times, 2000, times.length);
        Arrays.sort(later);
        System.out.printf(
                "%-16s %9d keys %8.1f ns a key (lower quartile %.1f), %.3f%% pass%n", "Guava", items,
                later[later.length / 2], later[later.length / 4], 100.0 * passed / times.length / size);
    }
}
