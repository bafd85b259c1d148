#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Everything that softpmu record can put into a sample, at once, read by perf: script -F with every field, mem report, c2c report, annotate, build-ids,
# names of threads, mappings of data; and softpmu's own reports read the same file.
set -u
command -v perf >/dev/null 2>&1 || { echo "perf is not installed"; exit 77; }
. "$TOP/tests/claims.sh"
export HOME="$work" PERF_CONFIG=/dev/null PAGER=cat LC_ALL=C
silent() {	# perf arguments: status 0, nothing on stderr, something on stdout
	perf "$@" >out 2>err </dev/null
	ok "perf $*" [ $? = 0 -a -s out -a ! -s err ] || head -n 3 err
}
record() {
	"$SOFTPMU" record -q "$@" -d -W -e MEM_INST_RETIRED.ALL_LOADS:pp,MEM_INST_RETIRED.ALL_STORES:pp -c 211 "$PROGRAMS/threads" spin 1500 >/dev/null 2>err || { cat err; exit 1; }
}
record -o plain.data	# perf's mem report wants no branch stacks beside data sources
record -b -g -I

# every field, in every sample
for field in comm tid pid time cpu event ip period addr data_src weight ins_lat iregs brstack brstacksym brstackoff; do
	perf script -F "$field" >out 2>err
	samples=$(grep -c . out)
	ok "perf script -F $field ($samples lines)" [ "$samples" -gt 50 -a ! -s err ] || head -n 3 err
done
silent script -F comm,pid,tid,cpu,time,event,period,ip,sym,dso,symoff,srcline,addr,data_src,weight,ins_lat,iregs,brstack,misc
perf script -F tid,ip,addr,data_src,weight,ins_lat -G >list 2>/dev/null
perf script -F addr,iregs >registers 2>/dev/null
ok "registers: user code's selectors" [ "$(grep -c 'CS:0x33 *SS:0x2b' registers)" = "$(grep -c . registers)" ]
ok "loads and stores" [ "$(grep -c 'OP LOAD' list)" -gt 50 -a "$(grep -c 'OP STORE' list)" -gt 10 ]
ok "threads of their own" [ "$(awk '{ print $1 }' list | sort -u | wc -l)" -gt 1 ]

silent evlist -v
ok "what is in a sample" grep -q 'sample_type: IP|TID|TIME|ADDR|CALLCHAIN|CPU|PERIOD|BRANCH_STACK|IDENTIFIER|REGS_INTR|DATA_SRC|WEIGHT_STRUCT' out
silent report --header-only -I
ok "the header says that there are branch stacks" grep -q 'contains samples with branch stack' out
ok "and of which memory" grep -q 'memory nodes (nr 1' out
silent report --stdio --no-branch-stack --no-children -g none
silent annotate --stdio
silent mem report --stdio -i plain.data
ok "mem report: data objects" grep -q '\[stack\]' out
perf c2c report --stdio >out 2>err
ok "perf c2c report" [ -s out -a ! -s err ] || head -n 3 err
ok "c2c: all records" [ "$(awk -F: '/Total records/ { print $2 + 0 }' out)" = "$(grep -c . list)" ]
ok "c2c: all parsed" [ "$(awk -F: '/Unable to parse data source/ { print $2 + 0 }' out)" = 0 ]
silent buildid-list
readelf -n "$PROGRAMS/threads" 2>/dev/null | sed -n 's/.*Build ID: //p' >id
ok "build-id of the program" grep -qf id out
perf script --show-mmap-events -F comm 2>/dev/null | grep -c 'PERF_RECORD_MMAP2.*rw-p' >data
ok "mappings of data" [ "$(cat data)" -gt 2 ]

# our own readers
for command in "report" "report --json" "annotate" "mem report" "export -f folded" "export -f pprof -o p.pb.gz"; do
	"$SOFTPMU" $command >out 2>err; status=$?
	ok "softpmu $command" [ $status = 0 -a ! -s err ] || head -n 3 err
done
exit $failed
