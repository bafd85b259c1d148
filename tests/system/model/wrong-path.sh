#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# The wrong path: it executes uops that do not retire, and makes the right path faster or slower. It must not change
# what the program does nor what retires.
. "$TOP/tests/lib.sh"

# counts NAME OPTIONS...: runs softpmu stat and writes a line "event count" per event to the file NAME
counts() {
	file=$1; shift
	timeout 200 "$SOFTPMU" stat -x, -o "$file.csv" "$@" >"$file.out" 2>"$file.err" ||
		{ bad "softpmu stat $*" "$file.err"; }
	cut -d, -f1,3 "$file.csv" | sed 's/:u$//' | tr , ' ' | awk '{ print $2, $1 }' >"$file"
}
of() {	# NAME EVENT: prints the count
	awk -v e="$2" '$1 == e { print $2 }' "$1"
}

EVENTS=cycles,instructions,branches,branch-misses,uops_issued.any,uops_retired.slots,mem_inst_retired.all_loads,\
mem_inst_retired.all_stores
EVENTS=$EVENTS,mem_load_retired.l1_miss,mem_load_retired.l2_miss,mem_load_completed.l1_miss_any,l2_rqsts.all_demand_miss
for m in hard helps hurts; do
	counts $m.with --start $m -e "$EVENTS" --save-stream $m.stream -- "$PROGRAMS/wrongpath" $m 3000
	counts $m.without --start $m -e "$EVENTS" --no-wrong-path -- "$PROGRAMS/wrongpath" $m 3000
	is_same=$(cmp -s $m.with.out $m.without.out && echo 1 || echo 0)
	holds "$m: the program prints the same with and without the wrong path" "$is_same"
	for e in instructions branches branch-misses uops_retired.slots mem_inst_retired.all_loads \
		mem_inst_retired.all_stores; do
		holds "$m: $e does not depend on the wrong path" \
			"$(of $m.with $e) == $(of $m.without $e) && $(of $m.with $e) > 0"
	done
	holds "$m: without the wrong path, all issued uops retire" \
		"$(of $m.without uops_issued.any) == $(of $m.without \
		uops_retired.slots)"
	holds "$m: with the wrong path, more uops are issued than retire" \
		"$(of $m.with uops_issued.any) > 1.2 * $(of $m.with uops_retired.slots)"
	counts $m.again --start $m -e "$EVENTS" --replay $m.stream
	holds "$m: a replay of the stream counts the same" "$(cmp -s $m.with $m.again && echo 1 || echo 0)"
done

# Hard branches over a large working set: misses of executed loads against misses of retired loads.
holds "hard: without the wrong path, the loads that miss L1 are the ones that retire" \
	"$(of hard.without mem_load_completed.l1_miss_any) <= 1.05 * $(of hard.without mem_load_retired.l1_miss)"
holds "hard: with the wrong path, more loads miss L1 than misses retire" \
	"$(of hard.with mem_load_completed.l1_miss_any) > 1.25 * $(of \
	hard.with mem_load_retired.l1_miss)"
holds "hard: L2 has more misses than the retired loads" "$(of hard.with l2_rqsts.all_demand_miss) > 1.25 * $(of \
	hard.with mem_load_retired.l2_miss)"

# Stores of the wrong path execute, but none of them writes a cache line: the RFOs are as many as without it.
for way in "" --no-wrong-path; do
	counts stores$way $way --start stores -e uops_dispatched.port_4_9,mem_inst_retired.all_stores,l2_rqsts.all_rfo \
		-- "$PROGRAMS/wrongpath" stores 3000
done
is_same=$(cmp -s stores.out stores--no-wrong-path.out && echo 1 || echo 0)
holds "stores: the program reads only what the right path wrote" "$is_same"
holds "stores: without the wrong path, all executed stores retire" \
	"$(of stores--no-wrong-path uops_dispatched.port_4_9) == $(of \
	stores--no-wrong-path mem_inst_retired.all_stores)"
holds "stores: with the wrong path, more stores execute than retire" \
	"$(of stores uops_dispatched.port_4_9) > 1.25 * $(of stores \
	mem_inst_retired.all_stores)"
holds "stores: the wrong path writes no cache lines" \
	"$(of stores l2_rqsts.all_rfo) <= 1.005 * $(of stores--no-wrong-path \
	l2_rqsts.all_rfo) && $(of stores l2_rqsts.all_rfo) > 2500"

# The wrong path can prefetch for the right path, and it can evict the right path's lines.
holds "helps: the wrong path makes the right path faster" "$(of helps.with cycles) < 0.7 * $(of helps.without cycles)"
holds "helps: the right path's loads hit lines that the wrong path fetched" \
	"$(of helps.with mem_load_retired.l2_miss) < 0.5 * $(of helps.without \
	mem_load_retired.l2_miss)"
holds "hurts: the wrong path makes the right path slower" "$(of hurts.with cycles) > 1.05 * $(of hurts.without cycles)"
holds "hurts: the right path's loads miss lines that the wrong path evicted" \
	"$(of hurts.with mem_load_retired.l1_miss) > 5 * $(of hurts.without \
	mem_load_retired.l1_miss)"

# A wrong-path load whose address is unknown fetches its line if the right path reaches the same load later
# (wrong_path.converge).
MEETS=cycles,instructions,branch-misses,mem_load_retired.l2_miss,mem_load_completed.l1_miss_any
counts meets.on --start meets -e $MEETS --save-stream meets.stream -- "$PROGRAMS/wrongpath" meets 3000
counts meets.off --start meets -e $MEETS --feature wrong_path.converge=off --replay meets.stream
counts meets.never --start meets -e $MEETS --set wrong_path.converge=0 --replay meets.stream
counts meets.again --start meets -e $MEETS --replay meets.stream
holds "meets: half of the branches are mispredicted, with converge on and off" \
	"$(of meets.on branch-misses) > 1200 && $(of meets.on \
	branch-misses) == $(of meets.off branch-misses)"
holds "meets: the right path's loads hit lines that the wrong path fetched" \
	"$(of meets.on mem_load_retired.l2_miss) < 0.6 * $(of \
	meets.off mem_load_retired.l2_miss) && $(of meets.off mem_load_retired.l2_miss) > 2500"
holds "meets: converge makes the right path faster" "$(of meets.on cycles) < 0.93 * $(of meets.off cycles)"
holds "meets: --feature wrong_path.converge=off equals --set wrong_path.converge=0" \
	"$(cmp -s meets.off meets.never && echo 1 || echo 0)"
holds "meets: a replay of the stream counts the same" "$(cmp -s meets.on meets.again && echo 1 || echo 0)"

# Branches of the wrong path are counted when their outcome is known. Whether they are counted changes no other count.
FOUND=cycles,branch-misses,br_misp_exec.all_branches,br_misp_exec.any_cond,br_misp_exec.taken_cond,\
br_misp_exec.nontaken_cond
FOUND=$FOUND,br_inst_exec.all_branches,br_inst_exec.all_cond,br_inst_exec.taken_cond,br_inst_exec.nontaken_cond,branches
for m in known unknown; do
	counts $m --core ivy-bridge --start $m -e $FOUND --save-stream $m.stream -- "$PROGRAMS/wrongpath" $m 3000
	counts $m.right --core ivy-bridge --start $m -e $FOUND --no-wrong-path --replay $m.stream
	counts $m.cycles --core ivy-bridge --start $m -e cycles,branch-misses,branches --replay $m.stream
	for s in $m $m.right; do
		for e in inst misp; do
			# shellcheck disable=SC2086
			sum="$(of $s br_${e}_exec.taken_cond) + $(of $s br_${e}_exec.nontaken_cond)"
			all=$([ $e = inst ] && echo all || echo any)
			# shellcheck disable=SC2086
			holds "$s: br_${e}_exec is the sum of taken and not taken" \
				"$(of $s br_${e}_exec.${all}_cond) == $sum && $(of $s \
				br_${e}_exec.nontaken_cond) > 0"
		done
	done
	holds "$m: without the wrong path, all executed mispredicts retire" \
		"$(of $m.right br_misp_exec.all_branches) == $(of $m.right branch-misses)"
	holds "$m: with the wrong path, more branches execute than retire" \
		"$(of $m br_inst_exec.all_branches) > 1.25 * $(of $m branches)"
	holds "$m: the cycles do not depend on whether executed branches are counted" \
		"$(of $m cycles) == $(of $m.cycles cycles) && $(of $m \
		branch-misses) == $(of $m.cycles branch-misses)"
done
holds "known: mispredicts of the wrong path are counted" \
	"$(of known br_misp_exec.all_branches) > 1.5 * $(of known branch-misses)"
holds "unknown: fewer wrong-path mispredicts are counted" \
	"$(of known br_misp_exec.all_branches) - $(of known branch-misses) > 1.8 * ($(of \
	unknown br_misp_exec.all_branches) - $(of unknown branch-misses))"

# Page walks and TLB entries of the wrong path, and the features that switch them off.
WALKS=dtlb_load_misses.walk_completed,dtlb_load_misses.stlb_hit
counts walks.both --start hard -e $WALKS --replay hard.stream
counts walks.right --start hard -e $WALKS --no-wrong-path --replay hard.stream
counts walks.none --start hard --feature wrong_path.walks=off -e $WALKS --replay hard.stream
counts walks.kept --start hard --feature wrong_path.tlb=off -e $WALKS --replay hard.stream
walks=dtlb_load_misses.walk_completed
holds "walks: the wrong path makes page walks" "$(of walks.both $walks) > 1.2 * $(of walks.right $walks)"
holds "walks: with wrong_path.walks=off only the right path makes page walks" \
	"$(of walks.none $walks) <= 1.02 * $(of walks.right \
	$walks) && $(of walks.none $walks) > 100"
holds "tlb: with wrong_path.tlb=off the same pages are walked again" \
	"$(of walks.kept $walks) > 1.2 * $(of walks.both $walks)"

# NetBurst counts uops that retire (nbogus) and squashed uops (bogus) separately.
for c in willamette prescott; do
	counts $c --core $c --start hard \
		-e uops_retired:nbogus,uops_retired:bogus,instr_retired:nbogusntag,instr_retired:bogusntag \
		--replay hard.stream
	counts $c.without --core $c --no-wrong-path --start hard \
		-e uops_retired:nbogus,uops_retired:bogus,instr_retired:nbogusntag,instr_retired:bogusntag \
		--replay hard.stream
	holds "$c: the wrong path makes bogus uops" "$(of $c uops_retired:bogus) > 0.1 * $(of $c uops_retired:nbogus)"
	holds "$c: the wrong path makes bogus instructions" \
		"$(of $c instr_retired:bogusntag) > 0.1 * $(of $c instr_retired:nbogusntag)"
	holds "$c: the wrong path does not change the instructions and uops that retire" \
		"$(of $c instr_retired:nbogusntag) == $(of hard.with instructions) && $(of $c \
		uops_retired:nbogus) == $(of $c.without uops_retired:nbogus)"
	holds "$c: without the wrong path no uop is bogus" "$(of $c.without uops_retired:bogus) == 0"
done

# A stream without registers runs without the wrong path.
counts short.kept --start hard -e uops_issued.any,uops_retired.slots --no-wrong-path --save-stream bare.stream -- \
	"$PROGRAMS/wrongpath" hard 300
counts short --start hard -e uops_issued.any,uops_retired.slots --replay bare.stream
holds "a stream without registers runs without the wrong path, with a warning" \
	"$(of short uops_issued.any) == $(of short \
	uops_retired.slots) && $(grep -c "holds no registers: it runs without the wrong path" short.err)"
exit $failed
