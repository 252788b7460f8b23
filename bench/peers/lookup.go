// Lookups of unknown texts of 16 bytes in a filter of bits-and-blooms, in nanoseconds a key.
// go run lookup.go ITEMS
package main

import (
	"fmt"
	"math/rand"
	"os"
	"sort"
	"strconv"
	"time"

	"github.com/bits-and-blooms/bloom"
)

func texts(seed int64, count int) [][]byte {
	random := rand.New(rand.NewSource(seed))
	texts := make([][]byte, count)
	for i := range texts {
		texts[i] = []byte(fmt.Sprintf("%016x", random.Uint64()))
	}
	return texts
}

func main() {
	items, err := strconv.Atoi(os.Args[1])
	if err != nil {
		panic(err)
	}
	filter := bloom.NewWithEstimates(uint(items), 0.01)
	for _, text := range texts(1, items) {
		filter.Add(text)
	}
	asked := texts(2, 1<<17)
	// Short rounds: another program that runs meanwhile spoils few of them.
	size := 1 << 12
	times := make([]float64, 2000)
	passed := 0
	for round := range times {
		start := time.Now()
		for i := 0; i < size; i++ {
			text := asked[(round*size+i)%len(asked)]
			if filter.Test(text) {
				passed++
			}
		}
		times[round] = float64(time.Since(start).Nanoseconds()) / float64(size)
	}
	sort.Float64s(times)
	share := 100 * float64(passed) / float64(len(times)*size)
	fmt.Printf("%-16s %9d keys %8.1f ns a key (lower quartile %.1f), %.3f%% pass\n", "bits-and-blooms", items, times[len(times)/2], times[len(times)/4], share)
}
