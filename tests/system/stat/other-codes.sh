#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# An event that vendors' lists give two codes is taken by both, with the same count; what is refused names the PMU that
# was asked for, and what was meant.
. "$TOP/tests/lib.sh"
"$SOFTPMU" trace -q -o stream -- awk 'BEGIN { print 1 }' >/dev/null || exit 1
while read -r pmu one two; do
	"$SOFTPMU" stat --pmu "$pmu" -x, --replay stream -e "$one,$two" 2>counts
	set -- "$pmu" "$one" "$two" $(cut -d, -f1 counts)
	same "$1: $2 is $3" "${4-}" "${5-none}"
	nonzero "$1: which is not 0: ${4-}" "${4:-0}"
done <<'LIST'
haswell L2_RQSTS.DEMAND_DATA_RD_HIT rc124
haswell L2_RQSTS.RFO_HIT rc224
haswell L2_RQSTS.CODE_RD_HIT rc424
haswell L2_RQSTS.PF_HIT rd024
haswell L2_RQSTS.PF_MISS r3024
broadwell L2_RQSTS.DEMAND_DATA_RD_HIT rc124
broadwell L2_RQSTS.RFO_HIT rc224
broadwell L2_RQSTS.CODE_RD_HIT rc424
broadwell L2_RQSTS.PF_HIT rd024
broadwell L2_RQSTS.PF_MISS r3024
skylake L2_RQSTS.DEMAND_DATA_RD_HIT r4124
skylake L2_RQSTS.RFO_HIT r4224
skylake L2_RQSTS.CODE_RD_HIT r4424
golden-cove UOPS_RETIRED.MS cpu/event=0xc2,umask=0x04,frontend=0x8/
golden-cove INT_MISC.UNKNOWN_BRANCH_CYCLES cpu/event=0xad,umask=0x40,frontend=0x7/
golden-cove EXE_ACTIVITY.EXE_BOUND_0_PORTS cpu/event=0xa6,umask=0x80/
LIST
refuse "c2/04 with another value" "takes only one value of frontend=" \
	"$SOFTPMU" stat --replay stream -e cpu/event=0xc2,umask=0x04,frontend=0x1/
mistaken() { claim=$1 pattern=$2; shift 2; refuse "$claim" "$pattern" "$SOFTPMU" stat --replay stream "$@"; }
uncounted "a code that haswell lacks names haswell" "event table of haswell" \
	"$SOFTPMU" stat --replay stream --pmu haswell -e r8124
mistaken "a name that haswell lacks names haswell" "on haswell" --pmu haswell -e no_such_event
uncounted "a core's own PMU is named by the core" "event table of skylake" \
	"$SOFTPMU" stat --replay stream --core skylake -e r8124
mistaken "a unit mask is called so" "no unit mask 'NO_SUCH_MASK'" --core skylake -e skl::MACHINE_CLEARS.SMC:NO_SUCH_MASK
mistaken "a modifier is called so" "unknown modifier 'x'" --core skylake -e cycles:x
exit $failed
