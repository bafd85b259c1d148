#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# The wrong path at work: what is executed and not retired, what that changes for the right path either way, and
# what it must not change.
. "$TOP/tests/lib.sh"

# counts NAME OPTIONS.. : to NAME, a line each: event count
counts() {
	file=$1; shift
	timeout 200 "$SOFTPMU" stat -x, -o "$file.csv" "$@" >"$file.out" 2>"$file.err" ||
		{ bad "softpmu stat $*" "$file.err"; }
	cut -d, -f1,3 "$file.csv" | sed 's/:u$//' | tr , ' ' | awk '{ print $2, $1 }' >"$file"
}
of() {	# NAME EVENT
	awk -v e="$2" '$1 == e { print $2 }' "$1"
}

EVENTS=cycles,instructions,branches,branch-misses,uops_issued.any,uops_retired.slots,mem_inst_retired.all_loads,\
mem_inst_retired.all_stores
EVENTS=$EVENTS,mem_load_retired.l1_miss,mem_load_retired.l2_miss,mem_load_completed.l1_miss_any,l2_rqsts.all_demand_miss
for m in hard helps hurts; do
	counts $m.with --start $m -e "$EVENTS" --save-stream $m.stream -- "$PROGRAMS/wrongpath" $m 3000
	counts $m.without --start $m -e "$EVENTS" --no-wrong-path -- "$PROGRAMS/wrongpath" $m 3000
	is_same=$(cmp -s $m.with.out $m.without.out && echo 1 || echo 0)
	holds "$m: the program prints the same" "$is_same"
	for e in instructions branches branch-misses uops_retired.slots mem_inst_retired.all_loads \
		mem_inst_retired.all_stores; do
		holds "$m: $e is the same" "$(of $m.with $e) == $(of $m.without $e) && $(of $m.with $e) > 0"
	done
	holds "$m: without, all that is issued retires" "$(of $m.without uops_issued.any) == $(of $m.without \
		uops_retired.slots)"
	holds "$m: with, more is issued" "$(of $m.with uops_issued.any) > 1.2 * $(of $m.with uops_retired.slots)"
	counts $m.again --start $m -e "$EVENTS" --replay $m.stream
	holds "$m: the same stream, the same counts" "$(cmp -s $m.with $m.again && echo 1 || echo 0)"
done

# Hard branches over a large working set: misses executed against retired.
holds "hard: without, loads that miss L1 are those that retire" \
	"$(of hard.without mem_load_completed.l1_miss_any) <= 1.05 * $(of hard.without mem_load_retired.l1_miss)"
holds "hard: with, many more miss L1 than retire" "$(of hard.with mem_load_completed.l1_miss_any) > 1.25 * $(of \
	hard.with mem_load_retired.l1_miss)"
holds "hard: L2 has more misses than retired loads saw" "$(of hard.with l2_rqsts.all_demand_miss) > 1.25 * $(of \
	hard.with mem_load_retired.l2_miss)"

# Stores of the wrong path are executed, and none of them writes a line: as many are asked for as without.
for way in "" --no-wrong-path; do
	counts stores$way $way --start stores -e uops_dispatched.port_4_9,mem_inst_retired.all_stores,l2_rqsts.all_rfo \
		-- "$PROGRAMS/wrongpath" stores 3000
done
is_same=$(cmp -s stores.out stores--no-wrong-path.out && echo 1 || echo 0)
holds "stores: the program finds in memory what the right path wrote" "$is_same"
holds "stores: without, those that are executed retire" "$(of stores--no-wrong-path uops_dispatched.port_4_9) == $(of \
	stores--no-wrong-path mem_inst_retired.all_stores)"
holds "stores: with, many more are executed than retire" "$(of stores uops_dispatched.port_4_9) > 1.25 * $(of stores \
	mem_inst_retired.all_stores)"
holds "stores: with, no more lines are written" "$(of stores l2_rqsts.all_rfo) <= 1.005 * $(of stores--no-wrong-path \
	l2_rqsts.all_rfo) && $(of stores l2_rqsts.all_rfo) > 2500"

# It prefetches for the right path; it takes away from it.
holds "helps: the right path is faster for it" "$(of helps.with cycles) < 0.7 * $(of helps.without cycles)"
holds "helps: its loads find what was fetched" "$(of helps.with mem_load_retired.l2_miss) < 0.5 * $(of helps.without \
	mem_load_retired.l2_miss)"
holds "hurts: the right path is slower for it" "$(of hurts.with cycles) > 1.05 * $(of hurts.without cycles)"
holds "hurts: its loads miss what was evicted" "$(of hurts.with mem_load_retired.l1_miss) > 5 * $(of hurts.without \
	mem_load_retired.l1_miss)"

# Where a load lies is unknown there: it is fetched if the right path comes to it.
MEETS=cycles,instructions,branch-misses,mem_load_retired.l2_miss,mem_load_completed.l1_miss_any
counts meets.on --start meets -e $MEETS --save-stream meets.stream -- "$PROGRAMS/wrongpath" meets 3000
counts meets.off --start meets -e $MEETS --feature wrong_path.converge=off --replay meets.stream
counts meets.never --start meets -e $MEETS --set wrong_path.converge=0 --replay meets.stream
counts meets.again --start meets -e $MEETS --replay meets.stream
holds "meets: half of the branches are mispredicted" "$(of meets.on branch-misses) > 1200 && $(of meets.on \
	branch-misses) == $(of meets.off branch-misses)"
holds "meets: the right path's loads find what was fetched" "$(of meets.on mem_load_retired.l2_miss) < 0.6 * $(of \
	meets.off mem_load_retired.l2_miss) && $(of meets.off mem_load_retired.l2_miss) > 2500"
holds "meets: the right path is faster for it" "$(of meets.on cycles) < 0.93 * $(of meets.off cycles)"
holds "meets: off is as if it was not there" "$(cmp -s meets.off meets.never && echo 1 || echo 0)"
holds "meets: the same stream, the same counts" "$(cmp -s meets.on meets.again && echo 1 || echo 0)"

# What branches of the wrong path do counts where it is known, and nothing else depends on whether that is counted.
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
			holds "$s: br_${e}_exec, taken and not" "$(of $s br_${e}_exec.${all}_cond) == $sum && $(of $s \
				br_${e}_exec.nontaken_cond) > 0"
		done
	done
	holds "$m: without, those found mispredicted are those that retire" \
		"$(of $m.right br_misp_exec.all_branches) == $(of $m.right branch-misses)"
	holds "$m: with, more branches are executed" "$(of $m br_inst_exec.all_branches) > 1.25 * $(of $m branches)"
	holds "$m: the same cycles if nobody counts it" "$(of $m cycles) == $(of $m.cycles cycles) && $(of $m \
		branch-misses) == $(of $m.cycles branch-misses)"
done
holds "known: those of the wrong path, too" "$(of known br_misp_exec.all_branches) > 1.5 * $(of known branch-misses)"
holds "unknown: fewer are known" "$(of known br_misp_exec.all_branches) - $(of known branch-misses) > 1.8 * ($(of \
	unknown br_misp_exec.all_branches) - $(of unknown branch-misses))"

# Page walks and TLB entries of the wrong path, by their features.
WALKS=dtlb_load_misses.walk_completed,dtlb_load_misses.stlb_hit
counts walks.both --start hard -e $WALKS --replay hard.stream
counts walks.right --start hard -e $WALKS --no-wrong-path --replay hard.stream
counts walks.none --start hard --feature wrong_path.walks=off -e $WALKS --replay hard.stream
counts walks.kept --start hard --feature wrong_path.tlb=off -e $WALKS --replay hard.stream
walks=dtlb_load_misses.walk_completed
holds "walks: the wrong path makes them" "$(of walks.both $walks) > 1.2 * $(of walks.right $walks)"
holds "walks: off, there are those of the right path" "$(of walks.none $walks) <= 1.02 * $(of walks.right \
	$walks) && $(of walks.none $walks) > 100"
holds "tlb: off, the same pages are walked for again" "$(of walks.kept $walks) > 1.2 * $(of walks.both $walks)"

# NetBurst tells apart what retires and what is bogus.
for c in willamette prescott; do
	counts $c --core $c --start hard \
		-e uops_retired:nbogus,uops_retired:bogus,instr_retired:nbogusntag,instr_retired:bogusntag \
		--replay hard.stream
	counts $c.without --core $c --no-wrong-path --start hard \
		-e uops_retired:nbogus,uops_retired:bogus,instr_retired:nbogusntag,instr_retired:bogusntag \
		--replay hard.stream
	holds "$c: bogus uops" "$(of $c uops_retired:bogus) > 0.1 * $(of $c uops_retired:nbogus)"
	holds "$c: bogus instructions" "$(of $c instr_retired:bogusntag) > 0.1 * $(of $c instr_retired:nbogusntag)"
	holds "$c: as many are not" "$(of $c instr_retired:nbogusntag) == $(of hard.with instructions) && $(of $c \
		uops_retired:nbogus) == $(of $c.without uops_retired:nbogus)"
	holds "$c: none without" "$(of $c.without uops_retired:bogus) == 0"
done

# A stream without registers, and a core that executes nothing there.
counts short.kept --start hard -e uops_issued.any,uops_retired.slots --no-wrong-path --save-stream bare.stream -- \
	"$PROGRAMS/wrongpath" hard 300
counts short --start hard -e uops_issued.any,uops_retired.slots --replay bare.stream
holds "a stream without registers is run without it, and that is said" "$(of short uops_issued.any) == $(of short \
	uops_retired.slots) && $(grep -c "holds no registers: it runs without the wrong path" short.err)"
exit $failed
