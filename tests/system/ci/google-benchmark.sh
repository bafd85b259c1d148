#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# The recipe of docs/howto/ci.md for Google Benchmark, with the real library: the loop of the benchmark is a region, the
# gate counts it equal twice, and finds a longer loop.
. "$TOP/tests/lib.sh"
need g++
echo '#include <benchmark/benchmark.h>' | g++ -E -x c++ - >/dev/null 2>&1 || skip "libbenchmark-dev is not installed"

line=$(sed -n 's/^    \(regions sorting .*benchmark_filter[^	]*[^	 ]\)[	 ]*#.*/\1/p' "$TOP/docs/howto/ci.md")
check "the page has a line for the list" test -n "$line"
echo "$line" >bench.list
build() { g++ -O2 -g -I"$TOP/include" -o benchmarks "$1" -lbenchmark -lpthread; }
gate() { "$SOFTPMU" gate -f bench.list "$@" >out 2>err; status=$?; }
check "the benchmark of the page can be built" build "$TOP/docs/examples/sort_benchmark.cc"
gate --update
same "the region is a benchmark" "$status $(grep -c '"sorting/sort_small"' softpmu-gate.json)" "0 1"
has "it was entered once an iteration" '"entries": 100,' softpmu-gate.json
# The library prints the time and the host's load before it begins, by which the loop's cycles vary (six runs: 0.4 %).
gate --limit cycles=5%
same "another run is within the limits" "$status" 0 || cat out
hasnt "and executes as many instructions" '^  instructions' out
sed 's/= numbers();/= numbers(); v.resize(510);/' "$TOP/docs/examples/sort_benchmark.cc" >longer.cc
check "a longer loop can be built" build longer.cc
gate
same "the gate fails" "$status" 3
has "and names the function" '^  in sort_small \[benchmarks\]: .*instructions' out
exit $failed
