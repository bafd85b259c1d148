#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# The tracer reports every data address, in program order, for each class of instruction that touches memory.
# What is expected stands in the program itself, next to each instruction.
grep -q -w avx2 /proc/cpuinfo || { echo "this processor has no AVX2"; exit 77; }
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
address() { nm "$1" | awk -v n="$2" '$3 == n { print $1 }'; }
for program in trace_mem; do
	p="$PROGRAMS/$program"
	sed -n 's/.*#> *//p' "$TOP/tests/programs/$program.S" >"$work/want"
	"$PROGRAMS/trace_count" -o "$work/out" -a "$(address "$p" probe_begin):$(address "$p" probe_end):$(address "$p" data)" "$p" || {
		echo "$program: exit $?"; grep -E 'BAD|LOG' "$work/out"; exit 1; }
	sed -n '/^[LSMP] /p' "$work/out" >"$work/got"
	diff -u "$work/want" "$work/got" || { echo "$program: accesses differ (- expected, + reported)"; exit 1; }
	[ "$(wc -l <"$work/want")" -gt 10 ] || exit 1
done
