#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# softpmu in unusual surroundings: no environment, no standard descriptors, no working directory, small limits, children
# of another user.
. "$TOP/tests/lib.sh"
stat="$SOFTPMU stat --no-wrong-path -x, -e instructions"
# is NAME EXPECTED-STATUS STATUS: the status is the expected one, there is a count, and standard error is empty
is() {
	n=$(cut -d, -f1 counts)
	if [ "$2" = "$3" ] && [ "${n:-0}" -gt 100 ] &&
		! [ -s err ]; then ok "$1"; else bad "$1: exit $3, counts '$(cat counts)', said '$(cat err)'"; fi
	rm -f counts err
}
# shellcheck disable=SC2086
env -i $stat -o counts "$PROGRAMS/reps" 2>err; is "softpmu runs without an environment" 0 $?
$stat -o counts "$PROGRAMS/reps" <&- >&- 2>err; is "softpmu runs without standard input and output" 0 $?
mkdir gone && cd gone && rmdir ../gone && $stat -o "$work/counts" "$PROGRAMS/reps" 2>"$work/err"; code=$?
cd "$work" || exit 1
is "softpmu runs in a directory that was removed" 0 $code
# shellcheck disable=SC3045
(ulimit -s 256; exec $stat -o counts "$PROGRAMS/reps") 2>err; is "softpmu runs with a small stack" 0 $?
# shellcheck disable=SC3045
(ulimit -n 24; exec $stat -o counts "$PROGRAMS/reps") 2>err; is "softpmu runs with few descriptors" 0 $?
for what in "" -i; do
	# shellcheck disable=SC2086
	$stat $what -o counts "$PROGRAMS/trace_self" nobody >out 2>err; code=$?
	case $code:$what in
	9:*) echo "this user cannot become another user: not tested"; continue ;;
	0:) if grep -q 'cannot reach the tracer.*untraced' err; then : >err; else echo no warning >err; fi ;;
	esac
	is "a program whose children change their user runs to its end${what:+, $what}" 0 $code
done
# The kernel gives each program 16 random bytes; they decide which lines a string function reads.
for _ in 1 2; do $stat -o counts "$PROGRAMS/trace_self" random exec; done >out 2>err
is "softpmu runs a program that reads its random bytes" 0 $?
same "a program's 16 random bytes are the same in each run and behind an exec" \
	"$(sort out | uniq -c | awk '{ print $1, length($2) }')" "4 32"
exit $failed
