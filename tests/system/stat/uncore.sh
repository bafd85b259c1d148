#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Uncore events of `softpmu stat`: a streaming program reads and writes its lines at the memory controller; data that
# fits in L3 hits there. Also the names of the events, and refusals.
. "$TOP/tests/lib.sh"
count() { "$SOFTPMU" stat -x, "$@" 2>&1 >/dev/null | cut -d, -f1,3; }
of() { awk -F, -v n="$1" '$2 == n { print $1 }' "$2"; }
# Runs with one and two rounds: the difference is one round over 16 MB, 262,144 lines. L3 has 6 MB.
pending=unc_arb_trk_occupancy
for n in 1 2; do
	count --core skylake -e unc_arb_trk_requests.all,unc_arb_trk_requests.writes,unc_cbo_cache_lookup.read_i,\
uncore_imc/data_reads/ \
		-e uncore_cbox/event=0x34,umask=0x18,name=all/,uncore_cbox_0/event=0x34,umask=0x18,name=box0/ \
		-e uncore_cbox_1/event=0x34,umask=0x18,name=box1/,cbox_2/event=0x34,umask=0x18,name=box2/ \
		-e uncore_cbox_3/event=0x34,umask=0x18,name=box3/ -e $pending.all,$pending.data_read \
		"$PROGRAMS/stream" read 16384 $n >r$n
	count --core skylake -e unc_arb_trk_requests.writes,$pending.all,$pending.data_read "$PROGRAMS/stream" write \
		16384 $n >w$n
	count --core skylake -e unc_cbo_cache_lookup.read_mesi,unc_cbo_cache_lookup.read_i "$PROGRAMS/stream" read \
		3072 $n >h$n
	count --core golden-cove \
		-e unc_m_cas_count.rd,unc_m_cas_count.wr,unc_m_act_count.all,unc_cha_llc_lookup.all,\
uncore_imc_free_running/read/ \
		"$PROGRAMS/stream" read 65536 $n >g$n
done
diff_of() { echo $(($(of "$1" "${2}2") - $(of "$1" "${2}1"))); }
within "a read of 16 MB looks up each line in L3 and misses" "$(diff_of unc_cbo_cache_lookup.read_i r)" 262144 1
within "a read of 16 MB reads each line from memory" "$(diff_of unc_arb_trk_requests.all r)" 262144 3
within "a write of 16 MB writes each line back" "$(diff_of unc_arb_trk_requests.writes w)" 262144 3
within "what is under way for loads is data reads" "$(diff_of $pending.data_read r)" "$(diff_of $pending.all r)" 1
check "what is under way for stores is reads for ownership, too" \
	[ "$(diff_of $pending.data_read w)" -lt "$(diff_of $pending.all w)" ]
within "uncore_imc/data_reads/ counts MiB" \
	"$(awk -v a="$(of uncore_imc/data_reads/ r1)" -v b="$(of uncore_imc/data_reads/ r2)" \
	'BEGIN { print b - a }')" 16 1
sum=0
for box in 0 1 2 3; do
	n=$(of box$box r2)
	within "L3 slice $box has a quarter of the lookups" "$n" "$(($(of unc_cbo_cache_lookup.read_i r2) / 4))" 5
	sum=$((sum + n))
done
nonzero "the slices' counts add up to the total" \
	"$([ $sum = "$(of all r2)" ] && [ $sum = "$(of unc_cbo_cache_lookup.read_i r2)" ] && echo 1)"
within "a read of 3 MB looks up each line in L3" "$(diff_of unc_cbo_cache_lookup.read_mesi h)" 49152 2
nonzero "a read of 3 MB hits in L3: $(diff_of unc_cbo_cache_lookup.read_i h) misses" \
	"$([ "$(diff_of unc_cbo_cache_lookup.read_i h)" -lt 500 ] && echo 1)"
within "golden-cove: a read of 64 MB reads each line from memory" "$(diff_of unc_m_cas_count.rd g)" 1048576 1
nonzero "DRAM rows are opened for few of the reads: $(diff_of unc_m_act_count.all g)" \
	"$([ "$(diff_of unc_m_act_count.all g)" \
	-gt 8191 ] && [ "$(diff_of unc_m_act_count.all g)" -lt 300000 ] && echo 1)"

# Sapphire Rapids: events of which one must equal another, or their sum.
cha=unc_cha_tor_inserts.ia unc=unc_cha_requests
count --core golden-cove -e $cha,${cha}_hit,${cha}_miss,$unc.reads,$unc.writes,unc_cha_llc_lookup.all \
	-e unc_m_cas_count.all,unc_m_cas_count.pch0,unc_m_cas_count.pch1,unc_m_cas_count.rd,unc_m_cas_count.wr \
	-e unc_cha_llc_lookup.flush_inv,${cha}_miss_drd,unc_cha_tor_occupancy.ia_miss_drd "$PROGRAMS/stream" write \
	65536 1 >s

same "requests of the cores hit or miss" "$(of $cha s)" "$(($(of ${cha}_hit s) + $(of ${cha}_miss s)))"
same "all lookups of L3 are requests of the cores" "$(of $cha s)" "$(of unc_cha_llc_lookup.all s)"
same "reads that miss all caches come from memory" "$(of $unc.reads s)" "$(of unc_m_cas_count.rd s)"
same "writes that pass L3 go to memory" "$(of $unc.writes s)" "$(of unc_m_cas_count.wr s)"
same "two halves make a channel" "$(($(of unc_m_cas_count.pch0 s) + $(of unc_m_cas_count.pch1 s)))" \
	"$(of unc_m_cas_count.all s)"
within "a sweep uses both halves" "$(of unc_m_cas_count.pch0 s)" "$(of unc_m_cas_count.pch1 s)" 1
nonzero "nothing is flushed" "$([ "$(of unc_cha_llc_lookup.flush_inv s)" = 0 ] && echo 1)"
# 2,500 MHz: at least 45 ns, the latency of an open row, and less than 300 ns
each=$(($(of unc_cha_tor_occupancy.ia_miss_drd s) / $(of ${cha}_miss_drd s)))
nonzero "a missing data read is under way for $each uncore cycles" "$([ $each -gt 112 ] && [ $each -lt 750 ] && echo 1)"
for n in 10000 12000; do
	count --core golden-cove -e unc_cha_llc_lookup.flush_inv "$PROGRAMS/flush" clflush $n >f$n
done
for n in 10000 12000; do
	count --core golden-cove -e unc_m_cas_count.rd_underfill "$PROGRAMS/flush" movnti $n >u$n
done
within "each store of a part of a line past the caches reads the rest" "$(($(of unc_m_cas_count.rd_underfill u12000) -
	$(of unc_m_cas_count.rd_underfill u10000)))" 2000 1
events=unc_m_pre_count.pgt,unc_cha_core_snp.evict_one
same "no row is closed and no entry evicted by default" "$(count --core golden-cove -e $events "$PROGRAMS/stream" read \
	4096 1 | cut -d, -f1 | tr '\n' ' ')" "0 0 "
count --core golden-cove --set dram.row_close_ns=1000 --set l3.filter=1M -e $events,unc_cha_core_snp.evict_gtone \
	"$PROGRAMS/stream" read 4096 1 >p
nonzero "dram.row_close_ns closes rows: $(of unc_m_pre_count.pgt p)" "$(of unc_m_pre_count.pgt p)"
# 4 MB in 1 MB: nearly each of the 65,536 lines evicts one, when they are first written
holds "l3.filter evicts lines" "$(of unc_cha_core_snp.evict_one p) > 49152"
same "one thread's lines are in one core" "$(of unc_cha_core_snp.evict_gtone p)" 0
within "each CLFLUSH looks L3 up" "$(($(of unc_cha_llc_lookup.flush_inv f12000) -
	$(of unc_cha_llc_lookup.flush_inv f10000)))" 2000 1

# Clocks.
count --core skylake -e unc_clock.socket,cycles:u,uncore_cbox_0/clockticks/ "$PROGRAMS/stream" read 64 1 >c
nonzero "unc_clock.socket counts the cycles of a single thread" \
	"$([ "$(of unc_clock.socket c)" = "$(of cycles:u c)" ] && echo 1)"
nonzero "uncore_cbox_0/clockticks/ equals unc_clock.socket" \
	"$([ "$(of unc_clock.socket c)" = "$(of uncore_cbox_0/clockticks/ c)" ] && echo 1)"
count --core golden-cove -e unc_m_clockticks,duration_time "$PROGRAMS/stream" read 64 1 >c
within "unc_m_clockticks counts eight channels at 2400 MHz" \
	"$(of unc_m_clockticks c)" "$(awk -v d="$(of duration_time:u c)" \
	'BEGIN { print d * 19.2 }')" 0.1

# Determinism, threads, intervals.
for n in 1 2; do count --core golden-cove -e unc_cha_llc_lookup.all,unc_cha_core_snp.core_one,unc_m_cas_count.all \
	"$PROGRAMS/threads" pingpong 300 >t$n; done
nonzero "two runs count the same" "$(cmp t1 t2 && echo 1)"
nonzero "threads of one machine snoop each other: $(of unc_cha_core_snp.core_one t1)" \
	"$(of unc_cha_core_snp.core_one t1)"
# Loads of lines that another core has dropped, without prefetches and page walks. The threads' own lines add a snoop or
# two, by where the environment puts the stack.
vain=unc_cbo_xsnp_response
off="--set prefetch.l2_adjacent=0 --set prefetch.l2_streamer=0 --set memory.page=2M"
for core in skylake ivy-bridge; do
	load=mem_load_l3_hit_retired.xsnp_miss
	[ $core = skylake ] || load=mem_load_uops_llc_hit_retired.xsnp_miss
	for n in 1000 3000; do
		# shellcheck disable=SC2086	# several words
		count --core $core $off --set prefetch.l1d_next_line=0 --set prefetch.l1d_ip=0 \
			-e $load:u,$vain.miss_xcore "$PROGRAMS/threads" stale $n >v$n
	done
	within "$core: each load of a line that another core dropped snoops it in vain" \
		"$(($(of $vain.miss_xcore v3000) - $(of $vain.miss_xcore v1000)))" 2000 0.1
	within "$core: the loads say so, too" "$(($(of $load:u v3000) - $(of $load:u v1000)))" 2000 0.1
done
# Each load that hits L3 has one answer of the other cores.
for table in sandy-bridge ivy-bridge haswell broadwell skylake ice-lake golden-cove; do
	answers="hit hitm" set=
	case $table in
	sandy-bridge | ivy-bridge) kind=mem_load_uops_llc_hit_retired all=mem_load_uops_retired.llc_hit ;;
	haswell | broadwell) kind=mem_load_uops_l3_hit_retired all=mem_load_uops_retired.l3_hit ;;
	*) kind=mem_load_l3_hit_retired all=mem_load_retired.l3_hit ;;
	esac
	[ $table != golden-cove ] || answers="fwd no_fwd"
	[ $table = ivy-bridge ] || set="--set l3.inclusion=inclusive"
	events=$all
	for answer in none miss $answers; do events=$events,$kind.xsnp_$answer; done
	# shellcheck disable=SC2086	# two words
	count --pmu $table $set -e $events "$PROGRAMS/threads" stale 1000 >v
	nonzero "$table: loads say that a snoop was in vain" "$(of $kind.xsnp_miss:u v)"
	same "$table: the answers of loads add up to those that hit L3" \
		"$(awk -F, '/xsnp/ { n += $1 } END { print n }' v)" "$(of $all:u v)"
done
count --core skylake --set l3.size=768K -e $vain.miss_xcore,$vain.miss_eviction,core_snoop_response.rsp_ihiti:u \
	"$PROGRAMS/threads" stale 3000 >v
nonzero "evictions snoop in vain, too: $(of $vain.miss_eviction v)" "$(of $vain.miss_eviction v)"
same "snoops in vain are the answers of cores that had nothing" "$(of core_snoop_response.rsp_ihiti:u v)" \
	"$(($(of $vain.miss_xcore v) + $(of $vain.miss_eviction v)))"
"$SOFTPMU" stat --core skylake -x, -I 0.05 -e unc_arb_trk_requests.all -o i "$PROGRAMS/stream" read 2048 1 >/dev/null
total=$(count --core skylake -e unc_arb_trk_requests.all "$PROGRAMS/stream" read 2048 1 | cut -d, -f1)
nonzero "the intervals' counts add up to the total" \
	"$([ "$(awk -F, '!/^#/ { s += $2 } END { print s }' i)" = "$total" ] &&
	[ "$(wc -l <i)" -gt 3 ] && echo 1)"

# Refusals, in one line.
refuse_run() {	# CLAIM PATTERN ARGUMENT...: refused, and the program does not run
	claim=$1 pattern=$2; shift 2
	rm -f ran
	refuse "$claim" "$pattern" "$SOFTPMU" "$@" touch ran
	check "$claim: the program did not run" [ ! -e ran ]
}
uncounted "a core without an uncore PMU" "are not modelled" \
	"$SOFTPMU" stat --core core2 -e unc_cbo_cache_lookup.any_mesi "$PROGRAMS/reps"
refuse_run "counts per thread" "per-thread" stat --core skylake --per-thread -e unc_arb_trk_requests.all
refuse_run "counts per region" "per-region" stat --core skylake --per-region -e unc_arb_trk_requests.all
refuse_run "counts in one region" "region" stat --core skylake --region x -e unc_arb_trk_requests.all
refuse_run "the modifier u" "modifier" stat --core skylake -e unc_arb_trk_requests.all:u
refuse_run "a precise event" "precise" stat --core skylake -e unc_arb_trk_requests.all:pp
refuse_run "a precise event given by its code" "precise" stat --core skylake -e uncore_arb/event=0x81,umask=1/pp
refuse_run "sampling" "count for the whole machine" record --core skylake -e unc_arb_trk_requests.all
uncounted "an event that is not modelled" "not modelled" \
	"$SOFTPMU" stat --core skylake -e unc_cbo_xsnp_response.miss_external "$PROGRAMS/reps"
uncounted "the code of an event that is not modelled" "not modelled" \
	"$SOFTPMU" stat --core skylake -e uncore_cbox/event=0x22,umask=0x21/ "$PROGRAMS/reps"
uncounted "lookups of one clean state alone" "not modelled" \
	"$SOFTPMU" stat --core skylake -e uncore_cbox/event=0x34,umask=0x82/ "$PROGRAMS/reps"
refuse_run "a misspelt name" "nearest: UNC_ARB_TRK_REQUESTS" stat --core skylake -e unc_arb_trk_request.all
refuse_run "a box that the machine does not have" "has 4" stat --core skylake -e uncore_cbox_4/event=0x34,umask=0x8f/
uncounted "a PMU of another machine" "uncore_cbox" \
	"$SOFTPMU" stat --core skylake -e uncore_cha/event=0x34,umask=0xff/ "$PROGRAMS/reps"
refuse_run "an unknown term" "known:" stat --core skylake -e uncore_cbox/event=0x34,filter_tid=3/
exit $failed
