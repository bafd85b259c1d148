#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# An event of a part that the machine has switched off counts 0, and `stat` says why.  With the --set that it names, it
# says nothing.
. "$TOP/tests/lib.sh"

says() {	# CORE EVENT SETTING
	"$SOFTPMU" stat --no-wrong-path --core "$1" -e "$2" "$PROGRAMS/reps" >out 2>err
	has "$1: $2 is 0, with a reason" "^ $2.* is 0: .*--set ${3%%=*}=" err
	has "$1: $2 counts 0" "^ *0 *$2" err
	"$SOFTPMU" stat --no-wrong-path --core "$1" --set "$3" -e "$2" "$PROGRAMS/reps" >out 2>err
	hasnt "$1: with $3 nothing is said" "is 0:" err
	has "$1: with $3 it is counted" " $2" err
}
says skylake LSD.UOPS lsd.size=64
says skylake UOPS_ISSUED.FLAGS_MERGE partial.flags_ports=0x23
says golden-cove ASSISTS.SSE_AVX_MIX assist.sse_avx=save
says golden-cove MEM_LOAD_L3_HIT_RETIRED.XSNP_MISS l3.inclusion=inclusive
says golden-cove DTLB_STORE_MISSES.WALK_COMPLETED_1G memory.page=1G
says skylake ITLB_MISSES.WALK_COMPLETED_1G memory.page=1G
says golden-cove UNC_CHA_CORE_SNP.EVICT_ONE l3.filter=1M
says golden-cove UNC_M_PRE_COUNT.PGT dram.row_close_ns=100

"$SOFTPMU" stat --core skylake -x, -e LSD.UOPS "$PROGRAMS/reps" >out 2>err
hasnt "fields of -x hold no such line" "is 0:" err
exit $failed
