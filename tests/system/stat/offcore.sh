#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# MSR_OFFCORE_RSP_0 and _1 in `softpmu stat`: the answers to requests beyond L2 agree with the events that count the
# same requests otherwise; the program every_event makes some of each kind. Also what is refused.
. "$TOP/tests/lib.sh"
"$SOFTPMU" trace -q -o stream -- "$PROGRAMS/every_event" threads cache_control >out 2>&1 </dev/null
count() { "$SOFTPMU" stat --replay stream -x, "$@" 2>&1 >/dev/null | cut -d, -f1,3; }
of() { awk -F, -v n="$1:u" 'tolower($2) == n { print $1 }' counts; }

# One page holds all data: no page walk reads memory, which OFFCORE_RESPONSE counts among the demand reads.
name=offcore_response
count --core skylake --set memory.page=1G -e $name.demand_data_rd.l3_miss.any_snoop,\
$name.demand_data_rd.l3_miss_local_dram.any_snoop,offcore_requests.l3_miss_demand_data_rd,\
$name.demand_rfo.any_response,$name.demand_rfo.l3_hit.any_snoop,$name.demand_rfo.l3_miss.any_snoop >counts
miss=$(of offcore_requests.l3_miss_demand_data_rd)
nonzero "demand reads miss L3" "$miss"
within "DEMAND_DATA_RD.L3_MISS counts them" "$(of $name.demand_data_rd.l3_miss.any_snoop)" "$miss" 1
same "memory of the one socket answers them" "$(of $name.demand_data_rd.l3_miss_local_dram.any_snoop)" \
	"$(of $name.demand_data_rd.l3_miss.any_snoop)"
nonzero "requests for ownership leave L2" "$(of $name.demand_rfo.any_response)"
same "L3's and memory's answers are all answers to them" \
	"$(($(of $name.demand_rfo.l3_hit.any_snoop) + $(of $name.demand_rfo.l3_miss.any_snoop)))" \
	"$(of $name.demand_rfo.any_response)"

# What OFFCORE_REQUESTS counts is what was sent, on every machine that has it: a request that finds its line under way
# for another request misses L2 and sends nothing. The requests outstanding (of which Core 2's bus events count the
# first cycles) are the same ones. OFFCORE_RESPONSE counts page walks among the demand reads.
R=offcore_requests
count --core skylake -e $R.demand_rfo,$R.demand_code_rd,$R.demand_data_rd,$R.all_data_rd,$name.demand_rfo.any_response,\
$name.demand_code_rd.any_response,$name.demand_data_rd.any_response,l2_rqsts.rfo_miss,\
cpu/event=0xb7,umask=1,offcore_rsp=0x10411,name=reads/ >counts
count --core skylake --pmu core2 -e bus_trans_rfo.self,bus_trans_ifetch.self,bus_trans_brd.self >>counts
reads=$(awk -F, '$2 ~ /^reads/ { print $1 }' counts)
nonzero "reads for ownership are sent" "$(of $R.demand_rfo)"
same "reads for ownership" "$(of $R.demand_rfo) $(of bus_trans_rfo.self)" \
	"$(of $name.demand_rfo.any_response) $(of $name.demand_rfo.any_response)"
check "some find the line under way ($(of $R.demand_rfo) of $(of l2_rqsts.rfo_miss))" \
	[ "$(of $R.demand_rfo)" -lt "$(of l2_rqsts.rfo_miss)" ]
same "code reads" "$(of $R.demand_code_rd) $(of bus_trans_ifetch.self)" \
	"$(of $name.demand_code_rd.any_response) $(of $name.demand_code_rd.any_response)"
same "data reads with prefetches and page walks" "$(of $R.all_data_rd) $(of bus_trans_brd.self)" \
	"$reads $((reads + $(of $R.demand_code_rd)))"
check "demand data reads are those of OFFCORE_RESPONSE without page walks" \
	[ "$(of $R.demand_data_rd)" -le "$(of $name.demand_data_rd.any_response)" ]
within "which are few here" "$(of $R.demand_data_rd)" "$(of $name.demand_data_rd.any_response)" 2
same "the other PMUs count the same requests on this core" \
	"$(for p in sandy-bridge ivy-bridge haswell broadwell ice-lake; do
		count --core skylake --pmu "$p" -e $R.demand_rfo,$R.demand_data_rd,$R.all_data_rd
	done | sort -u)" \
	"$(grep -E "$R.(demand_rfo|demand_data_rd|all_data_rd):" counts | sort -u)"
codes=$(of $R.demand_code_rd)
count --core skylake --pmu nehalem -e \
	$R.demand_rfo,$R.any_rfo,$R.demand_read_data,$R.demand_read_code,$R.any_read >nehalem
same "Nehalem's, too" "$(cut -d, -f1 nehalem | tr '\n' ' ')" "$(of $R.demand_rfo) $(of $R.demand_rfo) \
$(of $R.demand_data_rd) $(of $R.demand_code_rd) $((reads + $(of $R.demand_code_rd))) "
count --core golden-cove --set memory.page=1G -e $R.data_rd,$R.demand_data_rd,ocr.demand_data_rd.any_response,\
cpu/event=0x2a,umask=1,offcore_rsp=0x14411,name=reads/ >counts
same "golden-cove: data reads with prefetches and page walks" "$(of $R.data_rd)" \
	"$(awk -F, '$2 ~ /^reads/ { print $1 }' counts)"
within "golden-cove: demand data reads" "$(of $R.demand_data_rd)" "$(of ocr.demand_data_rd.any_response)" 2

# The answers of L3 and of memory are all answers; a raw value is the event of the same value.
count --core golden-cove -e ocr.demand_data_rd.l3_hit,ocr.demand_data_rd.l3_miss,ocr.demand_data_rd.any_response,\
ocr.demand_data_rd.l3_hit.snoop_hitm,ocr.demand_data_rd.dram,mem_load_l3_hit_retired.xsnp_fwd \
	-e cpu/event=0x2b,umask=1,offcore_rsp=0x10003c0001,name=raw/ >counts
same "L3's and memory's answers are all answers" \
	"$(($(of ocr.demand_data_rd.l3_hit) + $(of ocr.demand_data_rd.l3_miss)))" \
	"$(of ocr.demand_data_rd.any_response)"
nonzero "other cores answer with modified lines" "$(of ocr.demand_data_rd.l3_hit.snoop_hitm)"
same "OFFCORE_RESPONSE_1 with the same value counts the same" "$(awk -F, '$2 ~ /^raw/ { print $1 }' counts)" \
	"$(of ocr.demand_data_rd.l3_hit.snoop_hitm)"
# Two loads may wait for one request.
within "loads that retire see as many modified lines" "$(of mem_load_l3_hit_retired.xsnp_fwd)" \
	"$(of ocr.demand_data_rd.l3_hit.snoop_hitm)" 5

# Every generation's register selects the same requests, each with its own bits; libpfm4 spells them.
while read -r pmu libpfm code l3 memory; do
	o=$libpfm::offcore_response_0
	count --core skylake --pmu "$pmu" \
		-e "$R.demand_rfo,$o:dmnd_rfo,$o:$code,$o:dmnd_rfo:$l3,$o:dmnd_rfo:$memory" >counts
	same "$pmu: reads for ownership are those of OFFCORE_REQUESTS" "$(of "$o:dmnd_rfo")" "$(of $R.demand_rfo)"
	same "$pmu: L3's and memory's answers are all" "$(($(of "$o:dmnd_rfo:$l3") + $(of "$o:dmnd_rfo:$memory")))" \
		"$(of $R.demand_rfo)"
	same "$pmu: code reads" "$(of "$o:$code")" "$codes"
done <<-END
	nehalem nhm dmnd_ifetch uncore_hit:other_core_hit_snp:other_core_hitm local_dram
	sandy-bridge snb dmnd_ifetch llc_hitmesf:snp_any llc_miss_local:snp_any
	ivy-bridge ivb dmnd_ifetch llc_hitmesf:snp_any llc_miss_local:snp_any
	haswell hsw dmnd_code_rd l3_hit:snp_any l3_miss_local:snp_any
	broadwell bdw dmnd_code_rd l3_hit:snp_any l3_miss_local:snp_any
END
count --core skylake --pmu ice-lake -e ocr.demand_rfo_any_response,ocr.demand_code_rd_any_response >counts
same "ice-lake: code reads" "$(of ocr.demand_code_rd_any_response)" "$codes"

# What other cores had: each request that L3 answers has one response. A core that dropped a line is asked in vain:
# `threads stale N` makes N such loads (uncore.sh).
list=
for kind in data_rd rfo code_rd; do
	for snoop in any_snoop snoop_not_needed snoop_miss snoop_hit_no_fwd snoop_hitm; do
		list=$list,$name.demand_$kind.l3_hit.$snoop
	done
done
count --core skylake -e "${list#,}" >counts
for kind in data_rd rfo code_rd; do
	l3=$name.demand_$kind.l3_hit
	nonzero "$kind: cores are asked in vain" "$(of $l3.snoop_miss)"
	same "$kind: nobody asked, in vain, clean and modified are all" "$(of $l3.any_snoop)" \
		"$(($(of $l3.snoop_not_needed) + $(of $l3.snoop_miss) + $(of $l3.snoop_hit_no_fwd) +
			$(of $l3.snoop_hitm)))"
done
for n in 1000 3000; do
	"$SOFTPMU" stat -x, --core skylake --set prefetch.l2_adjacent=0 --set prefetch.l2_streamer=0 \
		--set memory.page=2M --set prefetch.l1d_next_line=0 --set prefetch.l1d_ip=0 \
		-e $name.demand_data_rd.l3_hit.snoop_miss "$PROGRAMS/threads" stale $n 2>stale$n >/dev/null </dev/null
done
within "each load of a line that another core dropped asks it in vain" \
	"$(($(cut -d, -f1 stale3000) - $(cut -d, -f1 stale1000)))" 2000 0.2
"$SOFTPMU" stat --replay stream -e cpu/event=0x2a,umask=1,offcore_rsp=0x2003c0001,name=vain/ 2>err
check "an L3 that hears of every line that leaves L2 asks nobody in vain, and stat says so" \
	grep -q 'vain.* is 0: only an inclusive L3' err
"$SOFTPMU" stat --replay stream --set l3.inclusion=inclusive \
	-e cpu/event=0x2a,umask=1,offcore_rsp=0x2003c0001,name=vain/ 2>err
check "an inclusive one does" sh -c '! grep -q "is 0" err && ! grep -q " 0  *vain" err'

# Two values at the same time, by the two registers of one PMU; three are too many.
while read -r core one two three other; do
	count --core "$core" -e "$one,$two" >counts
	count --core "$core" --one-pmu -e "{$one,$two}" >together
	nonzero "$core: the second value counts" "$(of "$two")"
	same "$core: two values count on one PMU as on two" "$(cat together)" "$(cat counts)"
	refuse "$core: three values on one PMU" "does not fit on one PMU" \
		"$SOFTPMU" stat --core "$core" --one-pmu -e "{$one,$two,$three}" true
	count --core "$core" -e "$other" >alone
	count --core "$core" --one-pmu -e "{$one,$other}" >together
	same "$core: an event of the second register makes room" "$(sed -n 2p together)" "$(cat alone)"
done <<-END
	skylake $name.demand_data_rd.any_response $name.demand_rfo.any_response $name.demand_code_rd.any_response \
		cpu/event=0xbb,umask=1,offcore_rsp=0x10002/
	golden-cove ocr.demand_data_rd.any_response ocr.demand_rfo.any_response ocr.demand_code_rd.any_response \
		cpu/event=0x2b,umask=1,offcore_rsp=0x10002/
END
"$SOFTPMU" record -q --core skylake -e $name.demand_data_rd.any_response -e $name.demand_rfo.any_response \
	-c 500 -o two.data --replay stream >/dev/null 2>err || cat err
for e in demand_data_rd demand_rfo; do
	check "$e has samples when both are sampled" sh -c \
		"perf script -i two.data -F event 2>/dev/null | grep -qi $e"
done

# libpfm4's unit masks, with its PMU's name and without, are the raw value that libpfm4 makes of them.
E=offcore_response_0:dmnd_rfo:l3_miss_local:snp_any
count --core skylake -e skl::$E,$E:c=1:u,cpu/event=0xb7,umask=1,offcore_rsp=0x3f84000002,name=raw/ >counts
nonzero "libpfm4's unit masks count" "$(of skl::$E)"
same "they are the same raw value" "$(of skl::$E)" "$(awk -F, '$2 ~ /^raw/ { print $1 }' counts)"
check "libpfm4's attributes go with them" [ "$(of $E:c=1)" -gt 0 -a "$(of $E:c=1)" -le "$(of skl::$E)" ]
refuse "a unit mask that libpfm4 does not know" "no unit mask 'NOBODY'" \
	"$SOFTPMU" stat --core skylake -e skl::OFFCORE_RESPONSE_0:DMND_RFO:NOBODY true
refuse "an attribute that the PMU has no bit for" "select nothing" \
	"$SOFTPMU" stat --core skylake -e skl::OFFCORE_RESPONSE_0:DMND_RFO:intx=1 true

uncounted "memory of other sockets" "one socket" \
	"$SOFTPMU" stat --core golden-cove -e OCR.READS_TO_CORE.REMOTE_DRAM true
uncounted "another cluster's caches" "not divided into clusters" \
	"$SOFTPMU" stat --core golden-cove -e OCR.DEMAND_RFO.SNC_CACHE.HITM true
uncounted "persistent memory" "DRAM only" \
	"$SOFTPMU" stat --core golden-cove -e OCR.READS_TO_CORE.LOCAL_SOCKET_PMM true
uncounted "one clean state of L3" "not told apart" \
	"$SOFTPMU" stat --core skylake -e cpu/event=0xb7,umask=1,offcore_rsp=0x3fc0080001/ true
refuse "reserved bits" "reserved bits.*#GP" \
	"$SOFTPMU" stat --core skylake -e cpu/event=0xb7,umask=1,offcore_rsp=0x4000010001/ true
refuse "a value without a request" "names no request" \
	"$SOFTPMU" stat --core skylake -e cpu/event=0xb7,umask=1,offcore_rsp=0x10000/ true
uncounted "what Linux writes on a Sandy Bridge or Ivy Bridge client" "Linux writes reserved bits" \
	"$SOFTPMU" stat --core ivy-bridge -e LLC-load-misses true
uncounted "flushes and bus locks with an answer of memory" "nobody sends data for such a request" \
	"$SOFTPMU" stat --pmu ice-lake -e OCR.OTHER_LOCAL_DRAM true
exit $failed
