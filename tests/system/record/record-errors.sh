#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# `softpmu record`: what it refuses, and that a full disk, Ctrl-C and a failed start each leave a readable file or the old one.
set -u
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
. "$TOP/tests/until.sh"
cd "$work" || exit 1
failed=0
refuse() {	# NAME WORD arguments: one line with the word, status not 0, the program did not run
	name=$1 word=$2; shift 2
	rm -f ran
	"$SOFTPMU" record "$@" touch ran >out 2>err </dev/null; code=$?
	if [ "$code" != 0 ] && [ "$(grep -c . err)" = 1 ] && grep -q -- "$word" err && [ ! -e ran ]; then echo "ok $name"
	else echo "FAILED $name: exit $code, wanted one line with '$word'"; cat err; failed=1; fi
}
check() { if [ "$2" = "$3" ]; then echo "ok $1"; else echo "FAILED $1: '$2', expected '$3'"; failed=1; fi; }

refuse "unknown option" "--frobnicate" --frobnicate
refuse "branch stacks" "branch" --core pentium -b
refuse "all CPUs" "traced" -a
refuse "inheritance" "--follow" -i
refuse "a delay" "--start" --delay 10
refuse "a thread" "attach" -t 1
refuse "a process" "attach" -p 1
refuse "-c 0" "1 or more" -c 0
refuse "-F fast" "1 or more" -F fast
refuse "-c and -F" "exclude" -c 10 -F 10
refuse "--call-graph guess" "dwarf" --call-graph guess
refuse "unknown event" "no-such-event" -e no-such-event
refuse "elapsed time" "sampled" -e duration_time
refuse "a directory that is not there" "No such file" -o ./no/dir/perf.data
refuse "a pipe" "pipe mode" -o -
refuse "a device without room" "No space" -o /dev/full
check "no file of any of them" "$(ls | grep -c perf.data)" 0

echo keep >perf.data
"$SOFTPMU" record -- ./no-such-program >out 2>err; code=$?
check "no such program: status" "$([ $code != 0 ] && echo bad)" bad
check "no such program: lines" "$(grep -c . err)" 1
check "no such program: the old file is kept" "$(cat perf.data)" keep
check "no such program: no perf.data.old" "$(ls perf.data.old 2>/dev/null)" ""
"$SOFTPMU" record -q -c 10000 -- "$PROGRAMS/work" 1000 >out 2>err </dev/null
check "an existing file becomes .old" "$(cat perf.data.old)" keep
check "-q says nothing" "$(cat err)" ""
"$SOFTPMU" record -q -c 10000 -- sh -c 'exit 7' >/dev/null 2>&1
check "the program's status" $? 7

# A limit on the size of files stands for a full disk; the rings of the tracer (2 MB) fit below it.
(trap '' XFSZ; ulimit -f 8192; "$SOFTPMU" record -g -c 20 -o full.data -- "$PROGRAMS/work" 100000 >out 2>err </dev/null); code=$?
check "full disk: status" "$([ $code != 0 ] && echo bad)" bad
check "full disk: one error" "$(grep -c '^softpmu: ' err)" 1
grep -q 'full.data' err && echo "ok full disk: names the file" || { echo "FAILED full disk"; cat err; failed=1; }
"$SOFTPMU" report -i full.data >report 2>err; check "full disk: readable" $? 0
check "full disk: nothing to complain of" "$(cat err)" ""
grep -q ' mix$' report && echo "ok full disk: has its samples" || { echo "FAILED full disk: no samples"; failed=1; }

rm -f out	# else what the last program said may be read before the shell empties the file
# Shells start background jobs with SIGINT ignored; env undoes that.  setsid: a group of its own, as a terminal's foreground job.
setsid env --default-signal=INT "$SOFTPMU" record -o int.data -- "$PROGRAMS/dies" loop >out 2>err </dev/null &
pid=$!
until_ said working out
kill -s INT -- -$pid
wait $pid; code=$?
check "Ctrl-C: status" $code 130
grep -q 'Wrote .* int.data' err && echo "ok Ctrl-C: wrote" || { echo "FAILED Ctrl-C"; cat err; failed=1; }
"$SOFTPMU" report -i int.data >report 2>err; check "Ctrl-C: readable" $? 0
check "Ctrl-C: nothing to complain of" "$(cat err)" ""
exit $failed
