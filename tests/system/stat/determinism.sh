#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# The same run twice, and the same stream replayed twice: every count and every sample identical.
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
same_files "stat of the same run" stat1 stat2
same_files "samples of the same run" script1 script2
[ -s script1 ] || bad "no samples"

"$SOFTPMU" stat -e instructions --save-stream threads.stream -o /dev/null -- "$PROGRAMS/threads" pingpong 50 \
	>/dev/null || failed=1
for i in 1 2; do
	"$SOFTPMU" stat -e $events -o "replay$i" --replay threads.stream || failed=1
	mkdir "d$i"; (cd "d$i" && "$SOFTPMU" record -q -c 1009 -g -o data --replay ../threads.stream) || failed=1
done
same_files "stat of a replayed stream" replay1 replay2
same_files "perf.data of a replayed stream, byte by byte" d1/data d2/data

# A live run and the replay of its stream agree too.
"$SOFTPMU" stat -x, -e $events --save-stream bzip2.stream -o live -- bzip2 -c numbers >/dev/null || failed=1
"$SOFTPMU" stat -x, -e $events -o replayed --replay bzip2.stream || failed=1
same_files "live run and its replay" live replayed

# Processes that are followed: what each takes does not depend on whose stream came when.
"$SOFTPMU" stat --follow -e instructions --save-stream crowd.stream -o /dev/null -- "$PROGRAMS/crowd" 20000 2 ask \
	>crowd.out || failed=1
"$SOFTPMU" stat --follow --per-thread -x, -e cycles,instructions --replay crowd.stream -o crowd.as-it-was || failed=1
for how in first last turns; do
	"$PROGRAMS/rearrive" crowd.stream crowd.$how.stream $how || failed=1
	"$SOFTPMU" stat --follow --per-thread -x, -e cycles,instructions --replay crowd.$how.stream -o crowd.$how ||
		failed=1
	sort crowd.as-it-was >crowd.a
	sort crowd.$how >crowd.b
	same_files "threads and processes whose streams come otherwise ($how)" crowd.a crowd.b
done
# Nor does what the threads execute depend on when the children end, or how busy the host is.
for i in 1 2 3 4 5; do
	"$SOFTPMU" stat --follow --per-thread --no-wrong-path -x, -e cycles,instructions -o crowd.live -- \
		"$PROGRAMS/crowd" 20000 2 ask >crowd.out || failed=1
	sed 's/-[0-9]*,/,/' crowd.live | sort >crowd.$i
	[ $i = 1 ] || same_files "threads and processes, live run $i" crowd.1 crowd.$i
done
threads=$(grep -c instructions crowd.as-it-was)
[ "$threads" = 6 ] && ok "six threads in three processes" || bad "$threads threads, not 6"
exit $failed
