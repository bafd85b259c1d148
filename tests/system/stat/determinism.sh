#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Two runs of a program, and two replays of a stream, give identical counts and samples.
. "$TOP/tests/lib.sh"
seq 1 5000 >numbers
export LC_ALL=C PYTHONHASHSEED=0
events=cycles,instructions,branches,branch-misses,L1-dcache-loads,L1-dcache-load-misses,dTLB-load-misses,\
cache-references,cache-misses
for i in 1 2; do
	"$SOFTPMU" stat -e $events -o "stat$i" -- bzip2 -c numbers >/dev/null || failed=1
	"$SOFTPMU" record -q -e cycles,instructions -c 10007 -g -o "data$i" -- bzip2 -c numbers >/dev/null || failed=1
	perf script -i "data$i" -F comm,time,event,ip,sym,period >"script$i" 2>/dev/null || failed=1
done
same_files "two runs have the same counts" stat1 stat2
same_files "two runs have the same samples" script1 script2
[ -s script1 ] || bad "no samples"

"$SOFTPMU" stat -e instructions --save-stream threads.stream -o /dev/null -- "$PROGRAMS/threads" pingpong 50 \
	>/dev/null || failed=1
for i in 1 2; do
	"$SOFTPMU" stat -e $events -o "replay$i" --replay threads.stream || failed=1
	mkdir "d$i"; (cd "d$i" && "$SOFTPMU" record -q -c 1009 -g -o data --replay ../threads.stream) || failed=1
done
same_files "two replays have the same counts" replay1 replay2
same_files "two replays write the same perf.data, byte for byte" d1/data d2/data

# A live run and the replay of its stream agree too.
"$SOFTPMU" stat -x, -e $events --save-stream bzip2.stream -o live -- bzip2 -c numbers >/dev/null || failed=1
"$SOFTPMU" stat -x, -e $events -o replayed --replay bzip2.stream || failed=1
same_files "a live run and its replay have the same counts" live replayed

# Followed processes: the counts of each thread do not depend on the order in which their streams arrive.
"$SOFTPMU" stat --follow -e instructions --save-stream crowd.stream -o /dev/null -- "$PROGRAMS/crowd" 20000 2 ask \
	>crowd.out || failed=1
"$SOFTPMU" stat --follow --per-thread -x, -e cycles,instructions --replay crowd.stream -o crowd.as-it-was || failed=1
for how in first last turns; do
	"$PROGRAMS/rearrive" crowd.stream crowd.$how.stream $how || failed=1
	"$SOFTPMU" stat --follow --per-thread -x, -e cycles,instructions --replay crowd.$how.stream -o crowd.$how ||
		failed=1
	sort crowd.as-it-was >crowd.a
	sort crowd.$how >crowd.b
	same_files "the counts of each thread do not depend on the order of arrival ($how)" crowd.a crowd.b
done
# Nor do the counts depend on when the children end, or on the load of the host.
for i in 1 2 3 4 5; do
	"$SOFTPMU" stat --follow --per-thread --no-wrong-path -x, -e cycles,instructions -o crowd.live -- \
		"$PROGRAMS/crowd" 20000 2 ask >crowd.out || failed=1
	sed 's/-[0-9]*,/,/' crowd.live | sort >crowd.$i
	[ $i = 1 ] || same_files "live run $i has the same counts for each thread as the first" crowd.1 crowd.$i
done
threads=$(grep -c instructions crowd.as-it-was)
[ "$threads" = 6 ] && ok "the run has six threads in three processes" || bad "$threads threads, not 6"
exit $failed
