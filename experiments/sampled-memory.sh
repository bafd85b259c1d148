#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Peak memory, in MB, of `stat --sample` and `stat --detail`, of all their processes together, beside callgrind's; and
# the wall seconds of a run of a million instructions.  What processes share is counted once (the sum of Pss in
# /proc/PID/smaps_rollup, looked at every 20 ms while the run lasts; the largest of five runs if they are short).
#   sampled-memory.sh [PROGRAM...]     bzip2, xz, sqlite3, python3 of bench/programs.sh and `million` if none is named
#   SCALE=N (1): so many times the inputs
set -eu
TOP=$(cd "$(dirname "$0")/.." && pwd)
SOFTPMU=${SOFTPMU:-$TOP/build/softpmu}
work=$(mktemp -d) scale=${SCALE:-1}
trap 'rm -rf "$work"' EXIT
. "$TOP/bench/programs.sh"
million() { "$@" awk 'BEGIN { for (i = 0; i < 1480; i++) s += i % 7; print s }' >/dev/null 2>"$work/err"; }

watch() {	# leaves the peak of the processes below the shell $1, in KB, in $work/peak if it is larger
	leader=
	while kill -0 "$1" 2>/dev/null; do
		# the program and all below it: setsid gave them a session of their own
		[ -n "$leader" ] || leader=$(ps -o pid= --ppid "$1" | tr -d ' ')
		[ -n "$leader" ] || continue
		# shellcheck disable=SC2046	# a word for each process; some end meanwhile
		now=$(grep -hs '^Pss:' $(ps -o pid= -s "$leader" | sed 's,^ *,/proc/,; s,$,/smaps_rollup,') |
			awk '{ s += $2 } END { print s + 0 }')
		[ "$now" -le "$(cat "$work/peak")" ] || echo "$now" >"$work/peak"
		sleep 0.02
	done
}
column() {	# PROGRAM PREFIX...
	p=$1 times=1; shift
	[ "$p" != million ] || times=5
	echo 0 >"$work/peak"
	for _ in $(seq $times); do
		if [ "$p" = million ]; then million setsid "$@" & else run "$p" setsid "$@" & fi
		watch $!
		wait $! || :
	done
	awk '{ printf " %9.0f", $1 / 1024 }' "$work/peak"
}

[ $# -gt 0 ] || set -- bzip2 xz sqlite3 python3 million
printf '%-8s %12s %9s %9s %9s %9s\n' "peak, MB" instructions --jobs=1 --jobs=2 --detail callgrind
for p; do
	one=$(column "$p" "$SOFTPMU" stat -x, -e instructions,cycles --sample --jobs 1 -o "$work/stat")
	two=$(column "$p" "$SOFTPMU" stat -x, -e instructions,cycles --sample --jobs 2 -o "$work/stat")
	detail=$(column "$p" "$SOFTPMU" stat -x, -e instructions,cycles --detail -o "$work/stat")
	callgrind=$(column "$p" valgrind --tool=callgrind --cache-sim=yes --branch-sim=yes \
		--callgrind-out-file=/dev/null)
	printf '%-8s %12s%s%s%s%s\n' "$p" "$(awk -F, '/instructions/ { print $1 }' "$work/stat")" "$one" "$two" \
		"$detail" "$callgrind"
done
for how in --sample --detail; do
	rm -f "$work/seconds"
	for _ in 1 2 3 4 5 6 7 8 9; do
		million /usr/bin/time -a -o "$work/seconds" -f %e "$SOFTPMU" stat -e instructions,cycles \
			-o "$work/stat" $how
	done
	printf 'a million instructions, %s: %s s, median of 9\n' "$how" "$(sort -g "$work/seconds" | sed -n 5p)"
done
