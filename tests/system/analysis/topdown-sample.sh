#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# topdown --sample: levels 1 and 2 lie near those of full detail.  Without the wrong path, which warming does not have;
# a short run has some hundred windows only, so the tolerance is 3 points.
. "$TOP/tests/lib.sh"
"$SOFTPMU" trace -q -o s awk 'BEGIN { for (i = 0; i < 2500; i++) { k = i * 7919 % 3001; n[k] += length(i k) }
	for (k in n) s += n[k]; print s }' >out
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
has "it says how much was measured" "Estimated from [0-9]* windows; [0-9.]*% of the instructions were measured" tree
for o in "-I 1" "--per thread" "--per function" "--one-pmu" "--perf-metrics" --hottest "--start 100" \
	"--smt --no-exact" "--cpus 2"; do
	# shellcheck disable=SC2086	# two words
	refuse "--sample $o" "--sample \(goes\|estimates\)" "$SOFTPMU" topdown --sample $o true
done
exit $failed
