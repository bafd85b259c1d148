#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# The samples of stores say where the stores' lines were, and agree with the counts.
. "$TOP/tests/lib.sh"
command -v perf >/dev/null || { echo "perf is not installed"; exit 77; }
# sources CORE PERIOD PROGRAM...: perf's words for the last 480 samples of stores
sources() {
	core=$1 period=$2
	shift 2
	"$SOFTPMU" mem record -q --core "$core" -t store -c "$period" -o stores.data "$@" >/dev/null 2>err || cat err
	perf script -i stores.data -F data_src 2>/dev/null | tail -n 480 >list
}
share() { awk -v p="$1" '$0 ~ p { n++ } END { printf "%.1f\n", 100 * n / NR }' list; }

# 50,000 stores, each to a random line of 16 MB: the samples of their last 48,480
set -- $(for n in 00000 50000; do
	"$SOFTPMU" stat --no-wrong-path -x, -e L2_RQSTS.ALL_RFO,L2_RQSTS.RFO_HIT "$PROGRAMS/flush" stores $n 2>&1 |
		cut -d, -f1
done)
l2=$(awk "BEGIN { print 100 * ($4 - $2) / 50000 }") missed=$(awk "BEGIN { print 100 * ($3 - $1) / 50000 }")
sources golden-cove 101 "$PROGRAMS/flush" stores 50000
near "golden-cove: as many samples hit L1D as stores do" "$(share 'LVL L1')" \
	"$(awk "BEGIN { print 98 - $missed }")" "$(awk "BEGIN { print 102 - $missed }")"
near "golden-cove: as many hit L2 as the counts say" "$(share 'LVL L2')" \
	"$(awk "BEGIN { print $l2 - 3 }")" "$(awk "BEGIN { print $l2 + 3 }")"
for core in skylake ivy-bridge; do
	sources $core 101 "$PROGRAMS/flush" stores 50000
	near "$core: stores to random lines miss L1D" "$(share 'L1 miss')" 97 100
done
sources golden-cove 7 "$PROGRAMS/flush" handed 02000
near "golden-cove: two threads store to a line in turn, which the other one has modified" "$(share HitM)" 30 60
for core in golden-cove skylake; do
	sources $core 101 "$PROGRAMS/work" 10
	near "$core: stores of a program that fits in L1D hit it" "$(share 'L1 hit')" 90 100
done
exit $failed
