#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# `softpmu record`: refusals; a full disk and Ctrl-C leave a readable file, and a failed start leaves the old file.
. "$TOP/tests/lib.sh"
refuse_record() {	# CLAIM PATTERN OPTION...: refused, and the program does not run
	claim=$1 pattern=$2; shift 2
	rm -f ran
	refuse "$claim" "$pattern" "$SOFTPMU" record "$@" touch ran
	check "$claim: the program did not run" [ ! -e ran ]
}

refuse_record "an unknown option" "--frobnicate" --frobnicate
refuse_record "branch stacks on pentium" "branch" --core pentium -b
refuse_record "sampling on all CPUs" "traced" -a
refuse_record "a delay" "--start" --delay 10
refuse_record "attaching to a thread" "attach" -t 1
refuse_record "attaching to a process" "attach" -p 1
refuse_record "-c 0" "whole number from 1" -c 0
refuse_record "-F fast" "whole number from 1" -F fast
refuse_record "-c with -F" "exclude" -c 10 -F 10
refuse_record "--call-graph guess" "dwarf" --call-graph guess
refuse_record "an unknown event" "no-such-event" -e no-such-event
refuse_record "sampling duration_time" "sampled" -e duration_time
refuse_record "a file in a directory that does not exist" "No such file" -o ./no/dir/perf.data
mkfifo fifo
refuse_record "output to a FIFO by its name" "is a pipe: -o -" -o fifo
refuse_record "a device without room" "No space" -o /dev/full
same "refused commands make no perf.data" "$(ls | grep -c perf.data)" 0

echo keep >perf.data
"$SOFTPMU" record -- ./no-such-program >out 2>err; code=$?
same "an unknown program: the exit status is not 0" "$([ $code != 0 ] && echo bad)" bad
same "an unknown program is reported in one line" "$(grep -c . err)" 1
same "an unknown program: the old file is kept" "$(cat perf.data)" keep
same "an unknown program: no perf.data.old is made" "$(ls perf.data.old 2>/dev/null)" ""
"$SOFTPMU" record -q -c 10000 -- "$PROGRAMS/work" 1000 >out 2>err </dev/null
same "an existing file is renamed to perf.data.old" "$(cat perf.data.old)" keep
same "-q prints nothing" "$(cat err)" ""
"$SOFTPMU" record -q -c 10000 -- sh -c 'exit 7' >/dev/null 2>&1
same "the exit status is the program's" $? 7

# A limit on file size imitates a full disk; it is larger than the rings of the tracer (2 MB).
(trap '' XFSZ; ulimit -f 8192; "$SOFTPMU" record -g -c 20 -o full.data -- "$PROGRAMS/work" 100000 \
	>out 2>err </dev/null); code=$?
same "full disk: the exit status is not 0" "$([ $code != 0 ] && echo bad)" bad
same "full disk: one error is printed" "$(grep -c '^softpmu: ' err)" 1
grep -q 'full.data' err && ok "full disk: the error names the file" || { bad "full disk" err; }
"$SOFTPMU" report -i full.data >report 2>err; same "full disk: the file is readable" $? 0
same "full disk: report prints no warning" "$(cat err)" ""
grep -q ' mix$' report && ok "full disk: the file has samples" || bad "full disk: no samples"

rm -f out	# else wait_until could see the last program's output before the shell empties the file
# A shell starts background jobs with SIGINT ignored; env --default-signal undoes that. setsid gives softpmu and the
# program a process group of their own, like the foreground job of a terminal.
setsid env --default-signal=INT "$SOFTPMU" record -o int.data -- "$PROGRAMS/dies" loop >out 2>err </dev/null &
pid=$!
wait_until said working out
kill -s INT -- -$pid
wait $pid; code=$?
same "Ctrl-C: the exit status is 130" $code 130
grep -q 'Wrote .* int.data' err && ok "Ctrl-C: the closing line names the file" || { bad "Ctrl-C" err; }
"$SOFTPMU" report -i int.data >report 2>err; same "Ctrl-C: the file is readable" $? 0
same "Ctrl-C: report prints no warning" "$(cat err)" ""
exit $failed
