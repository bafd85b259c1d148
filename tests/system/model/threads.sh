#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Threads in modelled time: the cost of sharing data, scaling over cores, hardware threads of one core, and threads that
# take turns on a processor; the same stream always gives the same counts. The program is tests/programs/sharing.c.
. "$TOP/tests/lib.sh"
stream() { "$SOFTPMU" stat -x, -e cycles --no-wrong-path --save-stream "$1" "$PROGRAMS/sharing" "$2" "$3" "$4" \
	>/dev/null 2>&1; }
# count EVENT STREAM OPTIONS...: prints the count
count() {
	event=$1 file=$2
	shift 2
	"$SOFTPMU" stat --core skylake --no-wrong-path -x, -e "$event" "$@" --replay "$file" 2>&1 | cut -d, -f1
}
time_of() { count duration_time "$@"; }

# The cost of sharing: 100,000 rounds per thread.
stream padded4 padded 400000 4
stream false4 false 400000 4
padded=$(time_of padded4) false=$(time_of false4)
holds "counters in one cache line take longer ($false ns) than in lines of their own ($padded ns)" \
	"$false > 1.5 * $padded"
taken=$(count l2_rqsts.rfo_miss false4) alone=$(count l2_rqsts.rfo_miss padded4)
holds "the shared line causes $taken RFO misses, lines of their own only $alone" \
	"$taken > 20 * $alone && $taken > 10000"
clears=$(count machine_clears.memory_ordering false4)
holds "loads from a line that another core takes clear the machine: $clears times" "$clears > 0"
stream queue2 queue 20000 2
hitm=$(count mem_load_l3_hit_retired.xsnp_hitm queue2)
holds "a queue between two threads: $hitm loads hit a line that is modified in the other core" "$hitm > 500"
none=$(count mem_load_l3_hit_retired.xsnp_hitm padded4)
holds "without sharing few loads do so: $none" "$none * 5 < $hitm"

# Contention: 20,000 increments of one counter in all.
for n in 1 2 4; do stream lock$n lock 20000 $n; done
one=$(time_of lock1) two=$(time_of lock2) four=$(time_of lock4)
holds "more threads are no faster under one lock: $one, $two, $four ns with 1, 2, 4 threads" \
	"$two > 0.8 * $one && $four > 0.8 * $one"
unhalted=$(count cycles lock4)
holds "threads that wait for the lock spin: four threads use $unhalted cycles in $four ns" "$unhalted > 2 * 3.4 * $four"
moved=$(count mem_load_l3_hit_retired.xsnp_hitm lock2)
holds "the lock's line moves between the cores $moved times in 20,000 increments of two threads" \
	"$moved > 5000 && $moved < 50000"
shared=$(time_of lock4 --cpus 1) half=$(time_of lock4 --cpus 2)
holds "on one processor four threads take as long as one: $shared ns" "$shared > 0.9 * $one && $shared < 1.5 * $one"
holds "on two processors the lock costs as much as on four: $half ns" "$half > 0.7 * $four && $half < 1.5 * $four"
for mode in atomic mutex; do
	stream ${mode}4 $mode 20000 4
	t=$(time_of ${mode}4)
	holds "four threads with $mode increments take a plausible time: $t ns" "$t > $padded / 10"
done

# Scaling: the same work on 1, 2 and 4 cores. alu0 does almost no work; its time is subtracted as start-up.
stream alu0 alu 4 4
stream alu1 alu 400000 1
stream alu2 alu 400000 2
stream alu4 alu 400000 4
start=$(time_of alu0) one=$(time_of alu1) two=$(time_of alu2) four=$(time_of alu4)
holds "two cores are twice as fast: $two ns instead of $one" \
	"($one - $start) / ($two - $start) > 1.8 && ($one - $start) / ($two - $start) < 2.2"
holds "four cores are nearly four times as fast: $four ns" \
	"($one - $start) / ($four - $start) > 3.4 && ($one - $start) / ($four - $start) < 4.4"

# More threads than processors.
shared=$(time_of alu4 --cpus 1) half=$(time_of alu4 --cpus 2) all=$(time_of alu4 --cpus 4)
holds "four threads on one processor take as long as one thread with all the work: $shared ns" \
	"$shared > 0.9 * $one && $shared < 1.25 * $one"
holds "four threads on two processors take as long as two threads: $half ns" "$half > 0.9 * $two && $half < 1.25 * $two"
holds "four threads on four processors take as long as without --cpus: $all ns" \
	"$all < 1.2 * $four && $all > 0.8 * $four"
short=$(time_of alu4 --cpus 1 --quantum 10us)
holds "a quantum of 10 us makes more switches and takes longer: $short ns" \
	"$short > 1.05 * $shared && $short < 1.5 * $shared"
stream chase4 chase 400000 4
cold=$(count mem_load_retired.l2_miss chase4 --cpus 1 --quantum 100us) warm=$(count mem_load_retired.l2_miss chase4)
holds "L2 misses more on a shared processor ($cold) than on cores of their own ($warm)" "$cold > 1.2 * $warm"
stream pingpong mutex 4000 2
switches=$(time_of pingpong --cpus 1)
holds "two threads with one mutex finish on one processor: $switches ns" "$switches > 0"

# Hardware threads: two threads, 200,000 rounds each. A thread of "wide" fills every slot alone; one of "alu" waits for
# its multiplications.
for mode in wide alu; do
	stream ${mode}_0 $mode 2 2
	stream ${mode}_1 $mode 200000 1
	stream ${mode}_2 $mode 400000 2
	start=$(time_of ${mode}_0) one=$(time_of ${mode}_1) apart=$(time_of ${mode}_2) smt=$(time_of ${mode}_2 --smt)
	gain=$(awk -v o="$one" -v s="$smt" -v b="$start" 'BEGIN { printf "%.2f", 2 * (o - b) / (s - b) }')
	holds "two hardware threads of $mode have $gain times the throughput of one ($smt ns; two cores: $apart)" \
		"$gain > 0.95 && $gain < 2.05"
	eval "gain_$mode=$gain"
done
# shellcheck disable=SC2154
holds "dependent instructions gain more from SMT than independent ones: $gain_alu and $gain_wide" \
	"$gain_alu > $gain_wide + 0.5"
issued=$(count uops_issued.any wide_2 --smt) alone=$(count uops_issued.any wide_2)
holds "SMT issues as many uops ($issued) as two cores ($alone)" "$issued < 1.001 * $alone && $issued > 0.999 * $alone"

# AnyThread: each hardware thread counts the instructions of both, and the cycles in which at least one runs.
any=$(count cpu/event=0xc0,any=1/ alu_2 --smt) own=$(count cpu/event=0xc0/ alu_2 --smt)
holds "AnyThread counts the instructions of both hardware threads: $any, without it $own" \
	"$any > 1.8 * $own && $any < 2.01 * $own"
any=$(count cpu/event=0x3c,any=1/ alu_2 --smt) own=$(count cpu/event=0x3c/ alu_2 --smt)
holds "AnyThread counts the cycles in which either thread runs: $any, without it $own" \
	"$any > 0.98 * $own && $any < 1.1 * $own"
apart=$(count cpu/event=0xc0,any=1/ alu_2) own=$(count cpu/event=0xc0/ alu_2)
holds "AnyThread changes nothing on a core with one thread: $apart" "$apart == $own"
"$SOFTPMU" record -q --core skylake --smt -e cpu/event=0xc0,any=1/ -o d true >/dev/null 2>e
holds "sampling with AnyThread is refused: $(cat e)" "$(grep -c AnyThread e) == 1"

# More than two hardware threads (--set smt.threads).
two=$(time_of alu4 --smt) four=$(time_of alu4 --smt --set smt.threads=4) apart=$(time_of alu4)
holds "four threads take longer the fewer cores they share: $four, $two, $apart ns on one, two, four cores" \
	"$four > 0.95 * $two && $two > 0.95 * $apart"
two=$(count uops_issued.any alu4 --smt) four=$(count uops_issued.any alu4 --smt --set smt.threads=4)
holds "one core of four threads issues as many uops ($four) as two cores of two ($two)" \
	"$four < 1.001 * $two && $four > 0.999 * $two"

# The counts do not depend on the load of the host: the busy run shares one processor of the host with a busy loop.
cpu=$(taskset -cp $$ | sed 's/.*[ ,-]//')
for mode in queue lock mutex alu; do
	taskset -c "$cpu" sh -c 'while :; do :; done' &
	busy=$!
	taskset -c "$cpu" "$SOFTPMU" stat -x, -e cycles --no-wrong-path --save-stream busy "$PROGRAMS/sharing" $mode \
		4000 4 >/dev/null 2>&1
	kill $busy
	wait $busy 2>/dev/null
	stream idle $mode 4000 4
	a=$(time_of idle) b=$(time_of busy)
	holds "$mode takes the same modelled time on an idle and a busy host: $a and $b ns" "$a == $b"
done

# The same stream gives the same counts, and the same instructions with any sharing.
stream again false 40000 4
events=cycles,instructions,uops_issued.any,mem_load_retired.l1_miss,l2_rqsts.rfo_miss,mem_load_l3_hit_retired.xsnp_hitm
for options in "" "--smt" "--cpus 3 --quantum 20us" "--cpus 1"; do
	for n in 1 2; do
		# shellcheck disable=SC2086
		"$SOFTPMU" stat --core skylake -x, -e $events --no-wrong-path $options --replay again >s$n 2>&1
	done
	holds "two replays${options:+ with $options} count the same" "$(cmp -s s1 s2 && echo 1 || echo 0)"
	holds "sharing does not change the instructions: $(sed -n 's/,.*instructions.*//p' s1)" \
		"$(sed -n 's/,.*instructions.*//p' s1) == $(count instructions again)"
done

# With a single thread, --smt and --cpus change nothing.
stream single padded 20000 1
for event in cycles l2_rqsts.rfo_miss; do
	plain=$(count $event single)
	for options in "--smt" "--cpus 1" "--cpus 4"; do
		# shellcheck disable=SC2086
		holds "$options does not change $event of a single thread: $plain" \
			"$(count $event single $options) == $plain"
	done
done

# Refusals.
refuse_stat() {	# PATTERN OPTION...
	pattern=$1; shift
	refuse "stat $*" "$pattern" "$SOFTPMU" stat "$@" true
}
refuse_stat "one hardware thread" --core core2 --smt
refuse_stat "smt.threads" --core skylake --smt --set smt.threads=9
refuse_stat "do not go together" --smt --cpus 2
refuse_stat "needs --cpus" --quantum 5us
refuse_stat "neither a number" --cpus 2 --quantum 5kg
refuse_stat "from 1 to" --cpus 0
exit $failed
