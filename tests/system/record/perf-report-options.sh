#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# perf's options of report, annotate and record, against perf on the same file; what is handed over to perf; pipe mode.
. "$TOP/tests/lib.sh"
need perf jq
export HOME="$work" PERF_CONFIG=/dev/null PAGER=cat LC_ALL=C
program=$PROGRAMS/inlined
record() { env -i "$SOFTPMU" record -q "$@" >out 2>err </dev/null || cat err; }
bare_stream stream inlined 3000 >/dev/null || bad "saving a stream"
record_named 2003 -g --replay stream

# perf 6.12 prints the parameters of C++ functions and which clone one is, 6.1 does not.
table() { sed -e '/^# (Tip/,$d' -e '/^#$/d;/^$/d;/To display/d;/softpmu report of/d;s/ (time slices.*//;s/ *$//' \
	-e 's/(unsigned int)//;s/ \[clone [^]]*\]//' | one_plt; }
equal() {	# OPTION...: both reports print the same
	perf report --stdio --no-inline -i perf.data "$@" 2>err </dev/null | table >theirs
	"$SOFTPMU" report --no-inline -i perf.data "$@" 2>&1 | table >ours
	if [ -s theirs ] && cmp -s theirs ours; then ok "report $*: as perf's ($(wc -l <ours) lines)"
	else bad "report $*: differs from perf's"; diff theirs ours | head -n 10; fi
}
flat="--no-children -g none"
# shellcheck disable=SC2086	# words
{
	equal $flat --no-demangle -S main,_ZL6middlej
	equal $flat -S main
	equal $flat -d libc.so.6
	equal $flat -d libc.so.6,inlined --percentage relative
	equal $flat -c inlined
	equal $flat -c other,inlined -d inlined,libc.so.6
	equal --no-children --symbol-filter dl_
	equal $flat -U
	equal $flat -w 0,30,10
	equal $flat -q
	equal $flat --hierarchy
	equal $flat --hierarchy -s dso,sym
	equal $flat --time 0.0001,0.0002
	equal $flat -C 0
	equal --no-children --max-stack 2
	equal --max-stack 3
	equal --no-demangle -g none
	equal --show-total-period -n -g none
}
"$SOFTPMU" report --no-children -t ';' -i perf.data >out
has "-t: words between separators" '^[0-9.]*%;inlined;inlined;\[\.\] main$' out
"$SOFTPMU" report --header-only -i perf.data >out
has "--header: the command" '^# cmdline : softpmu record -q -c 20[0-9]* -g' out
same "--header-only: nothing else" "$(grep -vc '^#' out)" 0
"$SOFTPMU" report --no-children -g none -s srcline --full-source-path -i perf.data >out
has "--full-source-path" "^ *[0-9.]*%  $TOP/tests/programs/inlined.cc:" out
perf report --stats -i perf.data >theirs 2>&1
"$SOFTPMU" report --stats -i perf.data >ours 2>&1
same_files "--stats is handed over to perf" theirs ours
perf script -i perf.data -F ip,sym >theirs 2>&1
"$SOFTPMU" script -i perf.data -F ip,sym >ours 2>&1
same_files "softpmu script is perf script" theirs ours
refuse "--tui without perf" "cannot run perf report" env PATH=/nowhere "$SOFTPMU" report --tui -i perf.data
refuse "top" "softpmu record" "$SOFTPMU" top
refuse "c2c record" "softpmu mem record" "$SOFTPMU" c2c record "$program"
refuse "--time that is none" "START,STOP" "$SOFTPMU" report --time soon
refuse "--percentage that is none" "relative or absolute" "$SOFTPMU" report --percentage all

# annotate
numbers() { sed -n 's/^ *\([0-9]*\) *: *\([0-9a-f]*\): .*/\1 \2/p'; }
for option in -n --show-total-period; do
	perf annotate --stdio $option -i perf.data main 2>err </dev/null | numbers >theirs
	"$SOFTPMU" annotate $option -i perf.data main 2>>err | numbers >ours
	same_files "annotate $option: as perf's ($(wc -l <ours) instructions)" theirs ours
done
"$SOFTPMU" annotate --no-demangle -i perf.data >out
has "annotate --no-demangle" '<_ZL6middlej>:$' out
"$SOFTPMU" annotate -d inlined --percent-limit 5 -i perf.data >out
same "annotate -d and --percent-limit" "$(grep -c 'Disassembly of inlined for' out) $(grep -c Disassembly out)" "3 3"

# record
record -s -e cycles,instructions -c 20011 -o counts.data -- "$PROGRAMS/threads"
perf report -T --stdio -i counts.data 2>/dev/null </dev/null | sed -n '/PID/,$p' | grep . >theirs
"$SOFTPMU" report -T -i counts.data | sed -n '/PID/,$p' | grep . >ours
same_files "record -s, report -T: as perf's ($(wc -l <ours) lines)" theirs ours
same "record -s: the counts of all threads are stat's" \
	"$(awk '!/PID/ { n += $4 } END { print n }' ours)" \
	"$(env -i "$SOFTPMU" stat -x, -e instructions -- "$PROGRAMS/threads" 2>&1 >out | cut -d, -f1)"
record -n -o none.data -- "$program" 100
same "record -n: no samples" "$(perf script -i none.data 2>/dev/null | wc -l)" 0
record --buildid-mmap -o ids.data -- "$program" 100
perf script --show-mmap-events -i ids.data >out 2>err
has "--buildid-mmap: perf finds the build-ids in the mappings" "<[0-9a-f]\{40\}>\]: r-xp .*/inlined$" out
record --dry-run -o dry.data -- "$program" 100
check "--dry-run writes nothing" [ ! -e dry.data ]
record -m 128 -P -T -R --per-thread --no-buffering --aio=2 --synth all -o idle.data -- "$program" 100
perf script -i idle.data >out 2>err
check "options without effect are taken" [ -s out ]
refuse "record --max-size" "never cut" "$SOFTPMU" record --max-size 1M -- "$program"

# Pipe mode: the same samples as in a file, for perf and for us; the program's output is apart.
record -g -c 2003 -o file.data --save-stream stream -- "$program" 3000
"$SOFTPMU" record -q -g -c 2003 -o - --replay stream >pipe.data 2>err
perf script -i file.data -F comm,time,event,period,ip,sym >theirs 2>&1
perf script -i - -F comm,time,event,period,ip,sym <pipe.data >ours 2>&1
same_files "record -o -: perf reads the same samples" theirs ours
"$SOFTPMU" report -i file.data | sed 1d >theirs
"$SOFTPMU" report -i - <pipe.data | sed 1d >ours
same_files "report -i - prints the same as of a file" theirs ours
"$SOFTPMU" record -q -o - -- /bin/echo apart 2>err >out.data
same "record -o -: the program prints to standard error" "$(cat err)" apart
exit $failed
