#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# A closed standard file stays closed for the program, and none of softpmu's own files takes its place.
set -u
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
failed=0
cd "$work" || exit 1
# Descriptors of the program: those that were ours to give, without the tracer's own beyond 10000.
seen() {	# FILE of ls -l
	awk '$10 == "->" && $9 < 10000 { sub("/proc/[0-9]*/", "/proc/PID/", $11); print $9, $11 }' "$1" | sort
}
for closed in '</dev/null' '<&-' '2>&-' '<&- 2>&-' '<&- >&- 2>&-'; do
	eval "sh -c 'ls -l /proc/self/fd >list' $closed"; seen list >native
	[ -s native ] || { echo "FAILED: ls shows no descriptors"; failed=1; }
	for follow in "" --follow; do
		rm -f list
		eval "\"\$SOFTPMU\" stat $follow -o counts -- sh -c 'ls -l /proc/self/fd >list' $closed"
		seen list >under
		if cmp -s native under && grep -q instructions counts; then echo "ok descriptors of a child $follow $closed"
		else echo "FAILED descriptors of a child $follow $closed:"; diff native under; failed=1; fi
	done
done
for closed in '<&-' '2>&-' '<&- 2>&-'; do
	eval "ls -l /proc/self/fd $closed" >list; seen list >native
	eval "\"\$SOFTPMU\" stat -o counts -- ls -l /proc/self/fd $closed" >list; seen list >under
	if cmp -s native under; then echo "ok descriptors of the program itself $closed"
	else echo "FAILED descriptors of the program itself $closed:"; diff native under; failed=1; fi
done

# What softpmu and the program print to a closed file goes nowhere, not into the files that softpmu writes.
"$SOFTPMU" record -v -c 1000 -o perf.data --save-stream stream -- sh -c 'echo $((6 * 7))0042; echo $((6 * 7))0042 >&2' <&- >&- 2>&-
if "$SOFTPMU" report -i perf.data >profile 2>err && [ ! -s err ] && grep -q 'sh' profile && ! grep -aq '420042\|Wrote' perf.data stream
then echo "ok perf.data and stream with all closed"
else echo "FAILED perf.data or stream with all closed"; cat err; failed=1; fi

"$SOFTPMU" stat -I 0.02 -e instructions --save-stream stream -- true 2>&-
if "$SOFTPMU" stat -e instructions -o counts --replay stream 2>err && [ ! -s err ] && ! grep -aq 'instructions:u' stream; then echo "ok stream while counts go nowhere"
else echo "FAILED stream while counts go nowhere"; cat err; failed=1; fi

# The status tells that what was asked for could not be printed.
"$SOFTPMU" list >&- 2>err; code=$?
{ [ $code = 1 ] && grep -q 'write error' err; } && echo "ok list >&-: $(cat err)" || { echo "FAILED list >&-: exit $code"; cat err; failed=1; }
"$SOFTPMU" stat -- true 2>&-; code=$?
[ $code = 1 ] && echo "ok stat 2>&-: exit 1" || { echo "FAILED stat 2>&-: exit $code"; failed=1; }
"$SOFTPMU" stat -o counts -- sh -c 'exit 7' <&- >&- 2>&-; code=$?
[ $code = 7 ] && echo "ok stat -o: exit 7 is the program's" || { echo "FAILED stat -o with all closed: exit $code"; failed=1; }
exit $failed
