#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Threads by modelled time: what sharing costs, scaling over cores, hardware threads of one core, processors
# shared by time; and that a stream always gives the same numbers. tests/programs/sharing.c is what runs.
. "$TOP/tests/lib.sh"
stream() { "$SOFTPMU" stat -x, -e cycles --no-wrong-path --save-stream "$1" "$PROGRAMS/sharing" "$2" "$3" "$4" \
	>/dev/null 2>&1; }
# EVENT STREAM OPTIONS...: its count
count() {
	event=$1 file=$2
	shift 2
	"$SOFTPMU" stat --core skylake --no-wrong-path -x, -e "$event" "$@" --replay "$file" 2>&1 | cut -d, -f1
}
time_of() { count duration_time "$@"; }

# what sharing costs: 100,000 rounds a thread
stream padded4 padded 400000 4
stream false4 false 400000 4
padded=$(time_of padded4) false=$(time_of false4)
holds "counters side by side in a line: $false ns, in lines of their own $padded" "$false > 1.5 * $padded"
taken=$(count l2_rqsts.rfo_miss false4) alone=$(count l2_rqsts.rfo_miss padded4)
holds "the line is taken $taken times, else $alone" "$taken > 20 * $alone && $taken > 10000"
clears=$(count machine_clears.memory_ordering false4)
holds "loads of a line that is taken clear the machine: $clears times" "$clears > 0"
stream queue2 queue 20000 2
hitm=$(count mem_load_l3_hit_retired.xsnp_hitm queue2)
holds "a queue between two threads: $hitm loads find the line modified in the other core" "$hitm > 500"
none=$(count mem_load_l3_hit_retired.xsnp_hitm padded4)
holds "without sharing: $none" "$none * 5 < $hitm"

# contention: the same 20,000 increments of one counter
for n in 1 2 4; do stream lock$n lock 20000 $n; done
one=$(time_of lock1) two=$(time_of lock2) four=$(time_of lock4)
holds "a lock does not scale: $one, $two, $four ns with 1, 2, 4 threads" "$two > 0.8 * $one && $four > 0.8 * $one"
unhalted=$(count cycles lock4)
holds "who waits for it spins: $unhalted cycles of four threads in $four ns" "$unhalted > 2 * 3.4 * $four"
moved=$(count mem_load_l3_hit_retired.xsnp_hitm lock2)
holds "its line goes from core to core: $moved times for 20,000 increments of two threads" \
	"$moved > 5000 && $moved < 50000"
shared=$(time_of lock4 --cpus 1) half=$(time_of lock4 --cpus 2)
holds "on one processor it stays there: $shared ns" "$shared > 0.9 * $one && $shared < 1.5 * $one"
holds "on two it costs as much as on four: $half ns" "$half > 0.7 * $four && $half < 1.5 * $four"
for mode in atomic mutex; do
	stream ${mode}4 $mode 20000 4
	t=$(time_of ${mode}4)
	holds "$mode, four threads: $t ns" "$t > $padded / 10"
done

# scaling: the same work on 1, 2 and 4 cores; what precedes it is in the first
stream alu0 alu 4 4
stream alu1 alu 400000 1
stream alu2 alu 400000 2
stream alu4 alu 400000 4
start=$(time_of alu0) one=$(time_of alu1) two=$(time_of alu2) four=$(time_of alu4)
holds "two cores: $two ns for $one" "($one - $start) / ($two - $start) > 1.8 && ($one - $start) / ($two - $start) < 2.2"
holds "four cores: $four ns" "($one - $start) / ($four - $start) > 3.4 && ($one - $start) / ($four - $start) < 4.4"

# processors shared by time
shared=$(time_of alu4 --cpus 1) half=$(time_of alu4 --cpus 2) all=$(time_of alu4 --cpus 4)
holds "one processor does four threads' work in $shared ns, as one thread does" \
	"$shared > 0.9 * $one && $shared < 1.25 * $one"
holds "two in $half ns" "$half > 0.9 * $two && $half < 1.25 * $two"
holds "four in $all ns" "$all < 1.2 * $four && $all > 0.8 * $four"
short=$(time_of alu4 --cpus 1 --quantum 10us)
holds "a quantum of 10 us costs switches: $short ns" "$short > 1.05 * $shared && $short < 1.5 * $shared"
stream chase4 chase 400000 4
cold=$(count mem_load_retired.l2_miss chase4 --cpus 1 --quantum 100us) warm=$(count mem_load_retired.l2_miss chase4)
holds "caches are cold behind a switch: $cold misses of L2, $warm on cores of their own" "$cold > 1.2 * $warm"
stream pingpong mutex 4000 2
switches=$(time_of pingpong --cpus 1)
holds "two threads at one mutex on one processor: $switches ns" "$switches > 0"

# hardware threads: two threads, each 200,000 rounds; wide fills every slot by itself, alu waits for its multiplications
for mode in wide alu; do
	stream ${mode}_0 $mode 2 2
	stream ${mode}_1 $mode 200000 1
	stream ${mode}_2 $mode 400000 2
	start=$(time_of ${mode}_0) one=$(time_of ${mode}_1) apart=$(time_of ${mode}_2) smt=$(time_of ${mode}_2 --smt)
	gain=$(awk -v o="$one" -v s="$smt" -v b="$start" 'BEGIN { printf "%.2f", 2 * (o - b) / (s - b) }')
	holds "two hardware threads of $mode: $gain times the throughput of one ($smt ns; $apart on two cores)" \
		"$gain > 0.95 && $gain < 2.05"
	eval "gain_$mode=$gain"
done
# shellcheck disable=SC2154
holds "whose instructions depend on each other gain more: $gain_alu, $gain_wide" "$gain_alu > $gain_wide + 0.5"
issued=$(count uops_issued.any wide_2 --smt) alone=$(count uops_issued.any wide_2)
holds "the work is the same: $issued uops, $alone on two cores" "$issued < 1.001 * $alone && $issued > 0.999 * $alone"

# AnyThread: instructions of both hardware threads, for each of them; cycles in which one of them runs
any=$(count cpu/event=0xc0,any=1/ alu_2 --smt) own=$(count cpu/event=0xc0/ alu_2 --smt)
holds "AnyThread counts the other hardware thread's instructions, too: $any, $own its own" \
	"$any > 1.8 * $own && $any < 2.01 * $own"
any=$(count cpu/event=0x3c,any=1/ alu_2 --smt) own=$(count cpu/event=0x3c/ alu_2 --smt)
holds "and cycles in which either runs: $any, $own in which it runs itself" "$any > 0.98 * $own && $any < 1.1 * $own"
apart=$(count cpu/event=0xc0,any=1/ alu_2) own=$(count cpu/event=0xc0/ alu_2)
holds "on a core of its own there is no other: $apart" "$apart == $own"
"$SOFTPMU" record -q --core skylake --smt -e cpu/event=0xc0,any=1/ -o d true >/dev/null 2>e
holds "it is not sampled: $(cat e)" "$(grep -c AnyThread e) == 1"

# more hardware threads than two, where the core is said to have them
two=$(time_of alu4 --smt) four=$(time_of alu4 --smt --set smt.threads=4) apart=$(time_of alu4)
holds "four threads on two cores take $two ns, on one core $four, on four $apart" \
	"$four > 0.95 * $two && $two > 0.95 * $apart"
two=$(count uops_issued.any alu4 --smt) four=$(count uops_issued.any alu4 --smt --set smt.threads=4)
holds "the work is the same: $two and $four uops" "$four < 1.001 * $two && $four > 0.999 * $two"

# the same program, the same numbers, however busy the host: one processor of it, with another busy thread there
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
	holds "$mode is the same on a busy host: $a and $b ns" "$a == $b"
done

# the same stream, the same numbers; instructions, whoever shares what
stream again false 40000 4
events=cycles,instructions,uops_issued.any,mem_load_retired.l1_miss,l2_rqsts.rfo_miss,mem_load_l3_hit_retired.xsnp_hitm
for options in "" "--smt" "--cpus 3 --quantum 20us" "--cpus 1"; do
	for n in 1 2; do
		# shellcheck disable=SC2086
		"$SOFTPMU" stat --core skylake -x, -e $events --no-wrong-path $options --replay again >s$n 2>&1
	done
	holds "twice the same${options:+ with $options}" "$(cmp -s s1 s2 && echo 1 || echo 0)"
	holds "and all instructions: $(sed -n 's/,.*instructions.*//p' s1)" \
		"$(sed -n 's/,.*instructions.*//p' s1) == $(count instructions again)"
done

# one thread alone: nothing changes
stream single padded 20000 1
for event in cycles l2_rqsts.rfo_miss; do
	plain=$(count $event single)
	for options in "--smt" "--cpus 1" "--cpus 4"; do
		# shellcheck disable=SC2086
		holds "a thread alone with $options: $plain $event" "$(count $event single $options) == $plain"
	done
done

# what is refused
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
