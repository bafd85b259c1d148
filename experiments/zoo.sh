#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Judges topdown, cost and tune --software by the programs of tests/programs/zoo, whose bottlenecks are known: each row
# has what the tool named, the gain that it promised, the gain of the mended program in the model, and whether cause and
# promise are right.  A promise is right within a third of the gain.  zoo.tsv there says what is expected.
#   zoo.sh [NAME...]        these programs; all of them if none is named
#   TOOLS="topdown cost tune"   only these tools
#   SET=second              the programs of tests/programs/zoo-second instead, which nobody looked at for any rule
# A line for each program and tool: name|tool|verdict|promised|gained|cause|promise, shares in per cent.
set -eu
TOP=$(cd "$(dirname "$0")/.." && pwd)
SOFTPMU=${SOFTPMU:-$TOP/build/softpmu}
PROGRAMS=${PROGRAMS:-$TOP/build/tests/programs}
set=${SET:-zoo}
case $set in
zoo) zoo=$TOP/tests/programs/zoo ;;
second) zoo=$TOP/tests/programs/zoo-second ;;
*) echo "zoo.sh: SET is zoo or second" >&2; exit 2 ;;
esac
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
tab=$(printf '\t')
# shellcheck disable=SC2046
[ $# -gt 0 ] || set -- $(awk -F "$tab" '!/^#/ { print $1 }' "$zoo/$set.tsv")

# TOOL EXPECTED VERDICT PROMISED: prints the program's row.
row() {
	awk -v n="$name" -v tool="$1" -v expected="$2" -v verdict="$3" -v promised="$4" -v gained="$gained" 'BEGIN {
		split(verdict, word, " ")
		cause = "wrong"
		n_e = split(expected, e, "|")
		for (i = 1; i <= n_e; i++) if (e[i] == word[1]) cause = "right"
		off = promised > gained ? promised - gained : gained - promised
		promise = promised == "" ? "none" : off <= gained / 3 ? "right" : "wrong"
		if (expected == "-") promise = cause
		printf "%s|%s|%s|%s|%s|%s|%s\n", n, tool, verdict, promised, gained, cause, promise }'
}
field() { sed -n "s/.*\"$1\": *\"\{0,1\}\([^\",}]*\).*/\1/p"; }
# The largest share of an event, of 2 % or more; that of a what-if where no event explains two thirds of it; or the
# largest group of the decomposition besides `base`.
cost_verdict() {
	awk '
	function get(key,   at) {
		if (!match($0, "\"" key "\": \"?[^\",}]*"))
			return ""
		at = substr($0, RSTART + length(key) + 4, RLENGTH - length(key) - 4)
		sub(/^"/, "", at)
		return at
	}
	# + 0: numbers, not texts; null is 0
	/^[{]"event"/ { v = get("share_total_time") + 0; if (v > best) { best = v; event = get("event") } }
	/^[{]"what_if"/ { v = get("share") + 0; if (v > limit) { limit = v; kind = get("what_if") } }
	/^[{]"group"/ {
		v = get("cycles") + 0
		if (get("group") == "base") base = v
		else if (v > most) { most = v; group = get("group") }
	}
	END {
		if (best < 2 * limit / 3) { best = limit; event = kind }
		if (best >= 0.02) printf "%s %.1f\n", event, 100 * best
		else print (most > base ? group : "base")
	}'
}
judge() {	# NAME OPTIONS NODES EVENTS RULES
	name=$1 options=$2
	# the same machine on every host
	case $options in *--core*) ;; *) options="$options --core golden-cove" ;; esac
	for v in slow mended; do
		assists=
		case $options in *--assists*) assists=--assists ;; esac
		ln -sf "$PROGRAMS/${set}_$name" "$work/${set}_$name"
		# shellcheck disable=SC2086
		(cd "$work" && env -i "$SOFTPMU" trace -q $assists -o $v ./"${set}_$name" $v >/dev/null)
		# shellcheck disable=SC2086
		"$SOFTPMU" stat $options -x, -e cycles --per-thread --replay "$work/$v" \
			-o "$work/$v.csv" >/dev/null 2>&1
		# what takes the longest: a thread that waits for another one is not counted twice
		awk -F, '{ for (i = 1; i < NF; i++) if ($i ~ /^[0-9]+$/) { if ($i > most) most = $i; break } }
			END { print most + 0 }' "$work/$v.csv" >"$work/$v.cycles"
	done
	gained=$(awk 'NR == 1 { slow = $1 } END { printf "%.1f", 100 * (1 - $1 / slow) }' \
		"$work/slow.cycles" "$work/mended.cycles")
	case " ${TOOLS:-topdown cost tune} " in *" topdown "*)
		# shellcheck disable=SC2086
		"$SOFTPMU" topdown $options -j --no-metrics --replay "$work/slow" 2>"$work/out" || true
		row topdown "$3" "$(grep '"bottleneck": true' "$work/out" | field name)" "" ;;
	esac
	case " ${TOOLS:-topdown cost tune} " in *" cost "*)
		# shellcheck disable=SC2086
		"$SOFTPMU" cost $options -j --replay "$work/slow" 2>"$work/out" || true
		verdict=$(cost_verdict <"$work/out")
		case $verdict in *' '*) promised=${verdict#* } ;; *) promised= ;; esac
		row cost "$4" "${verdict% *}" "$promised" ;;
	esac
	case " ${TOOLS:-topdown cost tune} " in *" tune "*)
		# shellcheck disable=SC2086
		"$SOFTPMU" tune --software $options -j --replay "$work/slow" 2>"$work/out" || true
		head -n 1 "$work/out" >"$work/first"
		rule=$(field advice <"$work/first") line=$(field line <"$work/first") promised=
		grep -q '"gain_cycles"' "$work/first" &&
			promised=$(field share <"$work/first" | awk '{ printf "%.1f", 100 * $1 }')
		here=$(awk '/\/\* HERE \*\// { print NR; exit }' "$zoo/${set}_$name.c")
		[ -z "$line" ] || [ "$line" = "$here" ] || rule="$rule at line $line, expected $here"
		expected=$5
		case $rule in *line*) expected=never ;; esac
		row tune "$expected" "${rule:--}" "$promised" ;;
	esac
}
for one; do
	awk -F "$tab" -v n="$one" '$1 == n { print $2; print $3; print $4; print $5; found = 1 }
		END { exit !found }' "$zoo/$set.tsv" >"$work/row" ||
		{ echo "no program '$one' in $set.tsv" >&2; exit 1; }
	{ read -r o; read -r nodes; read -r events; read -r rules; } <"$work/row"
	judge "$one" "$o" "$nodes" "$events" "$rules"
done
