#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# softpmu cost --graph, on loops with one kind of costly event each. The dependence graph of one run predicts within
# 10 % the cycles of a replay on a machine without such events, and within 5 % those of a replay in which only such
# events take no time (for L1I misses 40 %). The longest path is as long as the run. Recording details does not change
# the cycles. Pairs of classes add up. The critical path consists of the expected latencies. Unsupported options and
# cores are refused.
. "$TOP/tests/lib.sh"
export TMPDIR="$work"

# Compares, from the CSV, the graph's prediction for the class with both replays, and the path's length with the run's.
compare() { # CLASS LEAST_SHARE MOST_OFF_ALONE OPTION... PROGRAM...
	class=$1 share=$2 off=$3; shift 3
	"$SOFTPMU" cost --graph --better -x, -o "$work/out" -e "$class" "$@" >/dev/null 2>"$work/err" ||
		{ bad "$class"; cat "$work/err"; return; }
	if awk -F, -v class="$class" -v share="$share" -v off="$off" '
		$1 == "graph" && $2 == "all" { cycles = $3; path = $4 }
		$1 == "graph" && $2 == class { by = $3; part = $4; replay = $5; only = $7 }
		END {
			printf "%s: %d of %d cycles by the graph, %d by replay, %d with it alone free; path %d", class,
				by, cycles, replay, only, path
			exit !(cycles > 0 && (path - cycles) ^ 2 <= (0.01 * cycles) ^ 2 && part >= share &&
				replay > 0 && (by - replay) ^ 2 <= (0.1 * replay) ^ 2 && only > 0 &&
				(by - only) ^ 2 <= (off * only) ^ 2)
		}' "$work/out" >"$work/said"; then ok "$(cat "$work/said")"; else bad "$(cat "$work/said")"; fi
}
compare mispredict 0.3 0.05 --start again -- "$PROGRAMS/cost-mispredict"
compare l1_miss 0.2 0.05 --start again -- "$PROGRAMS/cost-l1"
compare l2_miss 0.5 0.05 --set memory.page=2M --set prefetch.l2_streamer=0 --start again -- "$PROGRAMS/cost-l2"
compare l3_miss 0.4 0.05 --start begin --stop end -- "$PROGRAMS/topdown" dram 40
# In the replay, fetch still waits for code lines that a prefetch has requested from memory; the graph attributes that
# wait to L1I misses.
compare icache_miss 0.4 0.4 --start begin --stop end -- "$PROGRAMS/topdown" icache 40

# The critical path of a chain of loads that miss L1D consists of the loads' latency.
"$SOFTPMU" cost --graph --no-total -x, -o "$work/path" --start again -- "$PROGRAMS/cost-l1" 2>"$work/err" ||
	{ bad "path"; cat "$work/err"; }
awk -F, '$1 == "graph" && $2 == "all" { cycles = $3 } $1 == "path" { all += $3;
	kind[$2] = $3 } $1 == "path-instruction" { n++ }
	END {
		good = cycles > 0 && all > 0.98 * cycles && all < 1.02 * cycles &&
			kind["l1d"] + kind["l2"] > 0.9 * cycles && kind["l2"] > 0.25 * cycles && n > 7
		printf "%s the critical path: %d of %d cycles, L1D %d, L2 %d\n", good ? "ok" : "FAILED", all, cycles,
			kind["l1d"], kind["l2"]
		exit !good
	}' "$work/path" || failed=1

# Its instructions have the names of their functions, and lines where there are any.
"$SOFTPMU" cost --graph --no-total -o "$work/path" --start begin --stop end -- "$PROGRAMS/topdown" latency 200 \
	>"$work/out" 2>"$work/err"
has "the critical path's instructions have functions and lines" \
	'^ *[0-9]* *[0-9.]*% *[0-9]*% [a-z0-9-]* *[a-z_]*+0x[0-9a-f]* (topdown.c:[0-9]*) \[topdown\]$' "$work/path"

# The shares of all places add up to the total, and the instructions on the chain that the run waits for have no slack.
"$SOFTPMU" cost --graph --slack --by instruction --rows 0 --no-total -x, -o "$work/slack" --start again -- \
	"$PROGRAMS/cost-l1" 2>"$work/err" || { bad "slack"; cat "$work/err"; }
awk -F, '
	$1 == "graph" && $2 == "all" { cycles = $3 } $1 == "graph" && $2 != "all" { class[$2] = $3 } $1 == "path" {
		path += $3 }
	$1 == "slack" { of[$2] = $3 " " $4 " " $5 " " $6; if ($2 == "global") { all = $3; none = $4 } }
	$1 == "slack-histogram" { seen[$2] += $5 }
	$1 == "graph-place" { paths += $3 } $1 == "graph-place-class" { classes[$3] += $4 }
	$1 == "graph-place-slack" { n[$3] += $4; z[$3] += $5; five[$3] += $6; fifty[$3] += $7 }
	$1 == "graph-place-slack" && $3 == "global" && $4 > 1000 && $5 > 0.9 * $4 { held++ }
	END {
		for (c in class) if (class[c] != classes[c] + 0) {
			print "FAILED " c ": " class[c] ", at places " classes[c]; wrong = 1 }
		for (k in of) if (of[k] != n[k] " " z[k] " " five[k] " " fifty[k] || seen[k] != n[k]) {
			print "FAILED slack, " k ": " of[k] ", at places " n[k] " " z[k] " " five[k] " " fifty[k] \
				", histogram " seen[k]; wrong = 1 }
		if (path != paths || !path) { print "FAILED path: " path ", at places " paths; wrong = 1 }
		if (!held || !all) { print "FAILED slack: no instruction of " all " is one that all wait for";
			wrong = 1 }
		if (!wrong) print "ok places add up to the path, the classes and slack: " none " of " all \
			" instructions have no slack, " held " addresses almost never have any"
		exit wrong
	}' "$work/slack" || failed=1

# Recording details does not change the cycles. The interaction of each pair has the sign that its name says.
"$SOFTPMU" trace -q -o "$work/stream" -- sort "$TOP/src/analysis/graph/graph.c" >/dev/null 2>"$work/err" || bad "trace"
plain=$("$SOFTPMU" stat -x, --no-wrong-path -e cycles --replay "$work/stream" 2>&1 |
	awk -F, '/cycles/ { print $1; exit }')
"$SOFTPMU" cost --graph --pairs --no-total -x, -o "$work/pairs" --replay "$work/stream" 2>"$work/err" ||
	{ bad "pairs"; cat "$work/err"; }
with=$(awk -F, '$1 == "graph" && $2 == "all" { print $3 }' "$work/pairs")
[ -n "$plain" ] && [ "$plain" = "$with" ] && ok "recording details does not change the cycles: $with" ||
	bad "cycles: '$plain' without details, '$with' with them"
awk -F, '$1 == "graph" && $2 == "all" { cycles = $3 }
	$1 == "graph" { alone[$2] = $3 }
	$1 == "graph-pair" { n++
		is = $7 ^ 2 < (0.005 * cycles) ^ 2 ? "independent" : $7 > 0 ? "parallel" : "serial"
		if ($7 != $6 - $4 - $5 || $4 != alone[$2] || $5 != alone[$3] || $8 != is) {
			print "FAILED pair " $2 ", " $3; wrong = 1 } }
	END { if (n < 1) { print "FAILED pairs: none"; wrong = 1 } else if (!wrong) print "ok pairs: " n;
		exit wrong }' "$work/pairs" || failed=1
"$SOFTPMU" cost --graph --pairs --no-total -x, -o "$work/again" --replay "$work/stream" 2>"$work/err" || bad "again"
cmp -s "$work/pairs" "$work/again" && ok "two replays print the same" || bad "two replays differ"

refuse_graph() {	# PATTERN OPTION...
	pattern=$1; shift
	refuse "cost --graph $*" "$pattern" "$SOFTPMU" cost --graph "$@"
}
refuse_graph "older cores" --core prescott -- true
refuse_graph "older cores" --core pentium -- true
refuse_graph "hardware threads" --smt -- true
if "$SOFTPMU" cost --slack -- true >"$work/out" 2>"$work/err"; then bad "--slack without --graph"
else same "--slack without --graph is refused in one line" \
	"$(grep -c "needs --graph" "$work/err")/$(grep -c . "$work/err")" 1/1; fi
exit $failed
