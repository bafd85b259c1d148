#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# NetBurst's cascaded counters (record --after) and FORCE_OVF (--force-ovf) on a program without a library: what
# is sampled begins at the event asked for, at one place, as often as it happens; every event can be a sample;
# other PMUs refuse both by name.
. "$TOP/tests/lib.sh"
need perf
export HOME="$work" PERF_CONFIG=/dev/null LC_ALL=C
program=$PROGRAMS/l1_miss
load=0x$(nm "$program" | awk '$3 == "the_load" { print $1 }')
"$SOFTPMU" stat --core willamette -x, -e branch_retired.MMTP,replay_event.L1_LD_MISS,branch_retired.MMNP \
	--save-stream stream "$program" 2>counts || { cat counts; exit 1; }
set -- $(cut -d, -f1 counts); branches=$1 misses=$2 not_taken=$3
record() { "$SOFTPMU" record -q --core willamette -o data --replay stream "$@" 2>err || { cat err; failed=1; }; }
places() { perf script -i data -F ip 2>/dev/null | awk '{ n[$1]++ } END { for (k in n) print n[k], k }' | sort -rn; }

# so many uops behind every 100th miss: behind the load, at one place, further the more uops
before=0
for uops in 1 15 30; do
	record -e uops_retired.NBOGUS -c $uops --after replay_event.L1_LD_MISS=100
	places >where
	set -- $(cat where)
	check "$uops uops behind every 100th miss: $1 samples at one place" [ $# -eq 2 -a "$1" -eq $((misses / 100)) ]
	check "which lies $((0x$2 - load)) bytes behind the load" [ $((0x$2 - load)) -gt "$before" ]
	before=$((0x$2 - load))
done
record -e instr_retired.NBOGUSNTAG -c 10 --after branch_retired.MMTP=1000
check "behind every 1000th taken branch" [ "$(places | awk '{ n += $1 } END { print n }')" -eq $((branches / 1000)) ]
record -e instr_retired.NBOGUSNTAG -c 10 --after branch_retired.MMTP=$((branches + 1))
check "never, if they are not that many" [ -z "$(places)" ]
record -e instr_retired.NBOGUSNTAG,uops_retired.NBOGUS -c 10 --after branch_retired.MMTP=1000
# shellcheck disable=SC2017
check "each event has a first one of its own" [ "$(places | awk '{ n += $1 } END { print n }')" \
	-eq $((branches / 1000 * 2)) ]
perf evlist -i data >events 2>/dev/null
check "the file has the sampled ones" [ "$(wc -l <events)" -eq 2 ]

# every event
record -e branch_retired.MMNP --force-ovf
perf script -i data -F period 2>/dev/null >periods
check "FORCE_OVF: the samples stand for all $not_taken branches" [ "$(awk '{ n += $1 } END { print n }' periods)" \
	-eq "$not_taken" ]
check "and nearly each is one: $(wc -l <periods)" [ "$(wc -l <periods)" -gt $((not_taken * 99 / 100)) ]

refuse_record() {	# PATTERN OPTION...
	pattern=$1; shift
	refuse "record $*" "$pattern" "$SOFTPMU" record -q -o no.data "$@" true
	check "no file is made" [ ! -e no.data ]
}
refuse_record "cascaded counters are NetBurst's; the PMU of skylake has none" --core skylake -e instructions -c 10 \
	--after branches=100
refuse_record "FORCE_OVF is NetBurst's; the PMU of pentium3 has none" --core pentium3 -e INST_RETIRED --force-ovf
refuse_record 'for those that interrupt' --core willamette -e replay_event.L1_LD_MISS:p -c 10 \
	--after branch_retired.MMTP=100
refuse_record 'no two counters' --core willamette -e instr_retired.NBOGUSNTAG -c 10 --after ITLB_reference.MISS=100
refuse_record 'no event of a counter' --core willamette -e instr_retired.NBOGUSNTAG -c 10 --after task-clock=100
refuse_record 'is not EVENT=N' --core willamette -e instr_retired.NBOGUSNTAG -c 10 --after branch_retired.MMTP
refuse_record 'not a whole number from 1' --core willamette -e instr_retired.NBOGUSNTAG -c 10 \
	--after branch_retired.MMTP=many
refuse_record 'one plain event' --core willamette -e instr_retired.NBOGUSNTAG -c 10 \
	--after branch_retired.MMTP,branch_retired.MMNP=5
refuse_record 'a period of' --core willamette -e instr_retired.NBOGUSNTAG -c 10 \
	--after branch_retired.MMTP=9000000000000000000
refuse_record '--force-ovf takes a sample at every event' --core willamette -e branch_retired.MMTP --force-ovf -c 5
exit $failed
