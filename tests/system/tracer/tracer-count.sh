#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# The tracer's instructions are exactly those that lackey and cachegrind count for the same program in the same
# environment. Both run with --vex-guest-chase=no: with chasing, VEX makes one block of "a && b" and executes b's
# instructions although a is false, and the tools count them. The tools count each iteration of a REP instruction, and
# the check that finds its count zero; `begun` is that number. `retired` counts a REP instruction once: begun - repeats.
. "$TOP/tests/lib.sh"
own_env() { env -i PATH=/usr/bin:/bin "$@"; }
value() { sed -n "s/^$1 //p" "$work/out"; }
count() { own_env "$PROGRAMS/trace_count" -o "$work/out" "$@" >/dev/null; }
compare() {	# ARCHITECTURE PROGRAM ARGUMENT...
	a=$1; shift
	count "$@" || { echo "$*: exit $?"; grep -E 'BAD|LOG' "$work/out"; exit 1; }
	for tool in lackey cachegrind; do
		[ $tool = cachegrind ] && more="--cache-sim=no --cachegrind-out-file=/dev/null" || more=
		# shellcheck disable=SC2086
		own_env VALGRIND_LAUNCHER="$TOP/build/libexec/softpmu-exec" VALGRIND_LIB=/usr/libexec/valgrind \
			"/usr/libexec/valgrind/$tool-$a-linux" --tool=$tool --command-line-only=yes \
			--vex-guest-chase=no $more \
			--log-file="$work/log" "$@" >/dev/null
		theirs=$(sed -n 's/.*\(guest instrs\|I *refs\): *\([0-9,]*\)$/\2/p' "$work/log" | tr -d ,)
		[ "$theirs" = "$(value begun)" ] ||
			{ echo "$*: $tool counts $theirs, the tracer $(value begun)"; failed=1; }
	done
}
compare amd64 "$PROGRAMS/work-static" 3
compare amd64 "$PROGRAMS/work" 3
! runs_32 || compare x86 "$PROGRAMS/work32" 3
compare amd64 /bin/ls /usr/include
compare amd64 "$PROGRAMS/trace_dl"

# These programs execute each instruction once.  REPs: two MOVS, three STOS, a SCAS that ends in its third iteration.
once() {	# PROGRAM REPEATS
	count "$PROGRAMS/$1"
	want=$(objdump -d "$PROGRAMS/$1" | grep -c '^ *[0-9a-f]*:	[0-9a-f ]*	')
	[ "$(value retired)" = "$want" ] && [ "$(value repeats)" = "$2" ] || {
		echo "$1: $(value retired) of $want instructions, $(value repeats) repeats of $2"; failed=1; }
}
! runs_32 || once trace_mem32 2
grep -q -w avx2 /proc/cpuinfo && once trace_mem 7

# A fault leaves a block in its middle: the instructions before the fault count, the faulting one does not.
count "$PROGRAMS/trace_cut"
[ "$(value retired)" = $((18 + 20 * 15 + 4)) ] && [ "$(value cuts)" = 20 ] || {
	echo "trace_cut: $(value retired) instructions, $(value cuts) cuts"; failed=1; }
exit $failed
