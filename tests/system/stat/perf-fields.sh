#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# A file with everything that softpmu record can put into a sample. perf reads it: script -F with every field, mem
# report, c2c report, annotate, build-ids, thread names, data mappings. softpmu's own reports read the same file, with
# the same totals as perf.
. "$TOP/tests/lib.sh"
need perf
export HOME="$work" PERF_CONFIG=/dev/null PAGER=cat LC_ALL=C
silent() {	# PERF-ARGUMENTS...: perf succeeds, prints output, and prints nothing to standard error
	perf "$@" >out 2>err </dev/null
	check "perf $*" [ $? = 0 -a -s out -a ! -s err ] || head -n 3 err
}
record() {
	"$SOFTPMU" record -q "$@" -d -W -e MEM_INST_RETIRED.ALL_LOADS:pp,MEM_INST_RETIRED.ALL_STORES:pp -c 211 \
		"$PROGRAMS/threads" spin 1500 >/dev/null 2>err || { cat err; exit 1; }
}
record -o plain.data	# perf mem report does not read files that have branch stacks beside data sources
record -b -g -I

all=$("$SOFTPMU" report -i perf.data --json | jq '[.events[].samples] | add')
# Every field is in every sample.
for field in comm tid pid time cpu event ip period addr data_src weight ins_lat iregs brstack brstacksym brstackoff; do
	perf script -G -F "$field" >out 2>err
	check "perf script -F $field: in each of $all samples" [ "$all" -gt 50 -a "$(grep -c . out)" = "$all" \
		-a ! -s err ] || head -n 3 err
done
perf script -G -F event,period >out 2>/dev/null
check "the periods of each event add up to the total of softpmu report" \
	[ "$(awk '{ n[$2] += $1 } END { for (e in n) print e, n[e] }' out |
	sed 's/: / /' | sort)" = \
	"$("$SOFTPMU" report -i perf.data --json | jq -r '.events[] | "\(.event) \(.period)"' | sort)" ]
silent script -F comm,pid,tid,cpu,time,event,period,ip,sym,dso,symoff,srcline,addr,data_src,weight,ins_lat,iregs,\
brstack,misc
perf script -F tid,ip,addr,data_src,weight,ins_lat -G >list 2>/dev/null
perf script -F addr,iregs >registers 2>/dev/null
check "each sample has the segment selectors of user code" \
	[ "$(grep -c 'CS:0x33 *SS:0x2b' registers)" = "$(grep -c . registers)" ]
check "there are samples of loads and of stores" \
	[ "$(grep -c 'OP LOAD' list)" -gt 50 -a "$(grep -c 'OP STORE' list)" -gt 10 ]
check "there are samples of several threads" [ "$(awk '{ print $1 }' list | sort -u | wc -l)" -gt 1 ]

silent evlist -v
check "evlist shows the sample type" grep \
	-q 'sample_type: IP|TID|TIME|ADDR|CALLCHAIN|CPU|PERIOD|BRANCH_STACK|IDENTIFIER|'\
'REGS_INTR|DATA_SRC|WEIGHT_STRUCT' out
silent report --header-only -I
check "the header says that there are branch stacks" grep -q 'contains samples with branch stack' out
check "the header says how much memory there is" grep -q 'memory nodes (nr 1' out
silent report --stdio --no-branch-stack --no-children -g none
silent annotate --stdio
silent mem report --stdio -i plain.data
check "perf mem report names data objects" grep -q '\[stack\]' out
"$SOFTPMU" mem report -i plain.data --json >mem.json 2>/dev/null
ours() { jq "[.instructions[] | $1] | add" mem.json; }
check "perf and softpmu mem report have the same samples" \
	[ "$(awk '/^ +[0-9.]+%/ { n += $2 } END { print n }' out)" = "$(ours .samples)" ]
perf script -i plain.data -F weight >weights 2>/dev/null	# perf mem counts a sample without weight as 1
check "perf mem report has the total weight of the samples" \
	[ "$(awk '/^# Total weight/ { n += $NF } END { print n }' out)" \
	= "$(awk '{ n += $1 ? $1 : 1 } END { print n }' weights)" ]
perf annotate --stdio -i plain.data -s spinner >annotated 2>/dev/null
check "perf annotate has as many samples of a function as softpmu report" \
	[ "$(sed -n 's/.*ALL_LOADS:ppu (\([0-9]*\) samples.*/\1/p' annotated)" \
	= \
	"$("$SOFTPMU" report -i plain.data --json -s symbol |
	jq '.events[0].entries[] | select(.symbol == "spinner") | .samples')" ]
perf c2c report --stdio >out 2>err
check "perf c2c report" [ -s out -a ! -s err ] || head -n 3 err
check "c2c: perf reads all records" [ "$(awk -F: '/Total records/ { print $2 + 0 }' out)" = "$(grep -c . list)" ]
perf c2c report --stdio -i plain.data >out 2>/dev/null
c2c() { awk -F: -v what="$1" \
	'index($1, what) { sub("^ *", "", $1); sub(" *$", "", $1); if ($1 == what) { print $2 + 0; exit } }' out; }
check "c2c: as many loads as softpmu mem report" [ "$(c2c 'Load Operations')" = "$(ours .loads)" ]
check "c2c: as many stores as softpmu mem report" [ "$(c2c 'Store Operations')" = "$(ours .stores)" ]
check "c2c: as many L1 hits as softpmu mem report" \
	[ $(($(c2c 'Load L1D hit') + $(c2c 'Store L1D Hit'))) = "$(ours .levels.l1)" ]
check "c2c: as many fill buffer hits as softpmu mem report" [ "$(c2c 'Load Fill Buffer Hit')" = "$(ours .levels.lfb)" ]
check "c2c: as many L2 hits as softpmu mem report" [ "$(c2c 'Load L2D hit')" = "$(ours .levels.l2)" ]
# Both include the loads that hit a modified line.
check "c2c: as many L3 hits as softpmu mem report" [ "$(c2c 'Load LLC hit')" = "$(ours .levels.l3)" ]
check "c2c: as many loads from memory as softpmu mem report" \
	[ $(($(c2c 'Load Local DRAM') + $(c2c 'Load Remote DRAM'))) = "$(ours .levels.ram)" ]
check "c2c: perf parses every data source" [ "$(awk -F: '/Unable to parse data source/ { print $2 + 0 }' out)" = 0 ]
"$SOFTPMU" record -q -d -W -e MEM_INST_RETIRED.ALL_LOADS:pp -c 13 -o queue.data "$PROGRAMS/sharing" queue 2000 2 \
	>/dev/null || failed=1
perf c2c report --stdio -i queue.data >out 2>/dev/null
check "c2c: L3 hits include lines that another core modified" \
	[ "$(c2c 'Load Local HITM')" -gt 0 -a "$(c2c 'Load LLC hit')" = \
	"$("$SOFTPMU" mem report -i queue.data --json | jq '[.instructions[].levels.l3] | add')" ]
silent buildid-list
readelf -n "$PROGRAMS/threads" 2>/dev/null | sed -n 's/.*Build ID: //p' >id
check "buildid-list has the program's build-id" grep -qf id out
perf script --show-mmap-events -F comm 2>/dev/null | grep -c 'PERF_RECORD_MMAP2.*rw-p' >data
check "the file has the mappings of data" [ "$(cat data)" -gt 2 ]

# softpmu's own commands read the file.
for command in "report" "report --json" "annotate" "mem report" "export -f folded" "export -f pprof -o p.pb.gz"; do
	# shellcheck disable=SC2086
	"$SOFTPMU" $command >out 2>err; status=$?
	check "softpmu $command reads the file without a warning" [ $status = 0 -a ! -s err ] || head -n 3 err
done
exit $failed
