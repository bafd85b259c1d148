#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Retired instructions are exact: they equal cachegrind's count in the same environment, except for REP instructions.
# cachegrind counts each iteration of a REP instruction, and the check that finds its count zero; the tracer's own
# reader (trace_count) prints this difference as `repeats`.
# --vex-guest-chase=no: with chasing, VEX executes both halves of "a && b" although a is false, and cachegrind counts
# both.
. "$TOP/tests/lib.sh"
own_env() { env -i PATH=/usr/bin:/bin "$@"; }
insns() { own_env "$SOFTPMU" stat -x, -e instructions -o "$work/counts" -- "$@" >/dev/null 2>&1; awk -F, \
	'{ print $1 }' "$work/counts"; }
cachegrind() {	# architecture program argument...
	a=$1; shift
	own_env VALGRIND_LAUNCHER="$TOP/build/libexec/softpmu-exec" VALGRIND_LIB=/usr/libexec/valgrind \
		"/usr/libexec/valgrind/cachegrind-$a-linux" --tool=cachegrind --command-line-only=yes \
		--vex-guest-chase=no \
		--cache-sim=no --cachegrind-out-file=/dev/null --log-file="$work/log" "$@" >/dev/null
	sed -n 's/.*I *refs: *\([0-9,]*\)$/\1/p' "$work/log" | tr -d ,
}
repeats() { own_env "$PROGRAMS/trace_count" -o "$work/out" "$@" >/dev/null; sed -n 's/^repeats //p' "$work/out"; }

same "REP MOVSB retires as one instruction" "$(insns "$PROGRAMS/reps")" 607
same "REP MOVSB of 100 times 1000 bytes on every core, in rounds of up to 64 bytes: its stores and loads" "$(
	for core in $("$SOFTPMU" cores | awk '$1 ~ /^[a-z]/ { print $1 }'); do
		lines=$("$SOFTPMU" stat -x, --core "$core" -e L1-dcache-stores -o "$work/counts" -- "$PROGRAMS/reps" \
			>/dev/null 2>&1 && awk -F, '{ print $1 }' "$work/counts") || lines=failed
		[ "$lines" != "<not supported>" ] || continue
		[ "${lines:-0}" -ge 1600 ] || echo "$core: $lines"
	done)" ""
same "cachegrind counts each iteration of REP MOVSB" \
	"$(cachegrind amd64 "$PROGRAMS/reps")" "$((607 + $(repeats "$PROGRAMS/reps")))"
same "without REP, the count equals cachegrind's" "$(insns "$PROGRAMS/norep")" "$(cachegrind amd64 "$PROGRAMS/norep")"
same "without REP, the reader finds no repeats" "$(repeats "$PROGRAMS/norep")" 0
same "a jump to itself retires once per iteration" "$(insns "$PROGRAMS/jumps")" 2007
for p in "amd64 work-static 20000" "amd64 work 20000" "x86 work32 20000" "amd64 throws 20"; do
	case $p in x86*) runs_32 || continue ;; esac
	# shellcheck disable=SC2086
	set -- $p
	program=$PROGRAMS/$2 rep=$(repeats "$PROGRAMS/$2" "$3")
	same "$2 $3: the count is cachegrind's less $rep REP iterations" "$(insns "$program" "$3")" \
		"$(($(cachegrind "$1" "$program" "$3") - rep))"
done
exit $failed
