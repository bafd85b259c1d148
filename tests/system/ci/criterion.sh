#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# The recipe of docs/howto/ci.md for Criterion, with the real crate as Debian packages it: a copy of
# docs/examples/criterion is built without the network, and the gate counts its two regions.
. "$TOP/tests/lib.sh"
registry=/usr/share/cargo/registry
[ -x /usr/bin/cargo ] && [ -d $registry ] && ls -d $registry/criterion-0.3* >/dev/null 2>&1 ||
	skip "cargo and librust-criterion-dev are not installed (390 MB)"
need jq

cp -r "$TOP/docs/examples/criterion" crate && cd crate && mkdir .cargo || exit 1
printf '[source.crates-io]\nreplace-with = "debian"\n[source.debian]\ndirectory = "%s"\n' $registry >.cargo/config.toml
# Without optimisation, because that takes a fraction of the time.
export RUSTC=/usr/bin/rustc CARGO_HOME="$work/cargo" CARGO_PROFILE_BENCH_OPT_LEVEL=0
/usr/bin/cargo bench --offline --no-run --message-format=json >../messages 2>../log ||
	bad "the benchmark can be built" ../log || exit 1
cp "$(jq -r 'select(.executable and .target.name == "sort").executable' ../messages)" sort_bench
sed -n 's/^    \(regions sorting .*--test\)$/\1/p; s/^    \(env PATH=.*\)$/\1/p' "$TOP/docs/howto/ci.md" >bench.list
same "the page has the lines of the list" "$(wc -l <bench.list)" 2
gate() { "$SOFTPMU" gate -f bench.list "$@" >out 2>err; status=$?; }
gate --update
same "both regions are benchmarks" "$status $(cat out)" "0 softpmu-gate.json: 2 benchmarks" || cat err
hasnt "Criterion found no gnuplot to start" gnuplot softpmu-gate.json
gate
same "another run is within the limits" "$status" 0 || cat out
same "the sorting executes as many instructions" "$(grep -c '^  instructions' out)" 0 || cat out
exit $failed
