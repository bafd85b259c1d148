// SPDX-License-Identifier: GPL-2.0-or-later
// Maps, interfaces, closures and sorting in Go, for tests/accuracy/more.sh: bank N. One thread, no garbage collection.
package main

import (
	"fmt"
	"os"
	"runtime"
	"runtime/debug"
	"sort"
	"strconv"
	"strings"
)

type event interface{ apply(b *bank) int }
type deposit struct{ to, sum int }
type transfer struct{ from, to, sum int }
type audit struct{ every int }
type bank struct {
	accounts map[string]int
	names    []string // of the accounts, because the order of a map differs from run to run
	log      []string
}

func (b *bank) add(name string, sum int) {
	if _, there := b.accounts[name]; !there {
		b.names = append(b.names, name)
	}
	b.accounts[name] += sum
}

func name(i int) string { return "account" + strconv.Itoa(i%1999) }

func (d deposit) apply(b *bank) int {
	b.add(name(d.to), d.sum)
	return d.sum
}

func (t transfer) apply(b *bank) int {
	if b.accounts[name(t.from)] < t.sum {
		b.log = append(b.log, fmt.Sprintf("refused: %d from %s", t.sum, name(t.from)))
		return 0
	}
	b.add(name(t.from), -t.sum)
	b.add(name(t.to), t.sum)
	return t.sum
}

func (a audit) apply(b *bank) int {
	total := 0
	for _, name := range b.names {
		total += b.accounts[name]
	}
	return total % a.every
}

func main() {
	runtime.GOMAXPROCS(1)
	debug.SetGCPercent(-1)
	n, _ := strconv.Atoi(os.Args[1])
	seed := uint32(42)
	random := func(r int) int { seed = seed*1103515245 + 12345; return int(seed>>8) % r }
	b, done := &bank{accounts: map[string]int{}}, 0
	for i := 0; i < 3*n; i++ {
		var e event
		switch r := random(100); {
		case r < 50:
			e = deposit{random(5000), random(900)}
		case r < 99 || random(20) > 0:
			e = transfer{random(5000), random(5000), random(2000)}
		default:
			e = audit{1 + random(97)}
		}
		done += e.apply(b)
	}
	names := b.names
	sort.Slice(names, func(i, j int) bool {
		x, y := b.accounts[names[i]], b.accounts[names[j]]
		return x > y || x == y && names[i] < names[j]
	})
	words := strings.Fields(strings.Join(b.log, " "))
	sort.Strings(words)
	fmt.Println(done, names[:3], len(words), words[len(words)/3])
}
