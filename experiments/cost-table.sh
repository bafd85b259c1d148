#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# make cost-table: loops with one kind of costly event each, by the four methods of softpmu cost, on the Pentium 4
# that the tables of US 2005/0273310 A1 are about; then real programs on the modelled Golden Cove.
# docs/measured/cost.md has the output and what it shows.
#
# Environment: SOFTPMU, PROGRAMS (set by make).
set -u
SOFTPMU=${SOFTPMU:-build/softpmu} PROGRAMS=${PROGRAMS:-build/tests/programs}
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
failed=0
# L2 is 18 cycles behind L1D (models 3 and 4 with 1 MB), memory 306 behind L2; one of these is the way to the bus,
# which has no time of its own.
machine="--core prescott --set core.frequency_ghz=3.4 --set l2.size=1M --set l2.latency=22 --set l3.latency=23"
machine="$machine --set dram.latency_ns=89.706 --set fsb.clock=0"
cost() { # PROGRAM options...
	program=$1; shift
	echo
	echo "\$ softpmu cost $* -- $(basename "$program")"
	"$SOFTPMU" cost "$@" -o "$work/out" -- "$program" || failed=1
	sed -e "s|$PROGRAMS/||" "$work/out" | cat -s
}
# shellcheck disable=SC2086
{
echo "1. A loop with a branch whose direction is random, and no memory references."
cost "$PROGRAMS/cost-mispredict" $machine --start again -e mispredict --histogram
echo "2. A chain of pointers through 64 KB: each load misses L1D and hits L2."
cost "$PROGRAMS/cost-l1" $machine --start again -e l1_miss
echo "3. A chain of pointers through 8 MB: each load misses L2 and hits the data TLB (large pages); nothing is" \
	"prefetched."
cost "$PROGRAMS/cost-l2" $machine --set memory.page=2M --set prefetch.l2_streamer=0 --start again -e l2_miss
}
echo "4. Real programs, on golden-cove."
head -c 100000 "$SOFTPMU" >"$work/in" || exit 1
for p in "gzip -c" "bzip2 -c" "sort" "sha256sum"; do
	echo
	echo "\$ softpmu cost -- $p FILE        # the first 100,000 bytes of softpmu"
	# shellcheck disable=SC2086
	"$SOFTPMU" cost -o "$work/out" -- $p "$work/in" >/dev/null || failed=1
	sed -e "s|$work/in|FILE|" -e '/^ Does not apply/,/^$/d' "$work/out" | cat -s
done
exit $failed
