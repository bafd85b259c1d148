#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# A closed standard descriptor stays closed for the program, and none of softpmu's own files takes its number.
. "$TOP/tests/lib.sh"
# The program's descriptors, without the tracer's own, which are at 10000 and above.
seen() {	# FILE, the output of ls -l
	awk '$10 == "->" && $9 < 10000 { sub("/proc/[0-9]*/", "/proc/PID/", $11); print $9, $11 }' "$1" | sort
}
for closed in '</dev/null' '<&-' '2>&-' '<&- 2>&-' '<&- >&- 2>&-'; do
	eval "sh -c 'ls -l /proc/self/fd >list' $closed"; seen list >native
	[ -s native ] || bad "ls shows no descriptors"
	for follow in "" --follow; do
		rm -f list
		eval "\"\$SOFTPMU\" stat $follow -o counts -- sh -c 'ls -l /proc/self/fd >list' $closed"
		seen list >under
		if cmp -s native under && grep -q instructions counts
		then ok "a child has the same descriptors as natively: $follow $closed"
		else bad "descriptors of a child $follow $closed:"; diff native under; fi
	done
done
for closed in '<&-' '2>&-' '<&- 2>&-'; do
	eval "ls -l /proc/self/fd $closed" >list; seen list >native
	eval "\"\$SOFTPMU\" stat -o counts -- ls -l /proc/self/fd $closed" >list; seen list >under
	if cmp -s native under; then ok "the program has the same descriptors as natively: $closed"
	else bad "descriptors of the program itself $closed:"; diff native under; fi
done

# Output of softpmu and the program to a closed descriptor is lost; it does not end up in the files of softpmu.
"$SOFTPMU" record -v -c 1000 -o perf.data --save-stream stream -- sh -c 'echo $((6 * 7))0042; echo $((6 * 7))0042 >&2' \
	<&- >&- 2>&-
if "$SOFTPMU" report -i perf.data >profile 2>err && [ ! -s err ] && grep -q 'sh' profile &&
	! grep -aq '420042\|Wrote' perf.data stream
then ok "with all descriptors closed, perf.data and the stream are intact"
else bad "perf.data or stream with all closed" err; fi

"$SOFTPMU" stat -I 0.02 -e instructions --save-stream stream -- true 2>&-
if "$SOFTPMU" stat -e instructions -o counts --replay stream 2>err && [ ! -s err ] &&
	! grep -aq 'instructions:u' stream; then ok "with standard error closed, the stream is intact"
else bad "stream while counts go nowhere" err; fi

# The exit status tells that the output could not be printed.
"$SOFTPMU" list >&- 2>err; code=$?
{ [ $code = 1 ] && grep -q 'write error' err; } && ok "list with closed standard output fails: $(cat err)" ||
	{ bad "list >&-: exit $code" err; }
"$SOFTPMU" stat -- true 2>&-; code=$?
[ $code = 1 ] && ok "stat with closed standard error exits with 1" || bad "stat 2>&-: exit $code"
"$SOFTPMU" stat -o counts -- sh -c 'exit 7' <&- >&- 2>&-; code=$?
[ $code = 7 ] && ok "stat -o with all descriptors closed exits with the program's status" ||
	bad "stat -o with all closed: exit $code"
exit $failed
