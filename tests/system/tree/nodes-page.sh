#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# docs/reference/topdown-nodes.md is what tools/docs/topdown-nodes.sh makes of the tables now, and the nodes that it
# says have a formula or an exact share have one in a run.
. "$TOP/tests/lib.sh"
sh "$TOP/tools/docs/topdown-nodes.sh" >page 2>err
same "every node of toplev is there, or the table says why not" "$?: $(cat err)" "0: "
diff -u "$TOP/docs/reference/topdown-nodes.md" page >differences && ok "the page is current" ||
	{ bad "tools/docs/topdown-nodes.sh >docs/reference/topdown-nodes.md"; head -n 20 differences; }
# A node without a reason is found.
mkdir -p copy/tools/docs copy/tests/events copy/data
cp -r "$TOP/data/metrics" copy/data
cp "$TOP/tools/docs/topdown-nodes.sh" copy/tools/docs
cp "$TOP/tests/events/toplev-nodes.tsv" copy/tests/events
sed -i '/^Lock_Latency	/d' copy/data/metrics/skylake.tsv
sh copy/tools/docs/topdown-nodes.sh >page.lost 2>err
same "a node that is lost is named" "$?: $(cat err)" \
	"1: topdown-nodes: skylake: Lock_Latency: neither a node nor a reason"

"$SOFTPMU" trace -q --assists -o stream "$PROGRAMS/reps" >/dev/null 2>&1
for core in golden-cove skylake; do
	"$SOFTPMU" topdown --core $core --assists -x, --no-metrics --replay stream 2>csv || { bad "$core"; cat csv; }
	awk -F, -v core=$core '
		FNR == NR { value[$2] = $3; exact[$2] = $4; next }
		/^## / { here = substr($0, 4) == core; next }
		!here || !/^\| [1-4] / { next }
		{ split($0, c, / *\| */); formula = c[4] ~ /^yes/; charged = c[5] ~ /^`/; nodes++ }
		formula != (value[c[3]] != "") || charged != (exact[c[3]] != "") {
			print core " " c[3] ": the page says " c[4] "; " c[5]
			print "the run has " value[c[3]] "; " exact[c[3]]
			wrong++
		}
		END { exit wrong || nodes < 60 }' csv page >out && ok "$core: a run has what the page says" ||
			{ bad "$core"; cat out; }
done
exit $failed
