#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Precise sampling: Sprunt's Pentium 4 experiment (tests/programs/l1_miss.S); data addresses and registers of the
# samples against what the program does.
. "$TOP/tests/lib.sh"
samples() {	# FILE FIELDS: each distinct line with its number of samples
	perf script -i "$1" -F "$2" 2>/dev/null | awk '{ $1 = $1; n[$0]++ } END { for (k in n) print n[k], k }' |
		sort -rn
}
program=$PROGRAMS/l1_miss
symbol() { nm "$program" | awk -v s="$1" '$3 == s { print $1 }'; }
load=$(symbol the_load | sed 's/^0*//')
first=$(symbol location | sed 's/^0*//')

if runs_32; then
	# willamette: a PEBS record has the address of the load itself and the registers before it; EAX holds the data
	# address, one of eight, 8 KB apart.
	"$SOFTPMU" record -q --core willamette -e replay_event.L1_LD_MISS:p -c 1000 -d -I -o pebs.data \
		"$program" || exit 1
	samples pebs.data ip >where
	check "PEBS on willamette: every sample is at the load ($(wc -l <where) places)" \
		[ "$(awk '{ print $2 }' where)" = "$load" ]
	samples pebs.data addr >addresses
	check "the samples have eight data addresses" [ "$(wc -l <addresses)" -eq 8 ]
	awk '{ print $2 }' addresses | sort >have
	i=0; while [ $i -lt 8 ]; do printf '%x\n' $((0x$first + 8192 * i)); i=$((i + 1)); done | sort >want
	check "the data addresses are the program's, 8 KB apart" cmp -s have want
	check "each data address has the same number of samples" \
		[ "$(awk 'NR == 1 || $1 < min { min = $1 } $1 > max { max = $1 }
			END { print (max - min <= 1) }' addresses)" \
		= 1 ]
	samples pebs.data addr,iregs | sed 's/.* \([0-9a-f]*\) ABI:[12] *AX:0x\([0-9a-f]*\) .*/\1 \2/' >eax
	check "EAX holds the data address before the load" [ "$(awk '$1 != $2' eax | wc -l)" -eq 0 ]

	# Imprecise: the samples lie behind the load, where lines of the trace cache begin, six loads (of 6 bytes)
	# apart.
	"$SOFTPMU" record -q --core willamette -e replay_event.L1_LD_MISS -c 1000 -o pmi.data "$program" || exit 1
	samples pmi.data ip |
		while read -r n ip; do echo "$n $(((0x$ip - 0x$load - 2) / 6 + 1))"; done | sort -k2n >where
	places=$(awk '{ printf " %d", $2 }' where)
	check "PMI on willamette: every sample is at least 65 loads behind the load:$places" \
		[ "$(awk 'NR == 1 { print ($2 >= 65) }' where)" = 1 ]
	check "PMI on willamette: there are several places, a multiple of six loads apart" \
		[ "$(awk 'NR == 1 { first = $2 } ($2 - first) % 6 { bad = 1 }
			END { print (NR > 1 && NR <= 4 && !bad) }' \
		where)" = 1 ]
fi

# Architectural PMUs: precise samples of L1 misses are at loads, with an address.
for core in skylake golden-cove ivy-bridge core2; do
	event=MEM_LOAD_RETIRED.L1_MISS
	case $core in ivy-bridge) event=MEM_LOAD_UOPS_RETIRED.L1_MISS ;; core2) event=MEM_LOAD_RETIRED.L1D_MISS ;; esac
	"$SOFTPMU" record -q --core $core -e $event:pp -c 97 -d -W -o arch.data sort /dev/null 2>err ||
		{ cat err; failed=1; continue; }
	perf script -i arch.data -F ip,addr,weight,data_src >list 2>/dev/null
	check "PEBS on $core: there are samples" [ -s list ]
	[ $core = core2 ] && continue		# its PEBS records have no data address
	[ $core = ivy-bridge ] && continue	# its PEBS records have one with the load latency event only
	check "$core: all samples are loads with an address" \
		[ "$(grep -cv 'OP LOAD' list)" -eq 0 -a "$(awk '$1 == "0"' list |
		wc -l)" -eq 0 ]
	check "$core: no sampled load hits L1" [ "$(grep -c 'L1 hit' list)" -eq 0 ]
done
"$SOFTPMU" record -q --core skylake -e cpu/mem-loads,ldlat=30/pp -c 20 -d -W -o lat.data sort /dev/null || failed=1
perf script -i lat.data -F weight >list 2>/dev/null
check "load latency: all samples are above the threshold" [ -s list -a "$(awk '$1 <= 30' list | wc -l)" -eq 0 ]
"$SOFTPMU" record -q --core skylake -e cycles:pp -c 10007 -o cycles.data sort /dev/null || failed=1
check "cycles:pp takes samples" [ "$(perf script -i cycles.data -F ip 2>/dev/null | wc -l)" -gt 5 ]
if runs_32; then
	# PDist: 8,080,000 loads. :pp records the load after the overflow; :ppp, on counter 0, the one that overflows.
	for p in pp ppp; do
		"$SOFTPMU" record -q --core golden-cove -e MEM_INST_RETIRED.ALL_LOADS:$p -c 1000 \
			-o pdist.data "$program" ||
			failed=1
		perf script -i pdist.data -F ip 2>/dev/null | wc -l >$p.samples
	done
	check ":pp takes a sample every 1,001 loads" [ "$(cat pp.samples)" -eq 8071 ]
	check ":ppp takes a sample every 1,000 loads" [ "$(cat ppp.samples)" -eq 8080 ]
	# :P selects the highest precision that the core has.
	ips() { "$SOFTPMU" record -q --core "$1" -e "$2" -c 20011 -o most.data "$program" &&
		perf script -i most.data -F ip 2>/dev/null; }
	ips golden-cove cycles:P >P; ips golden-cove cycles:ppp >ppp; ips golden-cove cycles >none
	check ":P is :ppp on golden-cove" cmp -s P ppp
	check ":P is not imprecise on golden-cove" [ "$(cmp -s P none; echo $?)" = 1 ]
	ips pentium3 cycles:P >P; ips pentium3 cycles >none
	check ":P is imprecise on pentium3, which has no PEBS" cmp -s P none
fi
# Refusals.
"$SOFTPMU" record --core pentium3 -e cycles:p -o no.data true 2>err && failed=1
check "a precise event on P6 is refused: it has no PEBS" grep -q PEBS err
"$SOFTPMU" stat -e cycles:p true 2>err && failed=1
check "stat refuses precise events" grep -q 'record' err
exit $failed
