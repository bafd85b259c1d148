#!/bin/sh
# Instructions retired are exact: against cachegrind for programs without REP, against the known number with REP.
set -u
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
failed=0
insns() { "$SOFTPMU" stat -x, -e instructions -o "$work/counts" -- "$@" >/dev/null 2>&1; awk -F, '{ print $1 }' "$work/counts"; }
cachegrind() {
	valgrind --tool=cachegrind --cache-sim=no --cachegrind-out-file=/dev/null -- "$@" 2>&1 >/dev/null |
		awk '/I *refs:/ { gsub(",", "", $NF); print $NF }'
}
equal() { [ "$2" = "$3" ] && echo "ok $1: $2" || { echo "FAILED $1: $2, expected $3"; failed=1; }; }

equal "REP MOVSB retires as one" "$(insns "$PROGRAMS/reps")" 607
# A static program of our own without REP instructions on its path.
for p in "work-static 20000" "work 20000" "work32 20000" "throws 20"; do
	# shellcheck disable=SC2086
	set -- $p
	ours=$(insns "$PROGRAMS/$1" "$2") theirs=$(cachegrind "$PROGRAMS/$1" "$2")
	# REP: cachegrind counts each iteration; the stream says how many there were beyond one an instruction.
	rep=$("$PROGRAMS/trace_count" --extra-rep "$PROGRAMS/$1" "$2" 2>&1 >/dev/null | awk '/extra REP iterations/ { print $NF }')
	equal "$p against cachegrind less $rep extra REP iterations" "$ours" "$((theirs - rep))"
done
exit $failed
