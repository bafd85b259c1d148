#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# A closed standard file stays closed for the program, and none of softpmu's own files takes its place.
. "$TOP/tests/lib.sh"
# Descriptors of the program: those that were ours to give, without the tracer's own beyond 10000.
seen() {	# FILE of ls -l
	awk '$10 == "->" && $9 < 10000 { sub("/proc/[0-9]*/", "/proc/PID/", $11); print $9, $11 }' "$1" | sort
}
for closed in '</dev/null' '<&-' '2>&-' '<&- 2>&-' '<&- >&- 2>&-'; do
	eval "sh -c 'ls -l /proc/self/fd >list' $closed"; seen list >native
	[ -s native ] || bad "ls shows no descriptors"
	for follow in "" --follow; do
		rm -f list
		eval "\"\$SOFTPMU\" stat $follow -o counts -- sh -c 'ls -l /proc/self/fd >list' $closed"
		seen list >under
		if cmp -s native under && grep -q instructions counts; then ok "descriptors of a child $follow $closed"
		else bad "descriptors of a child $follow $closed:"; diff native under; fi
	done
done
for closed in '<&-' '2>&-' '<&- 2>&-'; do
	eval "ls -l /proc/self/fd $closed" >list; seen list >native
	eval "\"\$SOFTPMU\" stat -o counts -- ls -l /proc/self/fd $closed" >list; seen list >under
	if cmp -s native under; then ok "descriptors of the program itself $closed"
	else bad "descriptors of the program itself $closed:"; diff native under; fi
done

# What softpmu and the program print to a closed file goes nowhere, not into the files that softpmu writes.
"$SOFTPMU" record -v -c 1000 -o perf.data --save-stream stream -- sh -c 'echo $((6 * 7))0042; echo $((6 * 7))0042 >&2' \
	<&- >&- 2>&-
if "$SOFTPMU" report -i perf.data >profile 2>err && [ ! -s err ] && grep -q 'sh' profile &&
	! grep -aq '420042\|Wrote' perf.data stream
then ok "perf.data and stream with all closed"
else bad "perf.data or stream with all closed" err; fi

"$SOFTPMU" stat -I 0.02 -e instructions --save-stream stream -- true 2>&-
if "$SOFTPMU" stat -e instructions -o counts --replay stream 2>err && [ ! -s err ] &&
	! grep -aq 'instructions:u' stream; then ok "stream while counts go nowhere"
else bad "stream while counts go nowhere" err; fi

# The status tells that what was asked for could not be printed.
"$SOFTPMU" list >&- 2>err; code=$?
{ [ $code = 1 ] && grep -q 'write error' err; } && ok "list >&-: $(cat err)" || { bad "list >&-: exit $code" err; }
"$SOFTPMU" stat -- true 2>&-; code=$?
[ $code = 1 ] && ok "stat 2>&-: exit 1" || bad "stat 2>&-: exit $code"
"$SOFTPMU" stat -o counts -- sh -c 'exit 7' <&- >&- 2>&-; code=$?
[ $code = 7 ] && ok "stat -o: exit 7 is the program's" || bad "stat -o with all closed: exit $code"
exit $failed
