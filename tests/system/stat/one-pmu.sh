#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# One PMU (--one-pmu, --rotate), as on hardware: events that do not fit take turns, and stat prints scaled counts and
# their share of time like perf. The reference is the default, with as many PMUs as the events need.
. "$TOP/tests/lib.sh"
E=cycles,instructions,branches,branch-misses,L1-dcache-loads,L1-dcache-load-misses
"$SOFTPMU" stat --core core2 -x, -e $E --save-stream stream "$PROGRAMS/work" 40000 >out 2>all </dev/null ||
	{ cat all; exit 1; }
check "by default no event takes turns" [ "$(awk -F, '$5 != "100.00"' all | wc -l)" -eq 0 ]
"$SOFTPMU" stat --core core2 --rotate 0.002 -e $E --replay stream 2>turns
cat turns
check "shares of time are printed as perf prints them" \
	grep -q '^  *[0-9,]*  *branches:u.*([0-9][0-9]\.[0-9][0-9]%)$' turns
"$SOFTPMU" stat --core core2 --rotate 0.002 -x, -e $E --replay stream 2>turns
check "with turns, each event counts for 20 to 90 % of the time" \
	[ "$(awk -F, '$5 + 0 >= 90 || $5 + 0 < 20' turns | wc -l)" -eq 0 ]
close_to_all() { awk -F, -v e="$1" \
	'index($3, e ":") == 1 { n[FILENAME] = $1 } END { d = n["turns"] / n["all"] - 1; print (d < 0.15 &&
		d > -0.15) }' all turns; }
for e in cycles instructions branches L1-dcache-loads; do check "scaled $e are within 15 % of the exact ones" \
	[ "$(close_to_all $e)" = 1 ]; done
"$SOFTPMU" stat --core core2 --one-pmu -x, -e $E --replay stream 2>short
check "a run shorter than a turn leaves two events not counted" [ "$(grep -c '^<not counted>,.*,0.00,' short)" -eq 2 ]
"$SOFTPMU" stat --core core2 --one-pmu -x, -e cycles,instructions --replay stream 2>few
check "events that fit on one PMU take no turns" [ "$(grep -c ',100.00,' few)" -eq 2 ]
"$SOFTPMU" stat --core core2 --one-pmu -e '{branches,branch-misses,cache-misses}' --replay stream 2>err && failed=1
check "a group that does not fit is refused" grep -q 'does not fit on one PMU' err
"$SOFTPMU" stat --one-pmu --per-region true 2>err && failed=1
check "--one-pmu and --per-region exclude each other" grep -q exclude err
exit $failed
