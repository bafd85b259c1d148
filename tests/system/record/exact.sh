#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# The exact profile (record --exact): its cycles add up to the counted cycles on every family of cores; each function of
# the program has the cause it was written for; report --sampling-error and annotate use the profile; refusals.
. "$TOP/tests/lib.sh"
charged() { "$SOFTPMU" report -i "$1" --cycles exact --json | sed -n 's/.*"cycles": \([0-9]*\), "causes".*\[$/\1/p'; }
summed() { perf script -i "$1" -F event,period 2>/dev/null |
	awk '/exact\./ && !/exact.instructions|exact.sampled/ { n += $1 } END { print n }'; }
counted() { "$SOFTPMU" stat -x, -e cycles "$@" 2>&1 >/dev/null | sed -n 's/^\([0-9]*\),,cycles.*/\1/p'; }

"$SOFTPMU" stat -e cycles --save-stream stream "$PROGRAMS/causes" 20000 >out 2>&1 || { cat out; exit 1; }
for core in golden-cove skylake $(if_32 willamette) core2; do
	case $core in willamette) stream=stream32 ;; *) stream=stream ;; esac
	[ $stream = stream32 ] && [ ! -f stream32 ] &&
		{ "$SOFTPMU" stat --core pentium3 -e cycles --save-stream stream32 "$PROGRAMS/work32" 20000 >out 2>&1 ||
		exit 1; }
	"$SOFTPMU" record -q --core "$core" --exact -o "$core.data" --replay $stream || { failed=1; continue; }
	want=$(counted --core "$core" --replay $stream)
	check "$core: the profile has the $want counted cycles (got $(charged "$core.data"))" \
		[ "$(charged "$core.data")" = "$want" ]
	check "$core: perf adds up the same cycles" [ "$(summed "$core.data")" = "$want" ]
done

"$SOFTPMU" report -i golden-cove.data --cycles exact >out
head -n 14 out
has "report of a file with only an exact profile shows it" 'Exact profile' out
has "the function chase waits for caches and memory" ' chase: \(l2\|l3\|memory\|memory+walk\|l3+walk\) ' out
has "the function toss waits for mispredicts" ' toss: mispredict ' out
has "the function divide waits for the divider" ' divide: divider ' out
"$SOFTPMU" report -i golden-cove.data --cycles exact -s instruction >out
has "-s instruction shows single instructions with their causes" ' toss+0x[0-9a-f]*: mispredict [0-9.]*%' out
"$SOFTPMU" annotate -i golden-cove.data --cycles exact --no-source divide >out
has "annotate shows cycles and causes at the instructions" '^ *[0-9.]* : *[0-9a-f]*: *idiv.*; [0-9.]* each: divider' out
"$SOFTPMU" annotate -i golden-cove.data --cycles exact >out
has "annotate without a name shows the hottest function first" 'Disassembly of causes for exact cycles' out

# A file with samples besides the exact profile: report shows the samples as usual, and --sampling-error the error of
# each sampling method.
"$SOFTPMU" record -q --core golden-cove --exact=101 -e cycles,cycles:pp,instructions:ppp -c 101 -o all.data \
	--replay stream || failed=1
"$SOFTPMU" report -i all.data >out
has "report shows the samples" "event 'cycles:u'" out
check "report hides the events of the exact profile" [ "$(grep -c 'exact\.' out)" = 0 ]
"$SOFTPMU" report -i all.data --sampling-error >out
cat out
error() { awk -v m="$1" -v a="$2" '$0 ~ m && $10 == a { print int(10 * $2) }' out; }
check "time-proportional samples have an error below 6 %" [ "$(error 'time-proportional' cycles)" -lt 60 ]
check "imprecise samples have an error above 20 %" [ "$(error imprecise cycles)" -gt 200 ]
# (Here the period stays in step with the loop: a pair of two instructions restarts the period.)
check "PDist samples of instructions are nearer to instructions than to cycles" \
	[ "$(error "precise, instructions:ppp" instructions)" \
	-lt "$(error "precise, instructions:ppp" cycles)" ]
"$SOFTPMU" report -i all.data --sampling-error --json >out
has "--sampling-error --json names method and reference" '"method": "time-proportional", "against": "cycles"' out
# The error of chance in the report, against the mean error of 6 random draws from the profile.
samples=$(jq '.methods[0].samples' out)
"$SOFTPMU" report -i all.data --cycles exact --json | jq -r '.entries[].cycles' |
	awk -v n="$samples" -v want="$(jq '.methods[0].function_chance' out)" '
	{ c[NR] = $1; all += $1; upto[NR] = all }
	function draw(  v, low, high, middle) { x = (x * 16807) % 2147483647; v = x / 2147483647 * all
		low = 1; high = NR; while (low < high) { middle = int((low + high) / 2);
			if (upto[middle] < v) low = middle + 1; else high = middle }
		return low }
	END { x = 4711; for (k = 0; k < 6; k++) { delete got; for (i = 0; i < n; i++) got[draw()]++
		for (i = 1; i <= NR; i++) { d = got[i] / n - c[i] / all; sum += d < 0 ? -d : d } }
	      have = 50 * sum / 6; print have, want; exit !(have > 0.8 * want && have < 1.25 * want) }' >chance
check "the error of chance is the mean error of 6 draws ($(cat chance))" [ $? = 0 ]

# Threads and replays.
"$SOFTPMU" stat -x, -e cycles --save-stream stream.t "$PROGRAMS/threads" >out 2>err </dev/null
"$SOFTPMU" record -q --exact -o one.data --replay stream.t
"$SOFTPMU" record -q --exact -o two.data --replay stream.t
check "threads: the profile has the cycles of all threads" [ "$(charged one.data)" = "$(counted --replay stream.t)" ]
check "two replays give the same profile" [ "$("$SOFTPMU" report -i one.data --cycles exact | tail -n +2 |
	cksum)" = "$("$SOFTPMU" report -i two.data --cycles exact | tail -n +2 | cksum)" ]

refuse "a file that is not regular" "regular" "$SOFTPMU" report -i /dev/null --cycles exact
"$SOFTPMU" record -q -o plain.data --replay stream
refuse "a file without an exact profile" 'no exact profile' "$SOFTPMU" report -i plain.data --sampling-error
refuse "--sampling-error of a file without samples" \
	'nothing was sampled beside' "$SOFTPMU" report -i golden-cove.data --sampling-error
refuse "an unknown view" 'exact' "$SOFTPMU" report -i golden-cove.data --cycles rough
refuse "an unsupported sort key" 'symbol or by instruction' "$SOFTPMU" report -i golden-cove.data --cycles exact -s comm
refuse "a sampling distance of 0" 'whole number from 1' "$SOFTPMU" record --exact=0 true
exit $failed
