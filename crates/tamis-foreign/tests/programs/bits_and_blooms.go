// Asks a filter through bits-and-blooms itself: prints the keys of a file that pass.
// go run bits_and_blooms.go FILTER KEYS
package main

import (
	"bufio"
	"fmt"
	"os"

	"github.com/bits-and-blooms/bloom"
)

func must(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func main() {
	file, err := os.Open(os.Args[1])
	must(err)
	filter := bloom.BloomFilter{}
	_, err = filter.ReadFrom(bufio.NewReader(file))
	must(err)
	keys, err := os.Open(os.Args[2])
	must(err)
	out := bufio.NewWriter(os.Stdout)
	for lines := bufio.NewScanner(keys); lines.Scan(); {
		if filter.Test(lines.Bytes()) {
			fmt.Fprintf(out, "%s\n", lines.Bytes())
		}
	}
	must(out.Flush())
}
