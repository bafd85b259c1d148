#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# `softpmu record`: what it refuses, and that a full disk, Ctrl-C and a failed start each leave a readable file
# or the old one.
. "$TOP/tests/lib.sh"
refuse_record() {	# CLAIM PATTERN OPTION...: the program does not run
	claim=$1 pattern=$2; shift 2
	rm -f ran
	refuse "$claim" "$pattern" "$SOFTPMU" record "$@" touch ran
	check "$claim: the program did not run" [ ! -e ran ]
}

refuse_record "unknown option" "--frobnicate" --frobnicate
refuse_record "branch stacks" "branch" --core pentium -b
refuse_record "all CPUs" "traced" -a
refuse_record "inheritance" "--follow" -i
refuse_record "a delay" "--start" --delay 10
refuse_record "a thread" "attach" -t 1
refuse_record "a process" "attach" -p 1
refuse_record "-c 0" "whole number from 1" -c 0
refuse_record "-F fast" "whole number from 1" -F fast
refuse_record "-c and -F" "exclude" -c 10 -F 10
refuse_record "--call-graph guess" "dwarf" --call-graph guess
refuse_record "unknown event" "no-such-event" -e no-such-event
refuse_record "elapsed time" "sampled" -e duration_time
refuse_record "a directory that is not there" "No such file" -o ./no/dir/perf.data
refuse_record "a pipe" "pipe mode" -o -
refuse_record "a device without room" "No space" -o /dev/full
same "no file of any of them" "$(ls | grep -c perf.data)" 0

echo keep >perf.data
"$SOFTPMU" record -- ./no-such-program >out 2>err; code=$?
same "no such program: status" "$([ $code != 0 ] && echo bad)" bad
same "no such program: lines" "$(grep -c . err)" 1
same "no such program: the old file is kept" "$(cat perf.data)" keep
same "no such program: no perf.data.old" "$(ls perf.data.old 2>/dev/null)" ""
"$SOFTPMU" record -q -c 10000 -- "$PROGRAMS/work" 1000 >out 2>err </dev/null
same "an existing file becomes .old" "$(cat perf.data.old)" keep
same "-q says nothing" "$(cat err)" ""
"$SOFTPMU" record -q -c 10000 -- sh -c 'exit 7' >/dev/null 2>&1
same "the program's status" $? 7

# A limit on the size of files stands for a full disk; the rings of the tracer (2 MB) fit below it.
(trap '' XFSZ; ulimit -f 8192; "$SOFTPMU" record -g -c 20 -o full.data -- "$PROGRAMS/work" 100000 \
	>out 2>err </dev/null); code=$?
same "full disk: status" "$([ $code != 0 ] && echo bad)" bad
same "full disk: one error" "$(grep -c '^softpmu: ' err)" 1
grep -q 'full.data' err && ok "full disk: names the file" || { bad "full disk" err; }
"$SOFTPMU" report -i full.data >report 2>err; same "full disk: readable" $? 0
same "full disk: nothing to complain of" "$(cat err)" ""
grep -q ' mix$' report && ok "full disk: has its samples" || bad "full disk: no samples"

rm -f out	# else what the last program said may be read before the shell empties the file
# Shells start background jobs with SIGINT ignored; env undoes that. setsid: a group of its own, as a terminal's
# foreground job.
setsid env --default-signal=INT "$SOFTPMU" record -o int.data -- "$PROGRAMS/dies" loop >out 2>err </dev/null &
pid=$!
wait_until said working out
kill -s INT -- -$pid
wait $pid; code=$?
same "Ctrl-C: status" $code 130
grep -q 'Wrote .* int.data' err && ok "Ctrl-C: wrote" || { bad "Ctrl-C" err; }
"$SOFTPMU" report -i int.data >report 2>err; same "Ctrl-C: readable" $? 0
same "Ctrl-C: nothing to complain of" "$(cat err)" ""
exit $failed
