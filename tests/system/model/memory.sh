#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Memory as programs see it: the levels of a pointer chase, and huge pages where the mapping asks for them.
. "$TOP/tests/lib.sh"
events=cycles,dtlb_load_misses.miss_causes_a_walk
# run CORE CHASE...: what so many steps more add, "cycles walks"
run() {
	core=$1 kb=$2 stride=$3 order=$4 steps=$5 how=${6:-small}
	for n in 0 "$steps"; do
		"$SOFTPMU" stat --no-wrong-path --core "$core" -x, -e $events "$PROGRAMS/chase" "$kb" "$stride" \
			"$order" "$n" "$how" 2>&1 >/dev/null
	done | awk -F, -v n="$steps" '{ v[NR] = $1 } END { printf "%.2f %d\n", (v[3] - v[1]) / n, v[4] - v[2] }'
}
level() { within "$1" "$(run skylake "$2" "$3" "$4" "$5" | cut -d' ' -f1)" "$6" "$7"; }
level "16 KB: L1D" 16 64 random 4096 4 10
level "128 KB: L2" 128 64 random 16384 12 25
level "2 MB: L3" 2048 512 random 16384 50 20
level "128 MB: memory" 131072 8192 random 16384 260 25

# 32 MB of small pages are more than the STLB's reach; of huge ones 16
set -- $(run skylake 32768 512 random 16384 small)
within "small pages: walks" "$2" 13700 5
for how in huge protected moved; do
	set -- $(run skylake 32768 512 random 16384 $how)
	[ "$2" -lt 5 ] && ok "$how: $2 walks" || bad "$how: $2 walks"
done
for how in late freed; do
	set -- $(run skylake 32768 512 random 16384 $how)
	within "$how: walks" "$2" 13700 5
done
exit $failed
