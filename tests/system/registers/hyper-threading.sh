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
# The fields of ESCR and CCCR by name.  count WORDS EVENT: the event with these words.
count() { "$SOFTPMU" stat -x, --core prescott --smt --replay two -e "$2$1" 2>&1 | cut -d, -f1; }
retired=instr_retired.NBOGUSNTAG running=global_power_events.RUNNING
t0=$(count :t0_usr $retired) t1=$(count :t1_usr $retired)
same "T0_USR and T1_USR count each thread's instructions" "$t0 $t1" "$(echo "$apart" | awk '{ print $1, $5 }')"
same "both bits count both threads, once" "$(count :t0_usr:t1_usr $retired)" "$((t0 + t1))"
same "the terms of cpu/.../ are the same words" \
	"$("$SOFTPMU" stat -x, --core prescott --smt --replay two -e cpu/$retired,t1_usr/ 2>&1 | cut -d, -f1)" "$t1"
any=$(count :t0_usr:t1_usr $running) both=$(count :t0_usr:t1_usr:active=both $running)
single=$(count :t0_usr:t1_usr:active=single $running)
holds "clocks in which one thread ($single) or both ($both) run are the clocks in which any does ($any)" \
	"$single > 0 && $both > 0 && $single + $both == $any"
same "both run as often as T0's and T1's clocks overlap" "$both" \
	"$(($(count :t0_usr $running) + $(count :t1_usr $running) - any))"
same "no clock runs with no thread" "$(count :t0_usr:t1_usr:active=none $running)" 0
both=$(count :t1_usr:active=both $retired) single=$(count :t1_usr:active=single $retired)
within "T1's instructions beside T0 ($both) and alone ($single)" $((both + single)) "$t1" 0.1

refuse "a thread bit without --smt" "share a core only with --smt" \
	"$SOFTPMU" stat --core prescott -e $retired:t1_usr true
refuse "a thread that the core does not have" "from t0 to t1$" \
	"$SOFTPMU" stat --core prescott --smt -e $retired:t2_usr true
for command in stat record; do
	refuse "a third thread: $command" "4 hardware threads.*T0 and T1" \
		"$SOFTPMU" $command --core prescott --smt --set smt.threads=4 -e $retired true
done
check "where no PMU is shared, more threads run" \
	"$SOFTPMU" stat --core skylake --smt --set smt.threads=4 -e instructions -o four true
refuse "ring 0 alone" "OS bits alone count nothing" "$SOFTPMU" stat --core prescott --smt -e $retired:t0_os true
refuse "an unknown mode" "none, single, both or any" \
	"$SOFTPMU" stat --core prescott --smt -e $retired:active=two true
refuse "PEBS of both threads by one counter" "a precise event counts its own thread" \
	"$SOFTPMU" record --core prescott --smt -e memory_loads:t0_usr:p true
refuse "the words on another PMU" "unknown modifier" \
	"$SOFTPMU" stat --core skylake --smt -e INST_RETIRED.ANY_P:t1_usr true

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
# OVF_PMI: T0's instructions interrupt T0, T1 or the first of both.  T1 takes those that occur while it runs.
for bits in t0_usr t0_usr:ovf_pmi_t1 t1_usr t1_usr:ovf_pmi_t0; do
	"$SOFTPMU" record -q --core prescott --smt -e $retired:$bits -c 997 -o data --replay two 2>err || cat err
	perf script -i data -F tid 2>/dev/null | sort -n | uniq -c | awk '{ print $1, $2 }' >"$bits"
done
same "OVF_PMI_T1 interrupts the other thread" "$(cut -d' ' -f2 t0_usr:ovf_pmi_t1)" "$(cut -d' ' -f2 t1_usr)"
same "OVF_PMI_T0 interrupts T0 for T1's instructions, as often as T1 itself" \
	"$(cat t1_usr:ovf_pmi_t0)" "$(cut -d' ' -f1 t1_usr) $(cut -d' ' -f2 t0_usr)"
"$SOFTPMU" record -q --core prescott --smt -e memory_loads:p -c 97 -o data --replay two 2>err
perf script -i data -F tid,ip 2>/dev/null | sort >smt
"$SOFTPMU" record -q --core prescott -e memory_loads:p -c 97 -o data --replay two 2>err
perf script -i data -F tid,ip 2>/dev/null | sort >apart
same_files "PEBS names the same loads of each thread as on a core of its own" smt apart
exit $failed
