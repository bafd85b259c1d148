#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# A program whose two phases have different best settings. tune --phases finds the phases and their settings; together
# they beat either setting for the whole run. Later runs switch settings where the phases begin: the same stream has the
# promised cycles, and another input gains, too.
. "$TOP/tests/lib.sh"
export SOFTPMU_STORE="$work/store"
prog=$PROGRAMS/phases
less() { awk -v a="$1" -v b="$2" -v by="$3" 'BEGIN { exit !(a > 0 && a < (1 - by) * b) }'; }
cycles() { "$SOFTPMU" run "$@" 2>said; sed -n 's/^\[ softpmu run: [0-9]* instructions in \([0-9]*\) cycles.*/\1/p' \
	said; }
"$SOFTPMU" trace -q -o p.trace -- "$prog" 2 || exit 1
"$SOFTPMU" tune --phases --features prefetch.l2_adjacent --replay p.trace >out 2>err || { cat err out; exit 1; }
cat out
check "two phases are found, twice each, besides the start-up" [ "$(awk '/^ +[1-4] +[0-9]+ +2 /' out | wc -l)" = 2 ]
check "one phase runs with the prefetcher, the other without" \
	[ "$(grep -c "as the preset has it; from phases+0x" out) $(grep \
	-c "prefetch.l2_adjacent=off; from phases+0x" out)" = "1 1" ]
check "the settings are kept" grep -q "The settings of the phases are kept" out
with=$(cycles --replay p.trace)
check "run reports that it switches settings" grep -q "and others in [234] phases" said
check "run has the promised cycles" grep -q " $with cycles of golden-cove; promised $with, " said
on=$(cycles --no-profile --replay p.trace)
off=$(cycles --no-profile --feature prefetch.l2_adjacent=off --replay p.trace)
echo "cycles: $with by phase, $on with the prefetcher, $off without"
check "2 % fewer cycles than with the prefetcher in the whole run" less "$with" "$on" 0.02
check "2 % fewer cycles than without the prefetcher in the whole run" less "$with" "$off" 0.02
check "stat switches settings, too" [ "$("$SOFTPMU" stat -x, -e cycles -o /dev/stdout --replay p.trace 2>/dev/null |
	cut -d, -f1)" = "$with" ]
phased=$with
with=$(cycles -- "$prog" 3)
check "a run with another input gains 2 %" less "$with" "$(cycles --no-profile -- "$prog" 3)" 0.02
cycles -- "$prog" 0 >/dev/null
check "a run that reaches no phase prints no warning" [ "$(wc -l <said)" = 2 ]
check "--wrmsr still writes during the run: the prefetcher is on again" less "$phased" \
	"$(cycles --profile --wrmsr MISC_FEATURE_CONTROL=0@collect --replay p.trace)" 0.02
check "tune show lists the phases" [ "$("$SOFTPMU" tune show "$prog" | grep -c "  phase [1-4], from phases+0x")" = 2 ]
check "tune show -j lists the settings that were tried" \
	[ "$("$SOFTPMU" tune show -j "$prog" | grep -o '"settings": "' | wc -l)" -ge 3 ]

"$SOFTPMU" trace -q -o s.trace -- "$PROGRAMS/stream" read 64 20 >/dev/null || exit 1
"$SOFTPMU" tune --phases --no-keep --features prefetch.l2_adjacent --replay s.trace >out 2>err
check "--no-keep keeps nothing" [ "$("$SOFTPMU" tune list -j | wc -l)" = 1 ]
"$SOFTPMU" tune --phases --features prefetch.l2_adjacent --replay s.trace >out 2>err
check "without a gain by phase, settings for the whole run are kept" \
	grep -q "The settings for the whole run are kept" out
for bad in "--interval 5" "--features nothing" "--set rob.size=64" "--cpus 2" "--interval"; do
	# shellcheck disable=SC2086
	"$SOFTPMU" tune --phases $bad --replay s.trace >out 2>err
	check "$bad is refused in one line" [ "$? $(wc -l <err) $(wc -c <out)" = "2 1 0" ]
done
exit $failed
