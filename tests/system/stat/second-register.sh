#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Events that another register than PERFEVTSEL tells apart: what the front end missed (MSR_PEBS_FRONTEND), loads
# above a latency (MSR_PEBS_LD_LAT_THRESHOLD), by programs that make a known number of them; and what perf reads
# of it in a file.
. "$TOP/tests/lib.sh"
counts() {	# CORE PROGRAM EVENTS [OPTIONS]: the counts in a line
	core=$1 program=$2 events=$3; shift 3
	timeout 200 "$SOFTPMU" stat -x, -o counts.csv --core "$core" "$@" -e "$events" -- "$PROGRAMS/$program" \
		>/dev/null 2>err || cat err
	cut -d, -f1 counts.csv | tr '\n' ' '
}

# code_pages: 1,024 calls a round, each of another page and line; without the wrong path nobody fetches them ahead
EVENTS=frontend_retired.l1i_miss,frontend_retired.itlb_miss,frontend_retired.stlb_miss,itlb_misses.walk_completed,\
frontend_retired.l2_miss,l2_rqsts.code_rd_miss
for core in skylake golden-cove; do
	set -- $(counts $core code_pages-2 $EVENTS --no-wrong-path) $(counts $core code_pages-3 $EVENTS --no-wrong-path)
	check "$core: a round more, 1,024 misses of L1I more (got $1, $7)" [ $(($7 - $1)) -eq 1024 ]
	check "$core: and of the ITLB (got $2, $8)" [ $(($8 - $2)) -eq 1024 ]
	check "$core: each page is walked for once (got $3, $9)" [ "$3" -ge 1024 -a "$3" -le 1040 -a "$3" -eq "$9" ]
	check "$core: which the walks say, too (got $3, $4)" [ "$3" -eq "$4" ]
	check "$core: L2 lacked each line at first (got $5)" [ "$5" -ge 1024 -a "$5" -le "$6" ]
done

# thresholds: fewer the higher they are; all and none at the ends
set -- $(counts golden-cove "work" \
	frontend_retired.latency_ge_1,frontend_retired.latency_ge_2,frontend_retired.latency_ge_4,\
frontend_retired.latency_ge_8,frontend_retired.latency_ge_16,frontend_retired.latency_ge_2_bubbles_ge_1)
check "a higher latency, fewer (got $*)" [ "$1" -gt "$2" -a "$2" -gt "$3" -a "$3" -gt "$4" -a "$4" -gt "$5" -a "$5" \
	-gt 0 -a "$6" -gt 0 ]
set -- $(counts golden-cove "work" \
	frontend_retired.unknown_branch,baclears.any,frontend_retired.ms_flows,frontend_retired.any_dsb_miss,\
frontend_retired.dsb_miss,instructions)
check "branches unknown retire less often than the front end is re-steered (got $1, $2)" [ "$1" -gt 0 -a "$1" -le "$2" ]
check "of DSB misses some are critical (got $4, $5)" [ "$5" -gt 0 -a "$5" -lt "$4" -a "$4" -lt "$6" -a "$3" -gt 0 ]

# cost-l1: a chain of loads through 64 KB, which L1D does not hold; what L2 serves takes more than 8 cycles, a
# hit no more than 8
set -- $(counts skylake cost-l1 \
	mem_trans_retired.load_latency_gt_8,mem_load_retired.l1_miss,mem_trans_retired.load_latency_gt_4,\
mem_inst_retired.all_loads,mem_trans_retired.load_latency_gt_512)
check "loads above 8 cycles are those that missed L1 (got $1, $2)" [ "$1" -gt 1000 -a $(($1 - $2)) -le $(($2 / 100)) \
	-a $(($2 - $1)) -le $(($2 / 100)) ]
check "a lower threshold, more (got $3 of $4)" [ "$3" -ge "$1" -a "$3" -le "$4" -a "$5" -lt "$1" ]

# perf sees config1
"$SOFTPMU" record -q --core skylake -e frontend_retired.dsb_miss:pp -c 101 -o front.data "$PROGRAMS/work" 10 \
	>/dev/null || failed=1
check "the file says what the second register held" sh \
	-c 'perf evlist -v -i front.data 2>/dev/null | grep -qE "(config1|bp_addr)[^,]*: 0x11"'
check "samples" [ "$(perf script -i front.data -F ip 2>/dev/null | wc -l)" -gt 3 ]
"$SOFTPMU" stat --core skylake -e cpu/event=0xc6,umask=1/ true 2>err && failed=1
check "a code without the register's value is refused" grep -q 'front-end event' err
"$SOFTPMU" record --core skylake -e mem-loads -o no.data true 2>err && failed=1
check "latency sampled without PEBS is refused" grep -q ':p' err
exit $failed
