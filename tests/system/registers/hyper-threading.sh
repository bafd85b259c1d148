#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Hardware threads of a NetBurst core (--smt) share its 18 counters and 45 ESCRs: each counts its own events, T0 by
# T0_USR and T1 by T1_USR, is interrupted by its own OVF_PMI bit, and has PEBS records in a DS area of its own.
. "$TOP/tests/lib.sh"
export LC_ALL=C
bare_stream two sharing alu 40000 2 >out || bad "saving a stream"
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
same "a counter of each thread counts them, too, up to the end of the thread that ends first" \
	"$(count :active=both $running)" "$((2 * both))"
same "the clocks in which one thread runs are those of either" "$(count :active=single $running)" "$single"
same "no clock runs with no thread" "$(count :t0_usr:t1_usr:active=none $running)" 0
none=$(count :t0_usr:t1_usr:active=none $retired)
holds "instructions retire with no thread ($none) only behind a thread's last clock" "$none <= 3"
same "no thread, one and both: every instruction retires in one of them" "$((none +
	$(count :t0_usr:t1_usr:active=single $retired) + $(count :t0_usr:t1_usr:active=both $retired)))" "$((t0 + t1))"
both=$(count :t1_usr:active=both $retired) single=$(count :t1_usr:active=single $retired)
within "T1's instructions beside T0 ($both) and alone ($single)" $((both + single)) "$t1" 0.1

refuse "a thread bit without --smt" "share a core only with --smt" \
	"$SOFTPMU" stat --core prescott -e $retired:t1_usr true
refuse "a thread that the core does not have" "from t0 to t1$" \
	"$SOFTPMU" stat --core prescott --smt -e $retired:t2_usr true
refuse "two numbers of threads where the register takes one" "one of none, single, both and any" \
	"$SOFTPMU" stat --core prescott --smt -e $running:active=single:active=both true
refuse "a set of threads that is no number" "a set of hardware threads" \
	"$SOFTPMU" stat --core prescott --smt -e $retired:threads=all true
check "where no PMU is shared, more threads run" \
	"$SOFTPMU" stat --core skylake --smt --set smt.threads=4 -e instructions -o four true

# Four threads on one core, by the registers that extend the machine's.
bare_stream four sharing alu 20000 4 >out || bad "saving a stream of four threads"
of_four() { "$SOFTPMU" stat -x, --core prescott --smt --set smt.threads=4 --replay four "$@" 2>&1; }
"$SOFTPMU" stat -x, --core prescott --replay four --per-thread -e $retired,memory_loads 2>&1 | cut -d, -f1-4 >apart
of_four --per-thread -e $retired,memory_loads | cut -d, -f1-4 >together
same_files "each of four threads on one core counts what it does on a core of its own" together apart
of_four -e "$(for w in t0_usr t1_usr t2_usr t3_usr threads=0xf threads=5; do printf '%s,' $retired:$w; done)$running" |
	cut -d, -f1 >counts
want=$(awk -F, 'NR % 2 { print $2; n += $2; if (NR % 4 == 1) even += $2 } END { print n; print even }' apart)
same "tN_USR, threads=0xf and threads=5 count these threads' instructions" "$(head -n 6 counts)" "$want"
of_four -e "$(for w in any 1 2 3 4 2:active=3:active=4; do printf '%s,' $running:threads=0xf:active=$w; done)$retired" |
	cut -d, -f1 | tr '\n' ' ' >counts
read -r any one two three four more retired_too <counts
holds "one ($one), two ($two), three ($three) or four ($four) threads run whenever any does ($any)" \
	"$one > 0 && $two > 0 && $three > 0 && $four > 0 && $one + $two + $three + $four == $any"
same "numbers of threads add up" "$more" "$((any - one))"
same "a counter of each thread counts a clock as often as threads run" \
	"$(of_four -e "$(for w in 1 2 3 4; do printf '%s,' $running:active=$w; done)$retired" | cut -d, -f1 |
		head -n 4 | tr '\n' ' ')" \
	"$one $((2 * two)) $((3 * three)) $((4 * four)) "
same "beside a counter of each thread" "$retired_too" "$(of_four -e $retired | cut -d, -f1)"
# Two cores of two threads: both threads of one wait for the other core's.
pairs() { "$SOFTPMU" stat -x, --core prescott --smt --replay four -e $running:t0_usr:t1_usr"$1" 2>&1 | cut -d, -f1; }
every=$(pairs :thr=15:cmpl) none=$(pairs :thr=15:cmpl:active=none)
holds "a core halts for $none of $every clocks, in which the complement of a threshold counts" "$none > 0"
same "they are the clocks in which no thread of the core runs" "$none" "$((every - $(pairs "")))"
# Main waits for its workers, far longer than the PMU can keep cycles that it may not count yet.
bare_stream waits threads workers 40000 >out || bad "saving a stream of threads that wait"
waits() { "$SOFTPMU" stat -x, --core prescott --smt --set smt.threads=8 --replay waits "$@" 2>&1 | cut -d, -f1; }
waits -e "$(for w in "" :active=0 :active=1 :active=2 :active=3:active=4:active=5; do
	printf '%s,' $retired:threads=0xff$w; done)$running" | tr '\n' ' ' >counts
read -r all none one two more rest <counts
same "threads that wait: $none, $one, $two and $more instructions retire beside so many threads" \
	"$((none + one + two + more))" "$all"
plain=BPU_fetch_request.TCMISS,ITLB_reference.HIT,BSQ_cache_reference.RD_2ndL_HITM
same "counters of each thread, and one of all, count the same" "$(waits -e $plain | tr '\n' ' ')" \
	"$(waits -e "$(echo $plain | sed 's/,/:threads=0xff,/g'):threads=0xff" | tr '\n' ' ')"
four_threads="--core prescott --smt --set smt.threads=4"
# shellcheck disable=SC2086	# the options
refuse "a fifth thread" "from t0 to t3$" "$SOFTPMU" stat $four_threads -e $retired:t4_usr true
# shellcheck disable=SC2086
refuse "more running threads than there are" "4 hardware threads, no more can run" \
	"$SOFTPMU" stat $four_threads -e $retired:active=5 true
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

# ACTIVE THREAD under sampling: as many samples as the count has periods.
for words in active=single active=both t1_usr:active=both t0_usr:t1_usr:active=single; do
	"$SOFTPMU" record -q --core prescott --smt -e $retired:$words -c 499 -o data --replay two 2>err || cat err
	samples=$(perf script -i data -F tid 2>/dev/null | wc -l) counted=$(count :$words $retired)
	holds "$words: $samples samples every 499 of $counted instructions" \
		"$samples > 200 && $counted >= 499 * $samples && $counted < 1.005 * 499 * $samples + 2 * 499"
done
# Clocks, of each thread and of both: an interrupt leaves alone what the other thread has not counted yet.  A period is
# lost if no instruction retires for as long, and at a thread's end: hence 2 %.
for words in active=both active=single t0_usr:t1_usr:active=any t0_usr:t1_usr:active=both; do
	"$SOFTPMU" record -q --core prescott --smt -e $running:$words -c 499 -o data --replay two 2>err || cat err
	samples=$(perf script -i data -F tid 2>/dev/null | wc -l) counted=$(count :$words $running)
	holds "$words: $samples samples every 499 of $counted clocks" \
		"$samples > 200 && $counted >= 499 * $samples && $counted < 1.02 * 499 * $samples"
done

# Four threads: interrupts to each, PEBS records of each.
record_four() { "$SOFTPMU" record -q --core prescott -o data --replay four "$@" 2>err || cat err; }
threads() { perf script -i data -F tid 2>/dev/null | sort -n | uniq -c | awk '{ print $2, $1 }'; }
for event in "$retired -c 997" "memory_loads:p -c 97"; do
	# shellcheck disable=SC2086	# an event and its period
	record_four -e $event
	threads >apart
	# shellcheck disable=SC2086
	record_four --smt --set smt.threads=4 -e $event
	threads >smt
	same_files "$event samples each of four threads as on cores of their own" smt apart
done
for n in any 1 4; do
	words=threads=0xf:active=$n
	record_four --smt --set smt.threads=4 -e $running:$words -c 499
	samples=$(threads | awk '{ n += $2 } END { print n }') counted=$(of_four -e $running:$words | cut -d, -f1)
	holds "$words: $samples samples every 499 of $counted clocks" \
		"$samples > 200 && $counted >= 499 * $samples && $counted < 1.02 * 499 * $samples"
done
for t in 1 2 3; do
	record_four --smt --set smt.threads=4 -e $retired:t0_usr:ovf_pmi_t$t -c 997
	same "OVF_PMI of T$t interrupts that thread" "$(threads | cut -d' ' -f1)" \
		"$(sed -n "$((t + 1))p" apart | cut -d' ' -f1)"
done
exit $failed
