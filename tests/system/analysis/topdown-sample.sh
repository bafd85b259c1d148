#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# topdown --sample: levels 1 and 2 lie near those of full detail.  Without the wrong path, which warming does not have;
# a short run has some hundred windows only, so the tolerance is 3 points.  The program does the same from begin to end:
# a few windows of one that does not may lie some points off by chance.
. "$TOP/tests/lib.sh"
bare_stream s even 3200 >out
"$SOFTPMU" topdown -x, -l 2 --no-metrics --no-wrong-path --replay s -o full
"$SOFTPMU" topdown -x, -l 2 --no-metrics --no-wrong-path --sample --replay s -o sampled
"$SOFTPMU" topdown -x, -l 2 --no-metrics --no-wrong-path --sample --replay s -o again
same_files "two sampled runs print the same" sampled again
cut -d, -f2 full >full.names
cut -d, -f2 sampled >sampled.names
same_files "the same nodes" full.names sampled.names
for column in 3 4; do
	paste -d, full sampled | awk -F, -v c=$column '$1 > 0 { d = $(c + 6) - $c; d = d < 0 ? -d : d
		if (d >= m) { m = d; name = $2 } } END { print 100 * m, name }' >difference
	name="$([ $column = 3 ] && echo formula || echo exact): largest difference in points"
	near "$name, $(cut -d' ' -f2 difference)" "$(cut -d' ' -f1 difference)" 0.0001 3
done
"$SOFTPMU" topdown -l 1 --no-wrong-path --sample --replay s -o tree
has "it says how much was measured" "windows; [0-9.]*% of the instructions after the start were measured" tree

# Without --sample the first 15 million instructions of a process are timed, and the rest is sampled; --detail=N sets
# another number.
"$SOFTPMU" topdown -x, -l 2 --no-metrics --no-wrong-path --detail --replay s -o again 2>err
same_files "--detail times the whole run" full again
"$SOFTPMU" topdown -x, -l 2 --no-metrics --no-wrong-path --detail=1G --replay s -o again 2>>err
same_files "a run that is not as long is timed" full again
same "and nothing is said" "$(cat err)" ""
"$SOFTPMU" topdown -x, -l 2 --no-metrics --no-wrong-path --detail=5M --replay s -o sampled 2>err
has "the change is told" "^softpmu: the first 5 million instructions are timed; the rest of the run is sampled" err
paste -d, full sampled | awk -F, '$1 > 0 { for (c = 3; c <= 4; c++) { d = $(c + 6) - $c; d = d < 0 ? -d : d
	m = d > m ? d : m } } END { print 100 * m }' >difference
near "what was timed counts as it is: largest difference in points" "$(cat difference)" 0.0001 1
same "level 1 adds up to all slots" "$(awk -F, '$1 == 1 { s += $4 } END { printf "%.4f", s }' sampled)" 1.0000
"$SOFTPMU" topdown -l 1 --detail=5M --replay s -o tree 2>err
has "the tree says how much was timed" "[0-9.]*% of the instructions were timed, then the run was sampled" tree
has "and how much was measured" "windows; [0-9.]*% of the instructions after the start were measured" tree
hasnt "PERF_METRICS, which is not estimated, has no column" PERF_METRICS tree
"$SOFTPMU" topdown -l 1 --detail=1G --replay s -o tree
has "in full detail it has" PERF_METRICS tree
"$SOFTPMU" topdown -x, -l 1 --no-metrics --detail=300K "$PROGRAMS/threads" spin 20000 >out 2>err
has "threads at the same time are timed" "all of the run was timed, because several threads ran" err
refuse "--detail=N -I" "estimate the one tree" "$SOFTPMU" topdown --detail=1M -I 1 true
refuse "--detail --sample" "exclude each other" "$SOFTPMU" topdown --detail --sample true

for o in "-I 1" "--per thread" "--per function" "--one-pmu" "--perf-metrics" --hottest "--start 100" \
	"--smt --no-exact" "--cpus 2"; do
	# shellcheck disable=SC2086	# two words
	refuse "--sample $o" "--sample goes\|estimate the\|neither --sample" "$SOFTPMU" topdown --sample $o true
done
exit $failed
