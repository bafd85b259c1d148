#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# stat --sample: without the wrong path, estimates lie within twice their 95 % intervals of the counts in full detail;
# with it, within 4 %, because warming has no wrong path.  What warming counts is exact, two runs print the same, and
# what does not go with it is refused.
. "$TOP/tests/lib.sh"

events=cycles,instructions,branch-misses,mem_load_retired.l1_miss
of() { awk -F, -v e="$1:u" -v f="$3" '$3 == e { print $f }' "$2"; }
compare() {	# NAME CORE OPTIONS...: of the stream s
	name=$1 core=$2; shift 2
	list=$events
	[ "$core" = golden-cove ] || list=cycles,instructions
	"$SOFTPMU" stat -x, --core "$core" -e $list "$@" --replay s -o full
	"$SOFTPMU" stat -x, --core "$core" -e $list "$@" --sample --replay s -o sampled
	same "$name, $core: instructions are exact" "$(of instructions sampled 1)" "$(of instructions full 1)"
	same "$name, $core: and have no interval" "$(of instructions sampled 4)" ""
	for e in cycles $([ "$core" = golden-cove ] && echo mem_load_retired.l1_miss); do
		half=$(of "$e" sampled 4) is=$(of "$e" full 1) estimate=$(of "$e" sampled 1)
		half=${half%\%}
		holds "$name, $core: $e of $is estimated as $estimate +- ${half:-nothing} %" \
			"${half:-0} > 0 && ($estimate - $is) ^ 2 <= ($estimate * 2 * ${half:-0} / 100) ^ 2"
	done
	half=$(of cycles sampled 4)
	holds "$name, $core: the interval of cycles is narrow enough to be of use" "${half%\%} < 20"
}
bare_stream s /usr/bin/awk 'BEGIN {
	for (i = 0; i < 5000; i++) { k = i * 7919 % 3001; n[k] += length(i k) }
	for (k in n) s += n[k]; print s }' >out
compare awk golden-cove --no-wrong-path
same "mispredicts are exact, because warming counts them" "$(of branch-misses sampled 1)" "$(of branch-misses full 1)"
kinds=branches,br_inst_retired.cond,br_inst_retired.near_call,mem_inst_retired.all_loads,mem_inst_retired.lock_loads
kinds=$kinds,fp_arith_inst_retired.scalar_double,int_vec_retired.128bit
"$SOFTPMU" stat -x, -e $kinds --no-wrong-path --replay s -o f
"$SOFTPMU" stat -x, -e $kinds --no-wrong-path --sample --replay s -o g
cut -d, -f1-3 f >kinds
cut -d, -f1-3 g >estimated
same_files "what instructions are is counted exactly" kinds estimated
same "and without an interval" "$(cut -d, -f4 g | sort -u)" ""
"$SOFTPMU" stat -x, -e mem_inst_retired.all_stores --no-wrong-path --sample=40K,4K,4K --replay s -o g
half=$(of mem_inst_retired.all_stores g 4)
nonzero "stores of REP instructions, which the loader has, are estimated" "${half%\%}"
exact=$(of cycles full 1)
"$SOFTPMU" stat -x, -e cycles,dtlb_load_misses.walk_completed --replay s -o full
"$SOFTPMU" stat -x, -e cycles,dtlb_load_misses.walk_completed --sample --replay s -o sampled
walks=$(of dtlb_load_misses.walk_completed sampled 1) is=$(of dtlb_load_misses.walk_completed full 1)
holds "page walks of wrong paths are not walked again in each window: $walks for $is" "$walks <= 4 * $is"
within "with the wrong path, cycles" "$(of cycles sampled 1)" "$(of cycles full 1)" 4
holds "the wrong path was modelled" "$(of cycles full 1) != $exact"
compare awk skylake --no-wrong-path
compare awk willamette --no-wrong-path
"$SOFTPMU" stat -x, --core willamette -e cycles --sample --replay s -o first
"$SOFTPMU" stat -x, --core willamette -e cycles --sample --replay s -o again
same_files "two sampled runs print the same" first again
bare_stream s chase 1024 64 random 3600000 >out 2>err || cat err
events=cycles,instructions,mem_load_retired.l1_miss
compare chase golden-cove --no-wrong-path

bare_stream s2 stream read 8192 12 >out
"$SOFTPMU" stat -x, -e cycles,mem_load_retired.l3_miss --replay s2 -o full
"$SOFTPMU" stat -x, -e cycles,mem_load_retired.l3_miss --sample --replay s2 -o sampled
within "what a program wrote at its start is in L3 behind it: cycles" "$(of cycles sampled 1)" "$(of cycles full 1)" 1.5
holds "and no load misses it" "$(of mem_load_retired.l3_miss sampled 1) < 2000"

# A steady loop of 250 million instructions: its interval is narrow after few windows.
"$SOFTPMU" stat --no-wrong-path -e cycles --sample -o table awk 'BEGIN { for (i = 0; i < 700000; i++) s += i * 3 }'
windows=$(sed -n 's/.*Estimated from \([0-9]*\) windows.*/\1/p' table)
holds "stretches grow while the interval is narrow: $windows windows" "$windows > 600 && $windows < 1200"

# What people read.
"$SOFTPMU" stat --sample --replay s -o table
has "the table has the interval in perf's place" "cycles:u .* ( +- *[0-9.]*% )$" table
has "it says how much was measured" \
	"Estimated from [0-9]* windows; [0-9.]*% of the instructions after the start were measured" table
"$SOFTPMU" stat -j --sample --replay s -e cycles -o json
has "JSON has the interval" '"confidence-95" : [0-9.]*' json
"$SOFTPMU" stat -x, --no-wrong-path -e cycles -o short true
"$SOFTPMU" stat -x, --no-wrong-path --sample -e cycles -o first true
same "a short run is timed" "$(cut -d, -f4 first)" "$(cut -d, -f4 short)"
"$SOFTPMU" stat --sample -o table true
has "and says so" "The run is short: all of it was timed" table
"$SOFTPMU" stat -x, --sample=40K,4K,4K -e cycles -o short true
same "few windows have no interval" "$(of cycles short 4)" ""
"$SOFTPMU" stat --sample --follow sh -c 'seq 3000 | wc -l; true' >out 2>err
has "processes are sampled, too" "^3000$" out
"$SOFTPMU" stat --sample "$PROGRAMS/threads" spin 60000 >out 2>err
has "threads at the same time are told" "threads ran at the same time" err

# In a steady loop, which ports uops get repeats in one of several patterns.  Windows do not all begin in the same one.
# What no window saw has an interval, too: its size is known from the start, which is timed.
"$SOFTPMU" trace -q -o loop "$PROGRAMS/threads" workers 1500000 >out
loop_events=uops_dispatched.port_0,mem_load_retired.l1_miss
"$SOFTPMU" stat -x, -e $loop_events --detail --replay loop -o full
"$SOFTPMU" stat -x, -e $loop_events --sample --replay loop -o sampled
within "uops of port 0 in a steady loop" "$(of uops_dispatched.port_0 sampled 1)" \
	"$(of uops_dispatched.port_0 full 1)" 0.5
half=$(of mem_load_retired.l1_miss sampled 4) is=$(of mem_load_retired.l1_miss full 1)
estimate=$(of mem_load_retired.l1_miss sampled 1)
holds "misses that no window saw: $is are estimated as $estimate +- ${half:-nothing}" \
	"${half%\%} + 0 > 0 && ($estimate - $is) ^ 2 <= ($estimate * (${half%\%} + 0) / 100) ^ 2"

# A stream that is cut short: what was counted is printed, and the run has failed.
head -c $(($(wc -c <s) * 3 / 4)) s >./cut
"$SOFTPMU" stat --sample -x, -e cycles --replay ./cut >out 2>err
same "a run whose stream is cut short has failed" "$?" 1
has "a cut stream is told" "cut short.*what was counted until then is printed" err

# Refusals, in one line.
for o in "-r 2" "--per-thread" "--per-region" "--one-pmu" "--start 100" "--smt" "--cpus 2"; do
	# shellcheck disable=SC2086	# two words
	refuse "--sample $o" "--sample goes\|neither --sample" "$SOFTPMU" stat --sample $o true
done
refuse "windows without a size" "neither auto nor N,U,W" "$SOFTPMU" stat --sample=1M true
refuse "nothing to measure" "neither auto nor N,U,W" "$SOFTPMU" stat --sample=1M,0,1000 true
refuse "windows as long as the stretch" "at least 4 times" "$SOFTPMU" stat --sample=10K,5K,5K true
exit $failed
