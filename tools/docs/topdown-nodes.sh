#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Prints docs/reference/topdown-nodes.md: each node of toplev (tests/events/toplev-nodes.tsv),
# and what data/metrics/ has of it.  A node that is neither there nor explained ends the script with an error.
#   tools/docs/topdown-nodes.sh >docs/reference/topdown-nodes.md
set -eu
cd "$(dirname "$0")/../.."
cat <<'EOF'
# Top-Down nodes

Made by `tools/docs/topdown-nodes.sh`; do not edit.

`softpmu topdown` has the nodes of Top-Down by the names that toplev of pmu-tools gives them. The tables below list
toplev's nodes down to level 4 for two cores. *Formula* says whether the node is computed from events, by the published
formula: `data/metrics/` has the formulas and their sources. *Exact* names the causes of the slots that the exact column
adds up; `src/analysis/slots.h` defines them. Where something is missing, the table says why. Nodes of softpmu that
toplev does not have stand below each table. `(a)`: counted only in a run with `--assists`, which looks for denormal
numbers.

EOF
for core in golden-cove skylake; do
	printf '## %s\n\n| level | node | formula | exact |\n|--:|---|---|---|\n' "$core"
	awk -F '\t' -v core="$core" '
	/^#/ { next }
	FNR == NR {	# data/metrics
		if (NF == 9 && $2 !~ /^:/) {
			parent[$1] = $2
			formula[$1] = $4
			exact[$1] = $6
			level[$1] = $2 == "-" ? 1 : level[$2] + 1
			order[++n] = $1
		}
		next
	}
	function bad(what) { print "topdown-nodes: " core ": " $3 ": " what >"/dev/stderr"; failed = 1 }
	function with(name) { return name ~ /^(Assists|CISC)$/ ? "yes (a)" : "yes" }
	$1 == core {
		theirs[$3] = 1
		if (!($3 in level)) {
			if ($5 == "-") bad("neither a node nor a reason")
			printf "| %d | %s | no node: %s | |\n", $2, $3, $5
			next
		}
		if ($5 != "-") bad("is a node, but has a reason for being none")
		if (level[$3] != $2 || parent[$3] != $4) bad("is on level " level[$3] " below " parent[$3])
		if ((formula[$3] == "-") != ($6 != "-")) bad("its formula is " formula[$3] ", the reason: " $6)
		if ((exact[$3] == "-") != ($7 != "-")) bad("its exact share is " exact[$3] ", the reason: " $7)
		causes = exact[$3]
		gsub(/\+/, "` + `", causes)
		printf "| %d | %s | %s | %s |\n", $2, $3, formula[$3] == "-" ? "no: " $6 : with($3),
			exact[$3] == "-" ? "no: " $7 : "`" causes "`"
	}
	END {
		print "\nNot nodes of toplev:\n\n| level | node | formula | exact |\n|--:|---|---|---|"
		for (i = 1; i <= n; i++)
			if (!(order[i] in theirs)) {
				causes = exact[order[i]]
				gsub(/\+/, "` + `", causes)
				printf "| %d | %s | %s | `%s` |\n", level[order[i]], order[i],
					formula[order[i]] == "-" ? "no event counts it" : "yes", causes
			}
		exit failed
	}' "data/metrics/$core.tsv" tests/events/toplev-nodes.tsv
	[ $core = skylake ] || echo
done
