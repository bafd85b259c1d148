#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Events that use a second register besides PERFEVTSEL: front-end misses (MSR_PEBS_FRONTEND) and loads above a latency
# (MSR_PEBS_LD_LAT_THRESHOLD). The programs make a known number of them; perf reads the register's value from the file.
. "$TOP/tests/lib.sh"
counts() {	# CORE PROGRAM EVENTS [OPTIONS]: prints the counts on one line
	core=$1 program=$2 events=$3; shift 3
	timeout 200 "$SOFTPMU" stat -x, -o counts.csv --core "$core" "$@" -e "$events" -- "$PROGRAMS/$program" \
		>/dev/null 2>err || cat err
	cut -d, -f1 counts.csv | tr '\n' ' '
}

# code_pages makes 1,024 calls per round, each to another page and line. Without the wrong path nothing fetches the
# lines early.
EVENTS=frontend_retired.l1i_miss,frontend_retired.itlb_miss,frontend_retired.stlb_miss,itlb_misses.walk_completed,\
frontend_retired.l2_miss,l2_rqsts.code_rd_miss
for core in skylake golden-cove; do
	set -- $(counts $core code_pages-2 $EVENTS --no-wrong-path) $(counts $core code_pages-3 $EVENTS --no-wrong-path)
	check "$core: one round more has 1,024 more L1I misses ($1, $7)" [ $(($7 - $1)) -eq 1024 ]
	check "$core: one round more has 1,024 more ITLB misses ($2, $8)" [ $(($8 - $2)) -eq 1024 ]
	check "$core: each page has one STLB miss ($3, $9)" [ "$3" -ge 1024 -a "$3" -le 1040 -a "$3" -eq "$9" ]
	check "$core: as many page walks as STLB misses ($3, $4)" [ "$3" -eq "$4" ]
	check "$core: each line misses L2 once ($5)" [ "$5" -ge 1024 -a "$5" -le "$6" ]
done

# The higher the latency threshold, the fewer events.
set -- $(counts golden-cove "work" \
	frontend_retired.latency_ge_1,frontend_retired.latency_ge_2,frontend_retired.latency_ge_4,\
frontend_retired.latency_ge_8,frontend_retired.latency_ge_16,frontend_retired.latency_ge_2_bubbles_ge_1)
check "a higher threshold of front-end latency counts fewer ($*)" \
	[ "$1" -gt "$2" -a "$2" -gt "$3" -a "$3" -gt "$4" -a "$4" -gt "$5" -a "$5" \
	-gt 0 -a "$6" -gt 0 ]
set -- $(counts golden-cove "work" \
	frontend_retired.unknown_branch,baclears.any,frontend_retired.ms_flows,frontend_retired.any_dsb_miss,\
frontend_retired.dsb_miss,instructions)
check "retired unknown branches ($1) are not more than resteers ($2)" [ "$1" -gt 0 -a "$1" -le "$2" ]
check "some DSB misses are critical ($5 of $4)" [ "$5" -gt 0 -a "$5" -lt "$4" -a "$4" -lt "$6" -a "$3" -gt 0 ]

# cost-l1: a chain of loads through 64 KB, more than L1D holds. A load from L2 takes more than 8 cycles, a hit in L1D at
# most 8.
set -- $(counts skylake cost-l1 \
	mem_trans_retired.load_latency_gt_8,mem_load_retired.l1_miss,mem_trans_retired.load_latency_gt_4,\
mem_inst_retired.all_loads,mem_trans_retired.load_latency_gt_512)
check "loads above 8 cycles ($1) are the ones that miss L1 ($2)" [ "$1" -gt 1000 -a $(($1 - $2)) -le $(($2 / 100)) \
	-a $(($2 - $1)) -le $(($2 / 100)) ]
check "a lower threshold counts more loads ($3 of $4)" [ "$3" -ge "$1" -a "$3" -le "$4" -a "$5" -lt "$1" ]

# perf finds the second register's value in the file (config1).
"$SOFTPMU" record -q --core skylake -e frontend_retired.dsb_miss:pp -c 101 -o front.data "$PROGRAMS/work" 10 \
	>/dev/null || failed=1
check "the file has the value of the second register" sh \
	-c 'perf evlist -v -i front.data 2>/dev/null | grep -qE "(config1|bp_addr)[^,]*: 0x11"'
check "the file has samples" [ "$(perf script -i front.data -F ip 2>/dev/null | wc -l)" -gt 3 ]
"$SOFTPMU" stat --core skylake -e cpu/event=0xc6,umask=1/ true 2>err && failed=1
check "an event code without the second register's value is refused" grep -q 'front-end event' err
"$SOFTPMU" record --core skylake -e mem-loads -o no.data true 2>err && failed=1
check "mem-loads without PEBS is refused" grep -q ':p' err
exit $failed
