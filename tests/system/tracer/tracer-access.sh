#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# The tracer reports every data address, in program order, for each class of instruction that accesses memory, and every
# register write.  The programs contain the expected lines as comments (#>) next to each instruction.
. "$TOP/tests/lib.sh"
address() { nm "$PROGRAMS/$1" | awk -v n="$2" '$3 == n { print $1 }'; }
trace() {	# PROGRAM OPTION...: writes the accesses between the program's labels to $work/out
	p=$1; shift
	range="$(address "$p" probe_begin):$(address "$p" probe_end):$(address "$p" data)"
	"$PROGRAMS/trace_count" "$@" -o "$work/out" -a "$range" "$PROGRAMS/$p" || {
		echo "$p: exit $?"; grep -E 'BAD|LOG' "$work/out"; exit 1; }
}
compare() {	# PROGRAM PATTERN: compares the lines that match the pattern
	sed -n 's/.*#> *//p' "$TOP/tests/programs/$1.S" | grep "$2" >"$work/want"
	grep '^[LSMPR] ' "$work/out" | grep "$2" >"$work/got"
	diff -u "$work/want" "$work/got" || { echo "$1: they differ (- expected, + reported)"; exit 1; }
	[ "$(wc -l <"$work/want")" -gt 10 ] || { echo "$1: too little expected"; exit 1; }
}
if runs_32; then
	trace trace_mem32
	compare trace_mem32 '^[LSMP] '
fi
# Without register 4, the stack pointer: the system chooses its value.
trace trace_regs -r
compare trace_regs '^R [^4]'
[ "$(grep -c '^R 4 0 8 ' "$work/out")" = 2 ] || { echo "PUSH and POP write RSP once each"; exit 1; }
grep -q -w avx2 /proc/cpuinfo || skip "this processor has no AVX2 for trace_mem"
trace trace_mem
compare trace_mem '^[LSMP] '
