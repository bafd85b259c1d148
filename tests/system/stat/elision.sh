#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Regions with elided locks: tests/programs/elided.c runs so many of one kind, and events say how each ended.
. "$TOP/tests/lib.sh"
EVENTS=HLE_RETIRED.START,HLE_RETIRED.COMMIT,HLE_RETIRED.ABORTED,HLE_RETIRED.ABORTED_MEM
EVENTS=$EVENTS,HLE_RETIRED.ABORTED_UNFRIENDLY,HLE_RETIRED.ABORTED_EVENTS,TX_MEM.ABORT_CONFLICT,TX_MEM.ABORT_CAPACITY
count() {	# EVENTS KIND [OPTION...]: prints the counts of 40 regions
	events=$1 kind=$2
	shift 2
	"$SOFTPMU" stat -x, --core skylake "$@" -e "$events" -o counts "$PROGRAMS/elided" "$kind" 40 >out 2>err ||
		cat err
	awk -F, '{ printf "%s ", $1 }' counts
}
for kind in commit nested vzeroupper; do
	same "$kind: commits" "$(count $EVENTS $kind)" "40 40 0 0 0 0 0 0 "
done
for kind in pause cpuid syscall x87 mmx flush; do
	same "$kind: an instruction aborts" "$(count $EVENTS $kind)" "40 0 40 0 40 0 0 0 "
done
same "more lines written than L1D holds" "$(count $EVENTS capacity)" "40 0 40 40 0 0 0 40 "
same "they fit a larger L1D" "$(count $EVENTS capacity --set l1d.size=1M --set l1d.ways=16)" "40 40 0 0 0 0 0 0 "
same "more lines than can be followed" "$(count $EVENTS capacity --set l1d.size=1M --set l1d.ways=16 \
	--set hle.read_lines=1024)" "40 0 40 40 0 0 0 40 "
for kind in store reach wrong; do
	same "$kind: the lock aborts" "$(count $EVENTS $kind)" "40 0 40 40 0 0 0 0 "
done
HASWELL=TX_MEM.ABORT_HLE_STORE_TO_ELIDED_LOCK,TX_MEM.ABORT_HLE_ELISION_BUFFER_UNSUPPORTED_ALIGNMENT
HASWELL=$HASWELL,TX_MEM.ABORT_HLE_ELISION_BUFFER_MISMATCH,TX_MEM.ABORT_HLE_ELISION_BUFFER_FULL,TX_EXEC.MISC2
same "Haswell: a store to the lock" "$(count $HASWELL store --pmu haswell)" "40 0 0 0 0 "
same "Haswell: a load beyond the lock" "$(count $HASWELL reach --pmu haswell)" "0 40 0 0 0 "
same "Haswell: another lock's release" "$(count $HASWELL wrong --pmu haswell)" "0 0 40 0 0 "
same "Haswell: a second lock" "$(count $HASWELL nested --pmu haswell)" "0 0 0 40 0 "
same "a core that elides two" "$(count $HASWELL nested --pmu haswell --set hle.locks=2)" "0 0 0 0 0 "
same "Haswell: VZEROUPPER" "$(count $HASWELL vzeroupper --pmu haswell)" "0 0 0 0 40 "

# Another thread writes the region's line, or lines of its own.
# shellcheck disable=SC2046
set -- $(count $EVENTS shared)
same "shared: all begin" "$1" 40
same "shared: they commit or are aborted" "$(($2 + $3))" 40
same "shared: conflicts alone abort" "$3 $3" "$4 $7"
[ "$7" -gt 0 ] && ok "shared: conflicts" || bad "no region has a conflict"
# shellcheck disable=SC2046
set -- $(count $EVENTS apart)
same "apart: no conflict" "$7" 0

# An abort costs hle.abort_cycles.
short=$(count cycles pause --set hle.abort_cycles=100) long=$(count cycles pause --set hle.abort_cycles=300)
near=$((long - short))
[ $near -ge 7600 ] && [ $near -le 8400 ] && ok "40 aborts cost 200 cycles more each" ||
	bad "40 aborts cost $near cycles more, not 8000"

# A core without elision ignores the prefixes, and says so.
same "without elision nothing is counted" "$(count $EVENTS pause --set hle=0)" "0 0 0 0 0 0 0 0 "
"$SOFTPMU" stat --core skylake --set hle=0 -e HLE_RETIRED.START "$PROGRAMS/elided" commit 1 >out 2>err
has "and stat says why" "HLE_RETIRED.START.* is 0: .*--set hle=1" err
plain=$(count cycles commit --set hle=0) elided=$(count cycles commit)
[ $((plain - elided)) -lt 200 ] && [ $((elided - plain)) -lt 200 ] && ok "regions that commit cost nothing" ||
	bad "cycles: $elided with elision, $plain without"

uncounted "a core without elision that has another's PMU" "HLE_RETIRED.START.*--set hle=1" \
	"$SOFTPMU" stat --core golden-cove --pmu ice-lake -e HLE_RETIRED.START "$PROGRAMS/elided" commit 1

# An interrupt aborts the region in which it comes, if it takes time.
aborted() {	# OPTION...: prints how many samples of such aborts there are
	"$SOFTPMU" record -q --core skylake -c 1009 -e cycles:u -e cpu/HLE_RETIRED.ABORTED_EVENTS,period=1/ "$@" \
		-o data "$PROGRAMS/elided" commit 1000 >out 2>err || cat err
	"$SOFTPMU" report -i data 2>&1 | sed -n "s/^# Samples: *\([0-9]*\) *of event 'cpu.HLE_RETIRED.*/\1/p"
}
same "interrupts that take no time abort nothing" "$(aborted)" 0
nonzero "interrupts of 500 cycles abort regions" "$(aborted --pmi-cost 500)"
exit $failed
