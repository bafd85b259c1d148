#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# make bench: speed of `softpmu stat` on real programs, compared in the same run with callgrind and cachegrind.
#
#   MIPS       millions of modelled instructions per second of wall time, program start included
#   right      MIPS with --no-wrong-path
#   /callgrind, /cachegrind   wall time of softpmu over theirs (callgrind --cache-sim=yes --branch-sim=yes,
#              cachegrind --branch-sim=yes): below 1 softpmu is faster
#   tracer     the tracer alone, with a reader that only counts: MIPS without and with register writes
#
# Strengths: real programs, same inputs, interleaved, medians.  Weaknesses: only some hundred million instructions each;
# noise of the machine shows in the MIPS, less in the ratios.  Environment: ROUNDS=N (3), PROGRAMS="bzip2 xz ...",
# CORE=NAME (golden-cove).
set -eu
cd "$(dirname "$0")/.."
rounds=${ROUNDS:-3}
programs=${PROGRAMS:-"bzip2 xz sqlite3 python3"}
core=${CORE:-golden-cove}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT INT TERM
. bench/programs.sh

now() { date +%s.%N; }
seconds() { awk -v a="$1" -v b="$2" 'BEGIN { printf "%.3f", b - a }'; }
median() { sort -g "$1" | awk '{ v[NR] = $1 } END { print v[int((NR + 1) / 2)] }'; }

timed() {	# FILE PROGRAM PREFIX...
	file=$1; shift
	t0=$(now); run "$@"; t1=$(now)
	seconds "$t0" "$t1" >>"$file"; echo >>"$file"
}
for round in $(seq "$rounds"); do
	for p in $programs; do
		timed "$work/$p.soft" "$p" build/softpmu stat --detail --core "$core" -x, -e instructions,cycles \
			-o "$work/$p.stat"
		timed "$work/$p.right" "$p" build/softpmu stat --detail --core "$core" --no-wrong-path -x, \
			-e instructions,cycles -o /dev/null
		timed "$work/$p.call" "$p" valgrind --tool=callgrind --cache-sim=yes --branch-sim=yes \
			--callgrind-out-file=/dev/null
		timed "$work/$p.cach" "$p" valgrind --tool=cachegrind --branch-sim=yes --cachegrind-out-file=/dev/null
		timed "$work/$p.nati" "$p"
	done
done
printf 'core %s, %s rounds, medians\n' "$core" "$rounds"
printf '%-10s %14s %8s %8s %8s %8s %12s %13s\n' program instructions seconds MIPS right IPC '/callgrind' '/cachegrind'
for p in $programs; do
	insns=$(awk -F, '/instructions/ { print $1 }' "$work/$p.stat")
	cycles=$(awk -F, '/cycles/ { print $1 }' "$work/$p.stat")
	awk -v p="$p" -v i="$insns" -v c="$cycles" -v s="$(median "$work/$p.soft")" -v cg="$(median "$work/$p.call")" \
		-v ca="$(median "$work/$p.cach")" -v r="$(median "$work/$p.right")" \
		'BEGIN { printf "%-10s %14d %8.2f %8.1f %8.1f %8.2f %12.2f %13.2f\n", p, i, s, i / s / 1e6,
			i / r / 1e6, i / c, s / cg, s / ca }'
done
for regs in without with; do
	: >"$work/tracer"
	# shellcheck disable=SC2034
	for round in $(seq "$rounds"); do
		build/tests/programs/trace_count -s $([ $regs = with ] && echo -r) -o "$work/figures" bzip2 \
			-c "$work/text" >/dev/null
		awk '/^mips/ { print $2 }' "$work/figures" >>"$work/tracer"
	done
	printf 'tracer alone on bzip2, %s registers: %s MIPS\n' "$regs" "$(median "$work/tracer")"
done
/usr/bin/time -f '%M' -o "$work/mem" build/softpmu stat --detail --core "$core" -e instructions -o /dev/null bzip2 \
	-c "$work/text" >/dev/null
printf 'peak memory of softpmu on bzip2: %s KB\n' "$(tail -n 1 "$work/mem")"
