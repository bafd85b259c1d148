#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Hardware threads of a NetBurst core (--smt) share its 18 counters and 45 ESCRs: each counts its own events, T0 by
# T0_USR and T1 by T1_USR, is interrupted by its own OVF_PMI bit, and has PEBS records in a DS area of its own.
. "$TOP/tests/lib.sh"
export LC_ALL=C
"$SOFTPMU" stat -x, --core prescott -e cycles --save-stream two "$PROGRAMS/sharing" alu 40000 2 >/dev/null 2>&1 ||
	bad "saving a stream"
stat() { "$SOFTPMU" stat -x, --core prescott --replay two "$@" 2>counts || { cat counts; failed=1; }; }
# field N: that field of each counted event
field() { cut -d, -f"$1" counts | tr '\n' ' '; }

# What does not depend on time is the same on shared PMUs as on cores of their own.
events=instr_retired.NBOGUSNTAG,memory_loads,memory_stores,uops_retired.NBOGUS
stat --per-thread -e $events
apart=$(field 2)
stat --smt --per-thread -e $events
same "two threads on one core count their own instructions and tagged uops, as on two cores" "$(field 2)" "$apart"
stat --smt -e instr_retired.NBOGUSNTAG
together=$(field 1)
same "their sum is that of the threads" "$together" \
	"$(echo "$apart" | awk '{ print $1 + $5 " " }')"

# One PMU: both events need one of CRU_ESCR0 and CRU_ESCR1, and so does each thread.
events=instr_retired.NBOGUSNTAG,uops_retired.NBOGUS
stat --one-pmu --rotate 0.005 -e $events
same "on one PMU, a thread with a core of its own counts both events all the time" "$(field 5)" "100.00 100.00 "
stat --smt --one-pmu --rotate 0.005 -e $events
shared=$(cut -d, -f5 counts | sort -n | tail -n 1)
holds "two threads share its ESCRs, so the events take turns: at most $shared %" "$shared < 70"
need perf
export HOME="$work" PERF_CONFIG=/dev/null
# Interrupts and PEBS records, of each thread.
for event in "instr_retired.NBOGUSNTAG -c 997" "memory_loads:p -c 97" "global_power_events.RUNNING -c 2003"; do
	for way in apart smt; do
		# shellcheck disable=SC2086
		"$SOFTPMU" record -q --core prescott $([ $way = smt ] && echo --smt) -e $event -o data --replay two \
			2>err || { cat err; failed=1; }
		perf script -i data -F tid 2>/dev/null | sort | uniq -c | awk '{ print $1 }' >$way
	done
	all=$(awk '{ n += $1 } END { print n }' smt) before=$(awk '{ n += $1 } END { print n }' apart)
	holds "$event samples both threads: $(tr '\n' ' ' <smt)(apart: $(tr '\n' ' ' <apart))" \
		"$(wc -l <smt) == 2 && $all > 0.98 * $before"
done
"$SOFTPMU" record -q --core prescott --smt -e memory_loads:p -c 97 -o data --replay two 2>err
perf script -i data -F tid,ip 2>/dev/null | sort >smt
"$SOFTPMU" record -q --core prescott -e memory_loads:p -c 97 -o data --replay two 2>err
perf script -i data -F tid,ip 2>/dev/null | sort >apart
same_files "PEBS names the same loads of each thread as on a core of its own" smt apart
exit $failed
