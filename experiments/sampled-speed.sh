#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Wall time of `stat --sample` beside callgrind and cachegrind on programs of 0.9 to 1.6 thousand million instructions
# each, interleaved: medians of the rounds, in seconds, and softpmu's time over theirs.  "load" is the host's load
# average when the program's rounds ended, these runs included: above 3, others were at work, and then wall times
# favour softpmu, because it has four threads to callgrind's one.  "CPU" are the seconds of all processes and threads,
# medians, too; they depend less on what else the host does.
#   sampled-speed.sh [PROGRAM...]      bzip2, xz, sqlite3 and python3 if none is named; or long, of 30 thousand million
#   ROUNDS=N (3).  CORE=NAME (golden-cove).  SCALE=N (4): so many times the inputs of bench/programs.sh.
set -eu
TOP=$(cd "$(dirname "$0")/.." && pwd)
SOFTPMU=${SOFTPMU:-$TOP/build/softpmu}
rounds=${ROUNDS:-3}
work=$(mktemp -d) scale=${SCALE:-4}
trap 'rm -rf "$work"' EXIT
. "$TOP/bench/programs.sh"
timed() {	# FILE PROGRAM PREFIX...: adds wall and CPU seconds to FILE
	file=$1; shift
	p=$1; shift
	run "$p" /usr/bin/time -a -o "$file" -f "%e %U %S" "$@"
}
median() { awk -v c="$2" '{ print c == 1 ? $1 : $2 + $3 }' "$1" | sort -g | awk '{ v[NR] = $1 }
	END { printf "%.2f", v[int((NR + 1) / 2)] }'; }

[ $# -gt 0 ] || set -- bzip2 xz sqlite3 python3
echo "core ${CORE:-golden-cove}, $rounds rounds, medians"
printf '%-21s | %-23s | %-23s | wall, softpmu | load\n' "" "wall seconds" "CPU seconds"
printf '%-8s %12s | %7s %7s %7s | %7s %7s %7s | %6s %6s |\n' program instructions softpmu callg. cacheg. softpmu \
	callg. cacheg. /callg /cachg
for p; do
	rm -f "$work"/*.s
	for _ in $(seq "$rounds"); do
		timed "$work/soft.s" "$p" "$SOFTPMU" stat --core "${CORE:-golden-cove}" -x, -e instructions,cycles \
			--sample -o "$work/stat"
		timed "$work/call.s" "$p" valgrind --tool=callgrind --cache-sim=yes --branch-sim=yes \
			--callgrind-out-file=/dev/null
		timed "$work/cach.s" "$p" valgrind --tool=cachegrind --cache-sim=yes --branch-sim=yes \
			--cachegrind-out-file=/dev/null
	done
	printf '%-8s %12s |' "$p" "$(awk -F, '/instructions/ { print $1 }' "$work/stat")"
	for c in 1 2; do
		printf ' %7s %7s %7s |' "$(median "$work/soft.s" $c)" "$(median "$work/call.s" $c)" \
			"$(median "$work/cach.s" $c)"
	done
	awk -v s="$(median "$work/soft.s" 1)" -v a="$(median "$work/call.s" 1)" -v b="$(median "$work/cach.s" 1)" \
		-v l="$(cut -d' ' -f1 /proc/loadavg)" 'BEGIN { printf " %6.2f %6.2f | %s\n", s / a, s / b, l }'
done
