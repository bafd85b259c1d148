#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# softpmu cost: each method measures the known costs of test loops on the machine of US 2005/0273310. The decomposition
# adds up to the cycles that stat counts on the same stream, and the events are as many as stat's. A stall that improves
# the schedule has a negative cost. Live runs and replays print the same. Refusals.
. "$TOP/tests/lib.sh"
export TMPDIR="$work"
field() { awk -F, -v e="$2" -v n="$3" '$1 == e { print $n }' "$1"; }

# The machine of the tables in the patent: see docs/measured/cost.md.
machine="--core prescott --set core.frequency_ghz=3.4 --set l2.size=1M --set l2.latency=22"
machine="$machine --set l3.latency=23 --set dram.latency_ns=89.706 --set fsb.clock=0 --start again"
large="--set memory.page=2M --set prefetch.l2_streamer=0"
cost() { # NAME PROGRAM OPTION...: writes the CSV to $work/NAME
	name=$1 program=$2; shift 2
	"$SOFTPMU" cost -x, -o "$work/$name" "$@" -- "$program" >"$work/out" 2>"$work/err" ||
		{ bad "$name"; cat "$work/err"; }
}
# shellcheck disable=SC2086
{
cost mispredict "$PROGRAMS/cost-mispredict" $machine -e mispredict --histogram
cost l1 "$PROGRAMS/cost-l1" $machine -e l1_miss
cost l2 "$PROGRAMS/cost-l2" $machine $large -e l2_miss
cost bus "$PROGRAMS/cost-l2" --core willamette --start again $large -e l2_miss
}
near "the analytic cost of a mispredict" "$(field "$work/mispredict" mispredict 3)" 31 31
near "the median pushout of a mispredict" "$(field "$work/mispredict" mispredict 7)" 30 49
near "the cost of a mispredict by total time" "$(field "$work/mispredict" mispredict 9)" 30 40
modes=$(awk -F, '$1 == "histogram" { n[$3] = $4; all += $4 } END { for (v = 26; v < 50; v++) m += n[v] >= 0.05 * all &&
	n[v] > n[v - 1] + 0; print m }' "$work/mispredict")
near "the number of modes of the pushouts of mispredicts" "$modes" 3 12
for m in 3 9; do near "the cost of an L1 miss in column $m" "$(field "$work/l1" l1_miss $m)" 17.9 18.1; done
near "the median pushout of an L1 miss" "$(field "$work/l1" l1_miss 7)" 18 22
near "the analytic cost of an L2 miss" "$(field "$work/l2" l2_miss 3)" 305.9 306.1
near "the cost of an L2 miss by total time" "$(field "$work/l2" l2_miss 9)" 303 312
near "the analytic cost of an L2 miss behind the front-side bus" "$(field "$work/bus" l2_miss 3)" 230 231
near "its cost by total time" "$(field "$work/bus" l2_miss 9)" 228 237

# A load that crosses a cache line delays a multiplication outside the critical chain, so that the chain's own
# multiplication gets the multiplier first.
cost stall "$PROGRAMS/cost-stall" --core golden-cove --set l1d.split_penalty=7 -e split
near "the cost of a stall that improves the schedule is negative" "$(field "$work/stall" split 9)" -0.5 -0.2
near "the pushout of that stall is not negative" "$(field "$work/stall" split 5)" 0 50

# Real programs: the decomposition adds up to the CPI, and the events are those that the PMU counts.
head -c 60000 "$SOFTPMU" >"$work/data"
real() { # NAME command...
	name=$1; shift
	"$SOFTPMU" stat -x, -o "$work/$name.stat" \
		-e cycles,instructions,branch-misses,mem_load_retired.l2_hit,mem_load_retired.l3_miss \
		--save-stream "$work/$name.stream" -- "$@" >/dev/null 2>"$work/err" ||
		{ bad "$name: stat"; cat "$work/err"; return; }
	"$SOFTPMU" cost -x, -o "$work/$name" --no-total -e mispredict,l1_miss,l3_miss --replay "$work/$name.stream" \
		2>"$work/err" || { bad "$name"; cat "$work/err"; return; }
	awk -F, -v name="$name" '
		FNR == NR { count[$3] = $1; next }
		$1 == "cpi" { sum += $3; cpi += $4 }
		$1 == "mispredict" { misp = $2 } $1 == "l1_miss" { l2 = $2 } $1 == "l3_miss" { l3 = $2 }
		END {
			for (e in count) {
				short = e; sub(/:u$/, "", short); n[tolower(short)] = count[e]
			}
			wrong = (sum - n["cycles"]) ^ 2 > (0.005 * n["cycles"]) ^ 2 ||
				(cpi - n["cycles"] / n["instructions"]) ^ 2 > 1e-6 ||
				misp != n["branch-misses"] || l2 != n["mem_load_retired.l2_hit"] ||
					l3 != n["mem_load_retired.l3_miss"]
			printf "%s %s: cycles %d of %d, mispredicts %d of %d, L2 hits %d of %d, L3 misses %d of %d\n",
				wrong ? "FAILED" : "ok", name, sum, n["cycles"],
				misp, n["branch-misses"], l2, n["mem_load_retired.l2_hit"], l3,
					n["mem_load_retired.l3_miss"]
			exit wrong
		}' "$work/$name.stat" "$work/$name" || failed=1
}
real gzip gzip -c "$work/data"
real sort sort "$work/data"
real sed sed -n '/main/p' "$work/data"
real sha256sum sha256sum "$work/data"

# A replay with a change that sets a field to the value it has counts the events and cycles of the run.
tags="mispredict btb_miss l2_hit l3_miss stlb_miss icache_miss"
tags="$tags stall_sb split no_forward prefetch write_back clear lock divide access"
set --
for t in $tags; do set -- "$@" --tag "$t" --change core.frequency_ghz=3; done
"$SOFTPMU" cost -j -o "$work/same" "$@" --replay "$work/sort.stream" 2>"$work/err" ||
	{ bad "replays of the same machine"; cat "$work/err"; }
sed -n 's/.*"event": "\([a-z0-9_]*\)".*"count": \([0-9]*\),.*"replay": '\
'{[^}]*"cycles": \([0-9]*\), "events": \([0-9]*\),.*/\1 \2 \4 \3/p' \
	"$work/same" >"$work/counts"
awk -v cycles="$(awk -F, '$3 == "cycles:u" || $3 == "cycles" { print $1 }' "$work/sort.stat")" '
	{ if ($2 != $3 || $4 != cycles) {
		print "FAILED replay of " $1 ": " $2 " events, replayed " $3 "; " $4 " cycles of " cycles;
		wrong = 1 } some += $2 > 0 }
	END { if (NR != 15 || some < 9) { print "FAILED replays: " NR " of 15, " some " with events";
		wrong = 1 } else if (!wrong) print "ok replays count as the run did: " NR " tags"
		exit wrong }' "$work/counts" || failed=1

# Pairs: the interaction is what both save together less what each saves alone; its sign says which kind it is.
"$SOFTPMU" cost -x, -o "$work/pairs" --pairs -e mispredict,l1_miss,l3_miss --replay "$work/sort.stream" 2>"$work/err" ||
	{ bad "pairs"; cat "$work/err"; }
awk -F, '$1 == "cpi" { cycles += $3 }
	$1 == "pair" { n++; first[n] = $4; second[n] = $5; both[n] = $6; more[n] = $7; kind[n] = $8 }
	END {
		for (i = 1; i <= n; i++) {
			is = more[i] ^ 2 < (0.005 * cycles) ^ 2 ? "independent" : more[i] > 0 ? "parallel" : "serial"
			if (more[i] != both[i] - first[i] - second[i] || is != kind[i]) {
				print "FAILED pair " i ": " more[i] ", " kind[i]; wrong = 1 }
		}
		if (n < 1) { print "FAILED pairs: none"; wrong = 1 }
		if (!wrong) print "ok pairs: " n
		exit wrong }' "$work/pairs" || failed=1
# A full store buffer stops allocation, so at allocation its pushout is its duration.
"$SOFTPMU" cost -x, -o "$work/at" --core skylake --no-total -e store_buffer --at alloc --start begin --stop end -- \
	"$PROGRAMS/topdown" store 100 2>"$work/err" || { bad "--at"; cat "$work/err"; }
near "store buffer: pushout at allocation over duration" "$(awk -F, '$1 == "store_buffer" { print $5 / $4 }' \
	"$work/at")" 0.9 1.1

# A live run and two replays print the same, also by function; the live run removes its temporary stream.
cost live "$PROGRAMS/cost-l1" --core skylake -e all --by function --histogram
"$SOFTPMU" trace -q -o "$work/l1.stream" -- "$PROGRAMS/cost-l1" 2>"$work/err" || bad "trace"
for n in 1 2; do "$SOFTPMU" cost -x, -o "$work/replay$n" --core skylake -e all --by function \
	--histogram --replay "$work/l1.stream" 2>"$work/err" || bad "replay"; done
cmp -s "$work/replay1" "$work/replay2" && cmp -s "$work/live" "$work/replay1" &&
	ok "a live run and two replays print the same" ||
	{ bad "live and replayed differ"; diff "$work/live" "$work/replay1" | head -n 5; }
ls "$work" | grep -q softpmu-cost && bad "the temporary stream is left behind" || ok "the temporary stream is removed"

# --bars: the length of each bar is in proportion to the number before it.
"$SOFTPMU" cost --bars -o "$work/bars" --core skylake --no-total -e l1_miss --replay "$work/l1.stream" 2>"$work/err" ||
	bad "--bars"
sed -n '/side by side/,/Decomposition/p' "$work/bars" | sed -n 's/.* \([0-9.]*\) \(##*\)$/\1 \2/p' >"$work/bar"
awk '{ n = length($2); wrong += n > 50 || (n == 50 && $1 + 0 <= 0); value[NR] = $1; bar[NR] = n;
	most = $1 > most ? $1 + 0 : most }
	END { for (i = 1; i <= NR; i++) wrong += (bar[i] - 50 * value[i] / most) ^ 2 > 2.25; exit !(NR == 3 &&
		most > 0 && !wrong) }' "$work/bar" &&
	ok "the $(wc -l <"$work/bar") bars are in proportion to their numbers" || { bad "bars"; cat "$work/bars"; }

# The tag expression of an event counts as the event does; --by function finds the function; SVG and JSON output.
"$SOFTPMU" cost -j -o "$work/json" --core skylake --no-total -e l1_miss --tag 'l1d_miss & l2_hit' --by function \
	--svg "$work/svg" --replay "$work/l1.stream" 2>"$work/err" || bad "json"
two=$(grep -v '"place"' "$work/json" | sed -n 's/.*"event": .*"count": \([0-9]*\).*/\1/p' | uniq | wc -l)
[ "$two" = 1 ] && ok "a tag counts as the event does" || { bad "a tag and its event"; cat "$work/json"; }
grep -q '"place": "again \[cost-l1\]"' "$work/json" && ok "--by function names the function" ||
	bad "by function: $(grep place "$work/json")"
grep -q '</svg>' "$work/svg" && grep -q l1_miss "$work/svg" && ok "--svg writes a chart with the event" || bad "svg"
if command -v jq >/dev/null 2>&1; then jq -e . "$work/json" >/dev/null && ok "-j prints valid JSON" ||
	bad "-j prints invalid JSON"; fi

refuse_cost() {	# PATTERN OPTION...
	pattern=$1; shift
	refuse "cost $*" "$pattern" "$SOFTPMU" cost "$@"
}
refuse_cost "is not one of mispredict" -e mispredcit -- true
refuse_cost "nearest: .*l2_miss" --tag 'l2_mis' -- true
refuse_cost "belongs to no uop" --tag l1d_evict_modified -- true
refuse_cost "after the --tag" --change l2.size=4M -- true
refuse_cost "unknown field" --tag l2_miss --change l2.sizes=4M -- true
refuse_cost "due or event" --from now -- true
refuse_cost "function or instruction" --by line -- true
refuse_cost "retire, alloc, decode, memory, visible or fetch" --at dispatch -- true
refuse_cost "more than 255 characters" --tag l2_miss --change "l2.size=1M$(printf '%0260d' 0)" -- true
refuse_cost "from 0 to 100" --replay-from 101 -- true
refuse_cost "cannot write" --no-total -o /nowhere/x -- true
exit $failed
