#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Instructions: exactly what lackey and cachegrind count for the same program in the same environment.
# Both are asked not to chase jumps: chasing, VEX makes one block of "a && b" and executes b's instructions although a was
# false; they count them.  Those two count each iteration of a REP instruction, and the look that finds the count zero;
# `begun` is that number, `retired` counts a REP instruction once: begun - repeats.
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
failed=0
own_env() { env -i PATH=/usr/bin:/bin "$@"; }
value() { sed -n "s/^$1 //p" "$work/out"; }
count() { own_env "$PROGRAMS/trace_count" -o "$work/out" "$@" >/dev/null; }
compare() {	# architecture program argument...
	a=$1; shift
	count "$@" || { echo "$*: exit $?"; grep -E 'BAD|LOG' "$work/out"; exit 1; }
	for tool in lackey cachegrind; do
		[ $tool = cachegrind ] && more="--cache-sim=no --cachegrind-out-file=/dev/null" || more=
		own_env VALGRIND_LAUNCHER="$TOP/build/libexec/softpmu-exec" VALGRIND_LIB=/usr/libexec/valgrind \
			"/usr/libexec/valgrind/$tool-$a-linux" --tool=$tool --command-line-only=yes --vex-guest-chase=no $more \
			--log-file="$work/log" "$@" >/dev/null
		theirs=$(sed -n 's/.*\(guest instrs\|I *refs\): *\([0-9,]*\)$/\2/p' "$work/log" | tr -d ,)
		[ "$theirs" = "$(value begun)" ] || { echo "$*: $tool counts $theirs, the tracer $(value begun)"; failed=1; }
	done
}
compare amd64 "$PROGRAMS/work-static" 3
compare amd64 "$PROGRAMS/work" 3
compare x86 "$PROGRAMS/work32" 3
compare amd64 /bin/ls /usr/include
compare amd64 "$PROGRAMS/trace_dl"

# Each instruction of trace_mem.S and trace_mem32.S is executed once.  REPs: two MOVS, three STOS, SCAS that ends in its third.
count "$PROGRAMS/trace_mem32"
want=$(objdump -d "$PROGRAMS/trace_mem32" | grep -c '^ *[0-9a-f]*:	[0-9a-f ]*	')
[ "$(value retired)" = "$want" ] && [ "$(value repeats)" = 2 ] || { echo "trace_mem32: $(value retired) of $want, $(value repeats) repeats"; failed=1; }
if grep -q -w avx2 /proc/cpuinfo; then
	count "$PROGRAMS/trace_mem"
	want=$(objdump -d "$PROGRAMS/trace_mem" | grep -c '^ *[0-9a-f]*:	[0-9a-f ]*	')
	[ "$(value retired)" = "$want" ] && [ "$(value repeats)" = 7 ] || { echo "trace_mem: $(value retired) of $want, $(value repeats) repeats"; failed=1; }
fi

# A block that a fault leaves in its middle: the instructions before the fault, not the faulting one.
count "$PROGRAMS/trace_cut"
[ "$(value retired)" = $((18 + 20 * 15 + 4)) ] && [ "$(value cuts)" = 20 ] || {
	echo "trace_cut: $(value retired) instructions, $(value cuts) cuts"; failed=1; }
exit $failed
