#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Instructions: exactly what lackey and cachegrind count for the same program in the same environment. Both are
# asked not to chase jumps: chasing, VEX makes one block of "a && b" and executes b's instructions although a
# was false; they count them. Those two count each iteration of a REP instruction, and the look that finds the
# count zero; `begun` is that number, `retired` counts a REP instruction once: begun - repeats.
. "$TOP/tests/lib.sh"
own_env() { env -i PATH=/usr/bin:/bin "$@"; }
value() { sed -n "s/^$1 //p" "$work/out"; }
count() { own_env "$PROGRAMS/trace_count" -o "$work/out" "$@" >/dev/null; }
compare() {	# architecture program argument...
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
compare x86 "$PROGRAMS/work32" 3
compare amd64 /bin/ls /usr/include
compare amd64 "$PROGRAMS/trace_dl"

# Each instruction of these is executed once.  REPs: two MOVS, three STOS, a SCAS that ends in its third.
once() {	# program, repeats
	count "$PROGRAMS/$1"
	want=$(objdump -d "$PROGRAMS/$1" | grep -c '^ *[0-9a-f]*:	[0-9a-f ]*	')
	[ "$(value retired)" = "$want" ] && [ "$(value repeats)" = "$2" ] || {
		echo "$1: $(value retired) of $want instructions, $(value repeats) repeats of $2"; failed=1; }
}
once trace_mem32 2
grep -q -w avx2 /proc/cpuinfo && once trace_mem 7

# A block that a fault leaves in its middle: the instructions before the fault, not the faulting one.
count "$PROGRAMS/trace_cut"
[ "$(value retired)" = $((18 + 20 * 15 + 4)) ] && [ "$(value cuts)" = 20 ] || {
	echo "trace_cut: $(value retired) instructions, $(value cuts) cuts"; failed=1; }
exit $failed
