#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Events of the front end, of issue and of retirement by kind and cause: tests/programs/by_cause.S has a known number of
# each kind of instruction, and jumps.S has none of them.
. "$TOP/tests/lib.sh"
# shellcheck disable=SC2086
count() {	# CORE PROGRAM EVENT
	"$SOFTPMU" stat -x, --core "$1" -e "$3" -o "$work/counts" -- $PROGRAMS/$2 >/dev/null 2>"$work/err" ||
		cat "$work/err"
	awk -F, '{ print $1 }' "$work/counts"
}
exact() {	# CORE COUNT EVENT...
	core=$1 want=$2
	shift 2
	for event; do
		same "$core: $event" "$(count "$core" by_cause "$event")" "$want"
		same "$core: $event of a program without such instructions" "$(count "$core" jumps "$event")" 0
	done
}
between() {	# CORE LEAST MOST EVENT...: cycles, whose number depends on what is beside them
	core=$1 least=$2 most=$3
	shift 3
	for event; do
		n=$(count "$core" by_cause "$event")
		[ "${n:-0}" -ge "$least" ] && [ "$n" -le "$most" ] && ok "$core: $event is $n" ||
			bad "$core: $event is $n, not $least to $most"
	done
}
exact golden-cove 100 MISC2_RETIRED.LFENCE
exact golden-cove 50 CPU_CLK_UNHALTED.PAUSE_INST
between golden-cove 7000 8500 CPU_CLK_UNHALTED.PAUSE CPU_CLK_UNHALTED.C0_WAIT	# some 160 cycles each
exact golden-cove 40 RTM_RETIRED.START RTM_RETIRED.ABORTED RTM_RETIRED.ABORTED_MEM
exact golden-cove 280 INST_RETIRED.REP_ITERATION	# 4 rounds of 32 bytes in each
exact golden-cove 45 INT_VEC_RETIRED.ADD_128 INT_VEC_RETIRED.128BIT
exact golden-cove 41 INT_VEC_RETIRED.ADD_256
exact golden-cove 24 INT_VEC_RETIRED.MUL_256
exact golden-cove 65 INT_VEC_RETIRED.256BIT
exact golden-cove 51 INT_VEC_RETIRED.SHUFFLES
exact golden-cove 29 FP_ARITH_INST_RETIRED.8_FLOPS
between golden-cove 100 600 ARITH.IDIV_ACTIVE
between golden-cove 100 600 ARITH.FPDIV_ACTIVE
between golden-cove 10000 40000 RESOURCE_STALLS.SCOREBOARD
between golden-cove 100 9000 DECODE.MS_BUSY UOPS_DECODED.DEC0_UOPS UOPS_RETIRED.HEAVY
exact skylake 40 RTM_RETIRED.START RTM_RETIRED.ABORTED RTM_RETIRED.ABORTED_MEM TX_MEM.ABORT_CAPACITY
between skylake 10000 40000 PARTIAL_RAT_STALLS.SCOREBOARD
between skylake 100 9000 IDQ.MS_DSB_UOPS IDQ.MS_MITE_UOPS

# All uops of the microcode sequencer are called by one path or the other.
same "skylake: microcode called by the uop cache and by the decoders" \
	"$(($(count skylake by_cause IDQ.MS_DSB_UOPS) + $(count skylake by_cause IDQ.MS_MITE_UOPS)))" \
	"$(count skylake by_cause IDQ.MS_UOPS)"
ms=$(count skylake by_cause IDQ.MS_UOPS) dsb=$(count skylake by_cause IDQ.DSB_UOPS)
mite=$(count skylake by_cause IDQ.MITE_UOPS)
same "skylake: uops by any path" "$(count skylake by_cause IDQ.ALL_MITE_UOPS)" "$((ms + dsb + mite))"

# A short loop comes from the loop buffer, where the core has one; mispredicts and unknown branches cost cycles.
[ "$(count golden-cove by_cause LSD.UOPS)" -gt 500 ] && ok "a short loop comes from the loop buffer" ||
	bad "golden-cove: LSD.UOPS is $(count golden-cove by_cause LSD.UOPS)"
same "without a loop buffer it counts nothing" "$("$SOFTPMU" stat -x, --core golden-cove --set lsd.size=0 \
	-e LSD.UOPS -o "$work/counts" -- "$PROGRAMS/by_cause" >/dev/null 2>&1; awk -F, '{ print $1 }' "$work/counts")" 0
# The slots of a run, divided by events, add up to all of them.
"$SOFTPMU" stat -x, --core golden-cove -e slots,TOPDOWN.BACKEND_BOUND_SLOTS,TOPDOWN.BAD_SPEC_SLOTS \
	-e IDQ_UOPS_NOT_DELIVERED.CORE,UOPS_RETIRED.SLOTS,TOPDOWN.MEMORY_BOUND_SLOTS,TOPDOWN.BR_MISPREDICT_SLOTS \
	-o slots -- "$PROGRAMS/topdown" mispredict 300 >/dev/null 2>&1
same "slots that wait for the back end, were squashed, lacked uops, and retired: all of them" \
	"$(awk -F, '{ n[NR] = $1 } 
		END { print n[2] + n[3] + n[4] + n[5] - n[1], (n[6] > 0 && n[6] < n[2]), (n[7] > 0) }' slots)" "0 1 1"
resteer=$(count golden-cove by_cause INT_MISC.CLEAR_RESTEER_CYCLES)
[ "$resteer" -gt 5 ] && ok "golden-cove: cycles behind mispredicts" || bad "INT_MISC.CLEAR_RESTEER_CYCLES is $resteer"
unknown=$(count golden-cove "work-static 100" INT_MISC.UNKNOWN_BRANCH_CYCLES)
same "golden-cove: an unknown branch costs frontend.resteer cycles" "$unknown" \
	"$((8 * $(count golden-cove "work-static 100" BACLEARS.ANY)))"
exit $failed
