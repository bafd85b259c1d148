#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# LBR_INSERTS counts what the LBR stack takes: `stat` switches last branch records on for it, says so, and counts the
# near branches taken; the kernel's filter of `record -j` holds for it; where it is not asked for, they stay off.
. "$TOP/tests/lib.sh"
for table in golden-cove skylake ice-lake broadwell haswell ivy-bridge sandy-bridge; do
	event=ROB_MISC_EVENTS.LBR_INSERTS
	case $table in golden-cove | ice-lake) event=MISC_RETIRED.LBR_INSERTS ;; esac
	"$SOFTPMU" stat --pmu $table -x, -e $event,br_inst_retired.near_taken "$PROGRAMS/reps" >/dev/null 2>out
	check "$table: an entry for each near branch that is taken" \
		[ "$(awk -F, '$1 > 50 { print $1 }' out | uniq -c | awk '{ print $1 }')" = 2 ]
done
"$SOFTPMU" stat -e MISC_RETIRED.LBR_INSERTS "$PROGRAMS/reps" >/dev/null 2>out
check "stat says that last branch records are on" grep -q "^ Last branch records are on, because MISC_RETIRED" out
"$SOFTPMU" stat -e branches "$PROGRAMS/reps" >/dev/null 2>out
check "stat leaves them off without such an event" [ "$(grep -c "Last branch records" out)" = 0 ]
"$SOFTPMU" msr -e MISC_RETIRED.LBR_INSERTS >out
check "msr prints the write that switches them on" grep -q "14CEH *IA32_LBR_CTL  *003F0005H" out
"$SOFTPMU" msr --core skylake -e ROB_MISC_EVENTS.LBR_INSERTS >out
check "msr prints it for Skylake" grep -q "1D9H *IA32_DEBUGCTL  *00000001H" out
exit $failed
