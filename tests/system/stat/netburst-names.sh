#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# NetBurst's events by every spelling: what one counts never depends on the others that are counted beside it; masks,
# fields, perf's config and what tags can be written out (docs/reference/events.md).
. "$TOP/tests/lib.sh"
"$SOFTPMU" trace -q -o stream -- awk 'BEGIN { for (i = 0; i < 99; i++) s += i / 7; print s }' >/dev/null || exit 1
for core in willamette prescott; do
	count() { "$SOFTPMU" stat -x, --core $core --replay stream -e "$1" 2>&1 | cut -d, -f1,3; }
	of() { count "$1" | cut -d, -f1; }
	"$SOFTPMU" list --core $core -j | grep '"modelled": true' | sed -n 's/^{"name": "\([^"]*\)".*/\1/p' | grep -E \
		'front_end|execution_event|replay_event|instr_retired|memory_|_retired$' >names
	count "$(paste -sd, names)" >together
	# alone, each of those that differ in more than the number of their tag
	while read -r name; do
		case $name in *BOGUS[123]*) grep ",$name:u" together ;; *) count "$name" ;; esac
	done <names >alone
	same_files "$core: $(wc -l <names) events that look at tags count the same alone and together" together alone
	count "$(tac names | paste -sd, -)" | tac >backwards
	same_files "$core: and in the other order" together backwards
	[ $core = prescott ] && break	# it differs in two events

	fp='execution_event.NBOGUS0:up=scalar_DP_uop'
	same "$core: $fp is scalar_DP_retired" "$(of $fp)" "$(of scalar_DP_retired)"
	nonzero "$core: which is not 0: $(of $fp)" "$(of $fp)"
	same "$core: every tag counts the same" "$(of execution_event.NBOGUS1:NBOGUS3:up=scalar_DP_uop)" "$(of $fp)"
	same "$core: front_end_event counts loads and stores" "$(of front_end_event.NBOGUS)" \
		"$(($(of memory_loads) + $(of memory_stores)))"
	same "$core: or what up= says" "$(of front_end_event.NBOGUS:up=uop_type.TAGSTORES)" "$(of memory_stores)"
	same "$core: instructions with and without a load are all" \
		"$(($(of instr_retired.NBOGUSTAG:up=memory_loads) + $(of instr_retired.NBOGUSNTAG:up=memory_loads)))" \
		"$(of instr_retired.NBOGUSNTAG)"
	same "$core: an event that tags counts what it counts without" "$(of scalar_DP_uop:ALL:TAG0)" \
		"$(of scalar_DP_uop)"

	sum=0
	for way in MMNP MMNM MMTP MMTM; do sum=$((sum + $(of branch_retired.$way))); done
	same "$core: several mask bits count their sum" "$(of branch_retired.MMNP:MMNM:MMTP:MMTM)" $sum
	two=$(($(of branch_retired.MMNM) + $(of branch_retired.MMTM)))
	for name in branch_retired.MMNM:MMTM branch_retired:MMTM:MMNM:u 'cpu/event=0x29,umask=0xa/' \
		'cpu/branch_retired.MMNM:MMTM/' r5200140000000000 'cpu/config=0x5200140000000000/' \
		'cpu/escr=0x52001400,cccr=0x30000/'; do
		same "$core: $name" "$(of "$name")" $two
	done
	holds "$core: thr= counts cycles with more, cmpl those with fewer" \
		"$(of uops_retired.NBOGUS:thr=1) + $(of uops_retired.NBOGUS:thr=1:cmpl) >= $(of cycles) && \
		$(of uops_retired.NBOGUS:thr=2) < $(of uops_retired.NBOGUS:thr=1)"
	same "$core: thr=1 is cmask=2" "$(of uops_retired.NBOGUS:thr=1)" "$(of cpu/uops_retired.NBOGUS,cmask=2/)"
	holds "$core: edge counts beginnings" \
		"$(of uops_retired.NBOGUS:thr=1:edge) < $(of uops_retired.NBOGUS:thr=1)"
done
names=$("$SOFTPMU" list --core willamette -j | sed -n 's/^{"name": "\([^":]*\):up=.*/\1/p')
check "there are rows that need to be told what tags" [ "$(echo "$names" | wc -l)" -eq 12 ]
for name in $names; do
	refuse "$name without up=" "as in $name:up=" "$SOFTPMU" stat --core willamette --replay stream -e "$name"
done
refuse "record without up=" "as in $name:up=" \
	"$SOFTPMU" record -q --core willamette --replay stream -c 100 -o data -e "$name"
refuse "the registers without up=" "as in $name:up=" "$SOFTPMU" msr --pmu netburst -e "$name"
"$SOFTPMU" msr --pmu netburst -e execution_event.NBOGUS0:up=scalar_DP_uop >recipe
has "the recipe has an ESCR that tags" 'FIRM_ESCR.*scalar_DP_uop.ALL tags uops' recipe
"$SOFTPMU" record -q --core willamette --replay stream -c 10 -o data -e execution_event.NBOGUS0:up=scalar_DP_uop:p &&
	"$SOFTPMU" report -i data >report
nonzero "a tagged event that is told what tags has samples" "$(grep -c '%' report)"

# The third-level cache of a Xeon MP: not supported on cores without one, in sums as well, and listed so.
for core in willamette prescott; do
	for row in RD_3rdL_HITS RD_3rdL_HITE RD_3rdL_HITM RD_3rdL_MISS RD_2ndL_HITS:RD_3rdL_HITS; do
		uncounted "$core has no third-level cache: $row" "no third-level cache (l3.size = 0); --set l3.size=N" \
			"$SOFTPMU" stat --core $core -e BSQ_cache_reference.$row "$PROGRAMS/reps"
	done
	same "$core: list marks its four events" "$("$SOFTPMU" list --core $core -j |
		grep -c '_3rdL_[A-Z]*".*"modelled": false')" 4
	"$SOFTPMU" stat --core $core --set l3.size=512K -x, -e BSQ_cache_reference.RD_3rdL_MISS "$PROGRAMS/reps" \
		>/dev/null 2>l3
	nonzero "$core with --set l3.size: misses count" "$(cut -d, -f1 l3)"
	check "$core: what the second-level cache does counts" \
		"$SOFTPMU" stat --core $core -e cache-references,cache-misses "$PROGRAMS/reps"
done
exit $failed
