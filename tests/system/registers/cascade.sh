#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# NetBurst's cascaded counters (record --after) and FORCE_OVF (--force-ovf), on a program without a C library. With
# --after, sampling starts when the first event has happened so often, at one place of the program; with --force-ovf
# every event can be a sample. Other PMUs refuse both options.
. "$TOP/tests/lib.sh"
need perf
runs_32 || skip "this host executes no 32-bit programs"
export HOME="$work" PERF_CONFIG=/dev/null LC_ALL=C
program=$PROGRAMS/l1_miss
load=0x$(nm "$program" | awk '$3 == "the_load" { print $1 }')
"$SOFTPMU" stat --core willamette -x, -e branch_retired.MMTP,replay_event.L1_LD_MISS,branch_retired.MMNP \
	--save-stream stream "$program" 2>counts || { cat counts; exit 1; }
set -- $(cut -d, -f1 counts); branches=$1 misses=$2 not_taken=$3
# Interrupts come after a fixed time and at any instruction, so that the places show the counters and nothing else.
fixed="--set pmi.latency=60 --set pmi.clock=1 --set pmi.line=0"
# shellcheck disable=SC2086	# several options
record() { "$SOFTPMU" record -q --core willamette $fixed -o data --replay stream "$@" 2>err || { cat err; failed=1; }; }
places() { perf script -i data -F ip 2>/dev/null | awk '{ n[$1]++ } END { for (k in n) print n[k], k }' | sort -rn; }

# Samples so many uops after every 100th miss lie behind the load, at one place; more uops, further behind.
before=0
for uops in 1 15 30; do
	record -e uops_retired.NBOGUS -c $uops --after replay_event.L1_LD_MISS=100
	places >where
	set -- $(cat where)
	check "$uops uops after every 100th miss: $1 samples, all at one place" \
		[ $# -eq 2 -a "$1" -eq $((misses / 100)) ]
	check "the place lies $((0x$2 - load)) bytes behind the load, further than with fewer uops" \
		[ $((0x$2 - load)) -gt "$before" ]
	before=$((0x$2 - load))
done
record -e instr_retired.NBOGUSNTAG -c 10 --after branch_retired.MMTP=1000
check "one sample after every 1000th taken branch" \
	[ "$(places | awk '{ n += $1 } END { print n }')" -eq $((branches / 1000)) ]
record -e instr_retired.NBOGUSNTAG -c 10 --after branch_retired.MMTP=$((branches + 1))
check "no sample if the first event happens too seldom" [ -z "$(places)" ]
record -e instr_retired.NBOGUSNTAG,uops_retired.NBOGUS -c 10 --after branch_retired.MMTP=1000
# shellcheck disable=SC2017
check "each sampled event has its own cascade" [ "$(places | awk '{ n += $1 } END { print n }')" \
	-eq $((branches / 1000 * 2)) ]
perf evlist -i data >events 2>/dev/null
check "the file has only the sampled events" [ "$(wc -l <events)" -eq 2 ]

# --force-ovf: a sample at every event.
record -e branch_retired.MMNP --force-ovf
perf script -i data -F period 2>/dev/null >periods
check "FORCE_OVF: the periods of the samples add up to all $not_taken branches" \
	[ "$(awk '{ n += $1 } END { print n }' periods)" \
	-eq "$not_taken" ]
check "FORCE_OVF: nearly every branch is a sample: $(wc -l <periods)" \
	[ "$(wc -l <periods)" -gt $((not_taken * 99 / 100)) ]

refuse_record() {	# PATTERN OPTION...
	pattern=$1; shift
	refuse "record $*" "$pattern" "$SOFTPMU" record -q -o no.data "$@" true
	check "a refused command makes no file" [ ! -e no.data ]
}
refuse_record "cascaded counters are NetBurst's; the PMU of skylake has none" --core skylake -e instructions -c 10 \
	--after branches=100
refuse_record "FORCE_OVF is NetBurst's; the PMU of pentium3 has none" --core pentium3 -e INST_RETIRED --force-ovf
refuse_record 'neither cascade nor set FORCE_OVF' --core willamette -e replay_event.L1_LD_MISS:p -c 10 \
	--after branch_retired.MMTP=100
refuse_record 'no two counters' --core willamette -e instr_retired.NBOGUSNTAG -c 10 --after ITLB_reference.MISS=100
refuse_record 'not counted by a hardware counter' --core willamette -e instr_retired.NBOGUSNTAG -c 10 \
	--after task-clock=100
refuse_record 'is not EVENT=N' --core willamette -e instr_retired.NBOGUSNTAG -c 10 --after branch_retired.MMTP
refuse_record 'not a whole number from 1' --core willamette -e instr_retired.NBOGUSNTAG -c 10 \
	--after branch_retired.MMTP=many
refuse_record 'one plain event' --core willamette -e instr_retired.NBOGUSNTAG -c 10 \
	--after branch_retired.MMTP,branch_retired.MMNP=5
refuse_record 'a period of' --core willamette -e instr_retired.NBOGUSNTAG -c 10 \
	--after branch_retired.MMTP=9000000000000000000
refuse_record '--force-ovf takes a sample at every event' --core willamette -e branch_retired.MMTP --force-ovf -c 5
exit $failed
