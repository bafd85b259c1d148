#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# perf stat's options for what is printed, and stat record and stat report, which read each other's files and perf's.
. "$TOP/tests/lib.sh"
need perf jq
export HOME="$work" PERF_CONFIG=/dev/null LC_ALL=C
program=$PROGRAMS/work
count() { env -i "$SOFTPMU" stat "$@" >out 2>err </dev/null; }

count -n -- "$program" 100
hasnt "-n counts nothing" 'cycles\|instructions' err
has "-n prints how long the program ran" 'seconds time elapsed (modelled)$' err
count -n -e cycles -- "$program" 100
has "-n -e counts what -e asks for, as in perf" 'cycles:u' err

count --metric-only -- "$program" 100
has "--metric-only: names" '^  *GHz       insn per cycle branch-misses:u of all branches *$' err
has "--metric-only: values" '^  *3\.000  *[0-9.]*  *[0-9.]*% *$' err
hasnt "--metric-only: no counts" 'cycles:u\|task-clock' err
count --metric-only -x, -- "$program" 100
same "--metric-only -x" "$(head -n 1 err) $(sed -n '2s/[0-9.]\{1,\}/N/gp' err)" \
	"GHz,insn per cycle,branch-misses:u of all branches, N,N,N,"
count --metric-only -j -- "$program" 100
check "--metric-only -j: JSON with a number for each name" jq -e '."insn per cycle" | tonumber > 0' err
count --metric-only -M IPC -- "$program" 100
has "--metric-only -M: the metric alone" '^  *IPC *$' err
count --metric-only -I 0.02 -x, -- "$program" 1000
same "--metric-only -I -x: a row for each interval" "$(head -n 1 err | cut -d, -f1-2)" "time,GHz"

count -r 3 --table -e cycles -- "$program" 100
same "--table: the time of each run" "$(grep -c '^  *0\.[0-9]* ([+-]0\.[0-9]*) #*$' err)" 3
has "--table: then the result" '# Final result:$' err
list=$(printf 'l2_rqsts.miss,%.0s' 1 2 3 4 5 6 7 8 9 10)cycles
count --no-scale --one-pmu --rotate 0.001 -x, -e "$list" -- "$program" 3000
cp err raw
count --one-pmu --rotate 0.001 -x, -e "$list" -- "$program" 3000
nonzero "events take turns" "$(awk -F, '$5 < 100' raw | grep -c .)"
paste -d, raw err | awk -F, '$8 > 100 { n++; d = 100 * $1 / $8 / $5; if (d < 0.99 || d > 1.01) bad = 1 }
	END { exit bad || !n }' && ok "--no-scale: as much less as the event had turns" || bad "--no-scale" raw err

count -I 0.02 --summary -x, -e instructions -- "$program" 2000
same "--summary: the intervals add up to it" "$(awk -F, '!/summary/ { n += $2 } END { print n }' err)" \
	"$(awk -F, '/^ *summary,/ { print $2 }' err)"
count -I 0.02 --summary --no-csv-summary -x, -e instructions -- "$program" 2000
hasnt "--no-csv-summary leaves the word out" summary err
has "--no-csv-summary prints the counts" '^[0-9]*,,instructions:u' err
count -I 0.02 --interval-count 2 -x, -e instructions -- "$program" 2000
same "--interval-count 2" "$(wc -l <err)" 2
count --topdown --td-level 2 -- "$program" 100
has "--td-level 2: both levels" 'backend bound  *fetch latency' err
count --quiet -- "$program" 100
same "--quiet prints nothing" "$(cat err)" ""
count --pre 'echo before' --post 'echo behind' -e cycles -- "$program" 100
same "--pre and --post run a command" "$(sed -n '1p;$p' out | tr '\n' ' ')" "before behind "
refuse "--pre that fails" 'ended with status 3' "$SOFTPMU" stat --pre 'exit 3' -- "$program" 100
refuse "--metric-only -r" 'not supported with -r' "$SOFTPMU" stat --metric-only -r 2 -- "$program"
refuse "--table without -r" 'goes with -r' "$SOFTPMU" stat --table -- "$program"
refuse "--summary without -I" 'go with -I' "$SOFTPMU" stat --summary -- "$program"
refuse "-g with --one-pmu" 'braces' "$SOFTPMU" stat -g --one-pmu -- "$program"
refuse "-T" 'in a transaction' "$SOFTPMU" stat -T -- "$program"

# stat record: perf prints what softpmu printed.
lines_of() { sed 's/,//g; s/ *$//; s/ (modelled)//; s/^ *//' "$1" | grep ' # \|:u\|elapsed'; }
count record -o s.data -e task-clock,cycles,instructions,branches,branch-misses,l2_rqsts.miss,duration_time \
	-- "$program" 500
lines_of err | grep -v duration_time >written
perf stat report -i s.data 2>theirs
lines_of theirs | grep -v duration_time >back
same_files "perf stat report prints what stat record printed" written back
has "and the command" "^ Performance counter stats for 'softpmu stat record -o s.data -e .* $program 500':" theirs
perf stat -x, report -i s.data 2>theirs
"$SOFTPMU" stat report -x, -i s.data 2>ours
grep -v duration_time theirs >a; grep -v duration_time ours >b
same_files "stat report -x prints what perf's prints" a b
"$SOFTPMU" stat report -i s.data 2>ours
lines_of ours | grep -v duration_time >back
same_files "stat report prints what stat record printed" written back
"$SOFTPMU" stat report -j -i s.data 2>ours
same "stat report -j" "$(jq -r 'select(.event == "cycles:u") | ."counter-value" | tonumber + 0' ours)" \
	"$(awk '/cycles:u/ { print $1 }' written)"
# Without surroundings: in the last interval no thread runs.
bare_stream short work 2000 >/dev/null || bad "saving a stream"
count -x, -I 0.02 -e instructions,cycles record -o i.data --replay short
cp err written
"$SOFTPMU" stat report -x, -i i.data 2>ours
same_files "stat record -I: stat report prints the intervals" written ours
perf stat -x, report -i i.data 2>theirs
# perf 6.12 prints counts since the start, of its own files, too; 6.1 those of each interval, as stat record did.
sums() { awk -F, -v OFS=, '{ $2 = n[$4] += $2 } 1'; }
cut -d, -f1-4 theirs | tr -d ' ' >a; cut -d, -f1-4 written | tr -d ' ' >b
if sums <b | cmp -s - a; then sums <b >c; mv c b; fi
same_files "stat record -I: perf prints the same counts" a b
count record --sample=20000,1000,2000 -o e.data -x, -e cycles,instructions -- "$program" 30000
cut -d, -f1,3 err >a
"$SOFTPMU" stat report -x, -i e.data 2>&1 | cut -d, -f1,3 >b
same_files "stat record keeps estimates" a b
"$SOFTPMU" record -q -o none.data -- "$program" 100 >out 2>err
refuse "stat report of samples" "has no counts" "$SOFTPMU" stat report -i none.data
refuse "stat record -r" 'one run' "$SOFTPMU" stat record -r 2 -- "$program"
refuse "stat record of nothing" 'no event' "$SOFTPMU" stat record -n -o n.data -- "$program"

# A file of perf's own.
if perf stat record -o p.data -e task-clock,page-faults -- "$program" 5000 >out 2>err </dev/null; then
	perf stat -x, report -i p.data 2>theirs
	"$SOFTPMU" stat report -x, -i p.data 2>ours
	same_files "stat report reads perf's file: -x" theirs ours
	perf stat report -i p.data 2>&1 | sed 's/ *$//' >theirs
	"$SOFTPMU" stat report -i p.data 2>&1 | sed 's/ *$//' >ours
	same_files "stat report reads perf's file: the table" theirs ours
fi
exit $failed
