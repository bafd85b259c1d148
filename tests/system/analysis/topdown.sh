#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# softpmu topdown: for each program that stresses one node of the tree, this node is named, on every preset with
# formulas. Level 1 adds up to 100 %, by formula and exactly; no share is negative; the values of the formulas are those
# that awk computes from stat's counts; metrics that cannot be counted are refused with their names.
. "$TOP/tests/lib.sh"
topdown="$PROGRAMS/topdown"

# LEAF NODE ROUNDS: the program's mode, the node to be named, and the rounds. itlb is left out on golden-cove: its uop
# cache holds the jumps, so nothing is fetched.
cat >"$work/leaves" <<'EOF'
retiring Light_Operations 2000
latency Ports_Utilization 1000
ports Ports_Utilization 2000
divider Divider 1000
icache ICache_Misses 400
itlb ITLB_Misses 1000
mite MITE 1000
lcp LCP 400
mispredict Branch_Mispredicts 1000
clear Machine_Clears|Other_Nukes 1000
l1 L1_Bound 2000
l2 L2_Bound 1000
l3 L3_Bound 1000
dram DRAM_Bound 1000
store Store_Bound 2000
EOF
while read -r leaf node rounds; do
	"$SOFTPMU" stat -e instructions --set wrong_path=1 --save-stream "$work/$leaf" -- "$topdown" "$leaf" "$rounds" \
		>/dev/null 2>"$work/err" || { bad "stream of $leaf"; cat "$work/err"; }
done <"$work/leaves"
# Whether mispredicted branches execute a wrong path changes where their slots are counted, but not the named node.
for core in skylake ivy-bridge golden-cove; do
	for wrong_path in 0 1; do
	named=0
	while read -r leaf node rounds; do
		# shellcheck disable=SC2086
		[ $core-$leaf = golden-cove-itlb ] && continue
		# the walks of 4 KB pages take longer than memory
		set -- --core $core --set wrong_path=$wrong_path
		[ "$leaf" != dram ] || set -- "$@" --set memory.page=2M
		"$SOFTPMU" topdown "$@" -l 3 --no-metrics --start begin --stop end -x, --replay "$work/$leaf" \
			2>"$work/csv" ||
			{ bad "$core $leaf"; cat "$work/csv"; continue; }
		if grep -Eq "^[1-4],($node),.*,2\$" "$work/csv"; then
			named=$((named + 1))
		else
			bad "$core $leaf, wrong_path=$wrong_path: $(grep ',2$' "$work/csv") instead of $node"
		fi
		awk -F, -v what="$core $leaf, wrong_path=$wrong_path" '
			$1 == 1 { formula += $3; exact += $4; n++ }
			($3 != "" && $3 < -1e-6) || ($4 != "" && $4 < 0) { print "FAILED " what ": negative: " $0;
				wrong = 1 }
			END { if (n != 4 || (formula - 1) ^ 2 > 1e-10 || (exact - 1) ^ 2 > 1e-10) {
				print "FAILED " what ": level 1 sums to " formula ", " exact; wrong = 1 }
				exit wrong }' "$work/csv" || failed=1
	done <"$work/leaves"
	[ $named -ge 14 ] && ok "$core, wrong_path=$wrong_path: the right node is named for $named programs" ||
		bad "$core, wrong_path=$wrong_path: only $named leaves named"
	done
done

# On level 4 the part of the cause is named.
while read -r leaf node; do
	for core in skylake golden-cove; do
		"$SOFTPMU" topdown --core $core --no-metrics --start begin --stop end -x, --replay "$work/$leaf" \
			2>"$work/csv"
		same "$core $leaf: the part named on level 4" "$(awk -F, '$6 == 2 { print $2 }' "$work/csv")" "$node"
	done
done <<'EOF'
l3 L3_Hit_Latency
latency Ports_Utilized_0
mispredict Branch_Mispredicts
EOF

# The exact shares of a node's children add up to the node; of what Other_Light_Ops has, only parts are named.
awk -F, '{ level[NR] = $1; value[NR] = $4; name[NR] = $2 } END {
	for (i = 1; i <= NR; i++) {
		sum = 0; n = 0
		for (j = i + 1; j <= NR && level[j] > level[i]; j++)
			if (level[j] == level[i] + 1 && value[j] != "") { sum += value[j]; n++ }
		if (n && (name[i] == "Other_Light_Ops" ? sum > value[i] + 1e-5 : (sum - value[i]) ^ 2 > 1e-10)) {
			print "FAILED exact: " name[i] " is " value[i] ", its parts " sum; wrong = 1 }
	}
	exit wrong }' "$work/csv" && ok "exact shares of children add up to their node" || failed=1

# The values of the formulas, computed by awk from stat's counts of the same stream.
"$SOFTPMU" stat --core skylake -x, \
	-e CPU_CLK_UNHALTED.THREAD,UOPS_ISSUED.ANY,UOPS_RETIRED.RETIRE_SLOTS,INT_MISC.RECOVERY_CYCLES \
	-e IDQ_UOPS_NOT_DELIVERED.CORE,CYCLE_ACTIVITY.STALLS_L1D_MISS,CYCLE_ACTIVITY.STALLS_L2_MISS,INST_RETIRED.ANY \
	--replay "$work/mispredict" 2>"$work/counts"
"$SOFTPMU" topdown --core skylake -x, --replay "$work/mispredict" 2>"$work/csv"
awk -F, 'NR == FNR { n = $3; sub(/:u$/, "", n); c[n] = $1; next }
	{ got[$2] = $3 }
	function same(name, want) { if (got[name] == "" || (got[name] - want) ^ 2 > 1e-11) {
		print "FAILED " name ": " got[name] ", stat says " want; wrong = 1 } }
	END { slots = 4 * c["CPU_CLK_UNHALTED.THREAD"]; fe = c["IDQ_UOPS_NOT_DELIVERED.CORE"] / slots;
		ret = c["UOPS_RETIRED.RETIRE_SLOTS"] / slots
		bad = (c["UOPS_ISSUED.ANY"] - c["UOPS_RETIRED.RETIRE_SLOTS"] \
			+ 4 * c["INT_MISC.RECOVERY_CYCLES"]) / slots
		same("Frontend_Bound", fe); same("Retiring", ret); same("Bad_Speculation", bad);
			same("Backend_Bound", 1 - fe - ret - bad)
		same("L2_Bound", (c["CYCLE_ACTIVITY.STALLS_L1D_MISS"] - c["CYCLE_ACTIVITY.STALLS_L2_MISS"]) / \
			c["CPU_CLK_UNHALTED.THREAD"])
		same("IPC", c["INST_RETIRED.ANY"] / c["CPU_CLK_UNHALTED.THREAD"]);
			exit wrong }' "$work/counts" "$work/csv" &&
				ok "the formulas have the values that awk computes from stat's counts" || failed=1


# stat -M and stat --topdown print the same shares.
"$SOFTPMU" stat --core skylake -M tma_frontend_bound,IPC -x, --replay "$work/mispredict" 2>"$work/stat"
awk -F, 'NR == FNR { got[$2] = $3; next } $7 == "%  Frontend_Bound" { fe = $6; n++ } $7 == "IPC" { ipc = $6; n++ }
	END { exit n != 2 || (fe - 100 * got["Frontend_Bound"]) ^ 2 > 0.0026 ||
		(ipc - got["IPC"]) ^ 2 > 0.000026 }' "$work/csv" "$work/stat" &&
			ok "stat -M prints topdown's values" || { bad "stat -M";
		cat "$work/stat"; }
"$SOFTPMU" stat --core skylake --topdown -x, --replay "$work/mispredict" 2>"$work/stat"
awk -F, 'NR == FNR { got[$2] = 100 * $3; next } FNR == 1 {
	if ($0 != "frontend bound,bad speculation,retiring,backend bound") exit 1 }
	FNR == 2 { exit ($1 - got["Frontend_Bound"]) ^ 2 + ($2 - got["Bad_Speculation"]) ^ 2 \
		+ ($3 - got["Retiring"]) ^ 2 + ($4 - got["Backend_Bound"]) ^ 2 > 0.0105 }' \
	"$work/csv" "$work/stat" && ok "stat --topdown prints topdown's values" ||
	{ bad "stat --topdown"; cat "$work/stat"; }
# Refusals, intervals, JSON and SVG.
"$SOFTPMU" topdown --core ivy-bridge --replay "$work/l1" 2>&1 |
	grep -q '^ Stalls_BOB: RESOURCE_STALLS2.BOB_FULL is not an event of this PMU$' &&
	ok "a metric whose event is missing is refused with both names" || bad "refusal"
"$SOFTPMU" topdown --core pentium --replay "$work/l1" >"$work/out" 2>&1 && bad "pentium has no formulas"
grep -q "there are no metrics for the PMU 'p5'" "$work/out" && ok "a PMU without metrics is refused with its name" || {
	bad "pentium"; cat "$work/out"; }
"$SOFTPMU" topdown -l 1 --no-metrics --interval 0.01ms -x, --replay "$work/retiring" 2>"$work/out"
# (An interval without counted cycles has no shares.)
awk -F, '$4 == "" { next } { sum[$1] += $4; exact[$1] += $5; n[$1]++ } END { for (t in n) { k++; if (n[t] != 4 ||
	(sum[t] - 1) ^ 2 > 1e-8) wrong = 1 } exit wrong || k < 3 }' "$work/out" \
	&& ok "level 1 of each interval adds up to 100 %" || { bad "intervals"; head "$work/out"; }
"$SOFTPMU" topdown -l 1 --no-metrics --per thread -j --svg "$work/svg" --replay "$work/retiring" 2>"$work/out"
[ "$(grep -c '^{"of": "topdown-[0-9]*", "level": 1, "name": "[A-Za-z_]*", "parent": null, "value": ' \
	"$work/out")" = 4 ] &&
	ok "--per thread -j prints level 1 of the thread as JSON" || { bad "JSON"; cat "$work/out"; }
grep -q '<svg xmlns' "$work/svg" && grep -q 'Frontend_Bound' "$work/svg" && ok "--svg writes a chart of the tree" ||
	bad "SVG"

# Nodes that old PMUs cannot count have no formula, only their exact share.
for core in $(if_32 pentium3 prescott); do
	"$SOFTPMU" topdown --core "$core" --no-metrics -x, -l 1 -- "$PROGRAMS/work32" >/dev/null 2>"$work/csv"
	awk -F, '{ exact += $4; n++; if ($2 == "Retiring") ret = $3 - $4; if ($2 == "Backend_Bound" &&
		$3 != "") wrong = 1 }
		END { exit wrong || n != 4 || (exact - 1) ^ 2 > 1e-10 || ret ^ 2 > 1e-4 }' "$work/csv" &&
			ok "$core: exact shares of all nodes, and Retiring by formula" ||
			{ bad "$core"; cat "$work/csv"; }
done

# With the wrong path executed, the formula of bad speculation counts it: the formulas of level 1 give the exact shares.
for core in skylake ivy-bridge golden-cove; do
	"$SOFTPMU" topdown --core $core --set wrong_path=1 --start begin --stop end --no-metrics -x, -l 1 -- \
		"$topdown" mispredict 1000 2>"$work/csv"
	awk -F, '{ n++; if ($3 < 0 || ($3 - $4) ^ 2 > 1e-6) wrong = 1 } END { exit wrong || n != 4 }' "$work/csv" &&
		ok "$core: with the wrong path, the formulas of level 1 give the exact shares" ||
		{ bad "$core: wrong path"; cat "$work/csv"; }
done
exit $failed
