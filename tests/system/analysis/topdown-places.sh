#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# softpmu topdown --per function, line and loop: the parts add up to the whole, and the slow function, line or loop is
# named with its cause. --hottest samples the event of the bottleneck in the same run and shows the hottest
# instructions. --one-pmu and --perf-metrics add columns to the tree.
. "$TOP/tests/lib.sh"
topdown="$PROGRAMS/topdown"
for leaf in l2 mispredict retiring; do
	"$SOFTPMU" stat -e instructions --set wrong_path=1 --save-stream "$work/$leaf" -- "$topdown" $leaf 500 \
		>/dev/null 2>"$work/err" || { bad "stream of $leaf"; cat "$work/err"; }
done

# The parts add up to the whole.
"$SOFTPMU" topdown --no-metrics -x, --replay "$work/mispredict" 2>"$work/whole"
for per in function line loop; do
	"$SOFTPMU" topdown --per $per --rows 0 -x, --replay "$work/mispredict" 2>"$work/csv"
	awk -F, -v per=$per '
		NR == FNR { if ($4 != "") whole[$2] = $4; next }
		$3 == "Slot_Share" { share = $5; shares += share; places++; level1 = 0; next }
		$5 != "" { sum[$3] += share * $5; if ($5 < 0) wrong = 1 }
		$2 == 1 { level1 += $5; if (++nodes % 4 == 0 && (level1 - 1) ^ 2 > 1e-10) {
			print "level 1 of " $1 " sums to " level1; wrong = 1 } }
		END { if ((shares - 1) ^ 2 > 1e-6 || places < 20) { print places " shares sum to " shares; wrong = 1 }
			for (n in whole) if ((whole[n] - sum[n]) ^ 2 > 1e-6) {
				print n " is " whole[n] ", its parts sum to " sum[n]; wrong = 1 }
			exit wrong }' "$work/whole" "$work/csv" >"$work/out" &&
				ok "--per $per: the parts add up to the whole" || { bad "--per $per"; cat "$work/out"; }
done
# The slow function, loop and line are named with the cause.
for leaf in l2:L2_Bound mispredict:Branch_Mispredicts retiring:Light_Operations; do
	function=${leaf%:*} node=${leaf#*:}
	"$SOFTPMU" topdown --per function --start begin --stop end --replay "$work/$function" 2>"$work/out"
	grep -q "^  *[0-9.]*%  .*  $node [0-9.]*%  *\(chase\|$function\) \[topdown\]$" "$work/out" &&
		ok "--per function names the slow function with $node" ||
		{ bad "--per function: $function"; head -n 8 "$work/out"; }
done
"$SOFTPMU" topdown --per loop --start begin --stop end --replay "$work/mispredict" 2>"$work/out"
sed -n 5p "$work/out" | grep \
	-q "Branch_Mispredicts [0-9.]*%  *mispredict+0x[0-9a-f]*\.\.0x[0-9a-f]* (topdown.c:[0-9]*) \[topdown\]$" &&
	ok "--per loop names the slow loop with its cause" || { bad "--per loop"; head -n 8 "$work/out"; }
"$SOFTPMU" topdown --per line -l 2 --start begin --stop end --replay "$work/mispredict" 2>"$work/out"
sed -n 5p "$work/out" | grep -q "Branch_Mispredicts [0-9.]*%  *topdown.c:[0-9]* mispredict \[topdown\]$" &&
	ok "--per line names the slow line with its cause" || { bad "--per line"; head -n 8 "$work/out"; }

# --hottest: the program runs once and its stream is sampled; only perf.data is left behind.
cat >"$work/once.sh" <<EOS
echo ran >>"$work/runs"
exec "$topdown" mispredict 500
EOS
mkdir "$work/tmp" "$work/here"
(cd "$work/here" && TMPDIR="$work/tmp" "$SOFTPMU" topdown --hottest --no-metrics --follow --start begin --stop end \
	--set wrong_path=1 -- /bin/sh "$work/once.sh") >/dev/null 2>"$work/out"
[ "$(wc -l <"$work/runs")" = 1 ] && [ -s "$work/here/perf.data" ] && [ -z "$(ls "$work/tmp")" ] &&
	ok "--hottest runs the program once and leaves only perf.data" ||
	{ bad "--hottest: runs"; cat "$work/out"; ls "$work/tmp" "$work/here"; }
grep -q 'samples of BR_MISP_RETIRED.ALL_BRANCHES:pp' "$work/out" && grep -A 1 'the hottest instructions:$' "$work/out" |
	grep -q '%  mispredict+0x[0-9a-f]*  topdown.c:[0-9]*  \[topdown\]$' &&
	ok "--hottest names the hottest instruction" ||
	{ bad "--hottest"; head -n 90 "$work/out" | tail -n 30; }
grep -q '^ *[1-9][0-9.]* : .*jae\|^ *[1-9][0-9.]* : .*jb' "$work/out" && ok "--hottest annotates the branches" ||
	{ bad "--hottest: annotation"; tail -n 40 "$work/out"; }
(cd "$work/here" && "$SOFTPMU" topdown --hottest -l 1 --start begin --stop end --replay "$work/mispredict") \
	>"$work/out" 2>&1 && bad "--hottest without an event"
grep -q -- '--hottest: Bad_Speculation (-l 4 goes further down) names no event to sample' "$work/out" &&
	ok "--hottest of a node without an event is refused with its name" || { bad "no event"; tail -n 3 "$work/out"; }

# --one-pmu: in a loop that never changes, events that take turns give the same shares, if each has enough of them.
"$SOFTPMU" stat -e instructions --set wrong_path=1 --save-stream "$work/l1" -- "$topdown" l1 50000 >/dev/null 2>&1
"$SOFTPMU" topdown --one-pmu --rotate 0.0002 --no-metrics -x, --start begin --stop end --replay "$work/l1" 2>"$work/csv"
awk -F, '$7 != "" { n++; if (($7 - $3) ^ 2 > 0.01) { print "one PMU: " $0; wrong = 1 } } END { exit wrong || n < 20 }' \
	"$work/csv" >"$work/out" && ok "--one-pmu is within 10 points of the formulas" ||
	{ bad "--one-pmu"; cat "$work/out" "$work/csv"; }

# PERF_METRICS: fields of eight bits for the nodes of levels 1 and 2.
for leaf in l2 mispredict retiring; do
	"$SOFTPMU" topdown -l 2 --perf-metrics --set wrong_path=1 --no-metrics -x, --replay "$work/$leaf" 2>"$work/csv"
	awk -F, '$7 == "" { print "no field: " $0; wrong = 1 }
		$1 == 1 { sum += $7; n++; d = $7 - $4; if (d < -0.01 || d > 0.01) { print "level 1: " $0; wrong = 1 } }
		$1 == 2 { level2 += $7 }
		END { exit wrong || n != 4 ||
			(sum - 1) ^ 2 > 1e-9 }' "$work/csv" >"$work/out"
	[ -s "$work/out" ] && { bad "PERF_METRICS of $leaf"; cat "$work/out"; } ||
		ok "PERF_METRICS of $leaf has levels 1 and 2"
done
# The example of docs/howto/topdown.md: topdown names the search's mispredicted branch, and no longer in the version
# without the branch.
if command -v gcc >/dev/null; then
	gcc -O2 -g -o "$work/bins" "$TOP/docs/examples/bins.c" && gcc -O2 -g -DSTEADY -o "$work/steady" \
		"$TOP/docs/examples/bins.c" || bad "bins.c"
	awk 'BEGIN { s = 42; for (i = 0; i < 1500; i++) { s = (s * 69069 + 1) % 4294967296; print s } }' \
		>"$work/numbers"
	for p in bins steady; do
		"$SOFTPMU" topdown --core skylake --set wrong_path=1 --per function -x, -- "$work/$p" 128 \
			<"$work/numbers" >"$work/$p.out" 2>"$work/$p.csv"
	done
	cmp -s "$work/bins.out" "$work/steady.out" && grep -q '^bin_of \[bins\],2,Branch_Mispredicts,.*,2$' \
		"$work/bins.csv" &&
		grep '^bin_of \[steady\],1,Bad_Speculation,' "$work/steady.csv" | awk -F, '{ exit !($5 < 0.1) }' &&
		ok "docs/howto/topdown.md: the branch is named, and not after the change" ||
		{ bad "docs/howto/topdown.md"; grep ^bin_of "$work/bins.csv" "$work/steady.csv"; }
fi
refuses() {	# WORDS OPTION...
	words=$1; shift
	"$SOFTPMU" topdown "$@" --replay "$work/l2" >"$work/out" 2>&1 && bad "$*: not refused"
	grep -q -- "$words" "$work/out" && ok "refused: $*" || { bad "$*"; cat "$work/out"; }
}
refuses "the PMU 'skylake' has no MSR_PERF_METRICS" --core skylake --perf-metrics
refuses "not one of function, line, loop or thread" --per file
refuses "known from the records alone: not with --no-exact" --per loop --no-exact
refuses "compared over the whole run: not with --interval" --one-pmu -I 1
refuses "follows the one tree of the run: not with --interval, --per, -x or -j" --hottest -x,
exit $failed
