#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Memory latency as a program sees it: a pointer chase has the latency of the level that holds its data, and mappings
# that ask for huge pages get them.
. "$TOP/tests/lib.sh"
events=cycles,dtlb_load_misses.miss_causes_a_walk
# run CORE KB STRIDE ORDER STEPS [HOW]: prints the cycles per step and the number of page walks of STEPS steps: the
# difference of a run with these steps and a run with none.
run() {
	core=$1 kb=$2 stride=$3 order=$4 steps=$5 how=${6:-small}
	for n in 0 "$steps"; do
		"$SOFTPMU" stat --no-wrong-path --core "$core" -x, -e $events "$PROGRAMS/chase" "$kb" "$stride" \
			"$order" "$n" "$how" 2>&1 >/dev/null
	done | awk -F, -v n="$steps" '{ v[NR] = $1 } END { printf "%.2f %d\n", (v[3] - v[1]) / n, v[4] - v[2] }'
}
level() { within "$1" "$(run skylake "$2" "$3" "$4" "$5" | cut -d' ' -f1)" "$6" "$7"; }
level "a step through 16 KB takes the latency of L1D" 16 64 random 4096 4 10
level "a step through 128 KB takes the latency of L2" 128 64 random 16384 12 25
level "a step through 2 MB takes the latency of L3" 2048 512 random 16384 50 20
level "a step through 128 MB takes the latency of memory" 131072 8192 random 16384 260 25

# 32 MB are more 4 KB pages than the STLB has entries, but only 16 huge pages.
set -- $(run skylake 32768 512 random 16384 small)
within "4 KB pages: most steps need a page walk" "$2" 13700 5
for how in huge protected moved; do
	set -- $(run skylake 32768 512 random 16384 $how)
	[ "$2" -lt 5 ] && ok "huge pages, $how: $2 page walks" || bad "huge pages, $how: $2 page walks"
done
for how in late freed; do
	set -- $(run skylake 32768 512 random 16384 $how)
	within "$how: as many page walks as with 4 KB pages" "$2" 13700 5
done
exit $failed
