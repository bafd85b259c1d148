#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# curves.sh PAGE [AGAIN...]: compares, from a page of softpmu calibrate, the latencies of chains of loads and the cost
# of a mispredict with their bounds, in Markdown. AGAIN: pages of the same host at other times (softpmu calibrate
# --native --page AGAIN chase stride random predicted), which show how much the host differs from itself.
set -eu
[ $# -ge 1 ] && [ -r "$1" ] || { echo "usage: curves.sh PAGE [AGAIN...]" >&2; exit 2; }
again=$(($# - 1))
cat <<END
## Memory and prediction of this host after calibrate

$(sed -n 's/^Host: //p' "$1")
Chains of loads through so many bytes, at random (chase) and 256 bytes apart (stride), and a mispredicted branch: twice the
difference of random and predicted branches. Native cycles are the median of five groups' shortest times, from 2 MB on of
their medians; beside it the least and most of the groups. Good: within 12 % of the host up to L2, within 25 % beyond.
END
[ $again = 0 ] || echo "\"Again\": the host at other times ($again) ÷ native."
cat <<END

| | native | least to most | base | after calibrate | after ÷ native | |$([ $again = 0 ] || echo ' again |')
|---|---:|---:|---:|---:|---:|---|$([ $again = 0 ] || echo '---:|')
END
awk -F' *[|] *' -v again="$again" '
FNR == 1 { file++ }
file > 1 && $3 + 0 > 0 {
	if (!($2 in least) || $3 + 0 < least[$2] + 0)
		least[$2] = $3
	if ($3 + 0 > most[$2] + 0)
		most[$2] = $3
}
file > 1 { next }
/^\| l2.size / { size = $4; l2 = size * (size ~ /M/ ? 1048576 : size ~ /K/ ? 1024 : 1) }
$2 ~ /^(chase|stride)\./ || $2 == "random" || $2 == "predicted" {
	name = $2; split($4, range, " to ")
	host[name] = $3; low[name] = range[1]; high[name] = range[2]; before[name] = $5; after[name] = $7
	if (name ~ /\./)
		order[++n] = name
}
function itself(name, h, bound) {
	if (!again)
		return ""
	if (!(name in least))
		return " |"
	steady[bound] += least[name] >= (1 - bound) * h && most[name] <= (1 + bound) * h
	asked[bound]++
	return sprintf(" %.2f to %.2f |", least[name] / h, most[name] / h)
}
function row(name, h, l, u, b, a, bound,    ratio, good) {
	if (h <= 0 || a <= 0)
		return
	ratio = a / h
	good = ratio >= 1 - bound && ratio <= 1 + bound
	near[bound] += good; of[bound]++
	printf "| %s | %.1f | %.1f to %.1f | %s | %.1f | %.2f | %s |%s\n", name, h, l, u,
		(b > 0 ? sprintf("%.1f", b) : ""), a, ratio, good ? "good" : "off",
		itself(name, h, bound)
}
END {
	row("mispredicted branch", 2 * (host["random"] - host["predicted"]), 2 * (low["random"] - low["predicted"]),
		2 * (high["random"] - low["predicted"]),
		2 * (before["random"] - before["predicted"]), 2 * (after["random"] - after["predicted"]), 0.12)
	for (i = 1; i <= n; i++) {
		bytes = order[i]; sub(/.*\./, "", bytes)
		bytes = bytes * (bytes ~ /M/ ? 1048576 : 1024)
		row(order[i], host[order[i]], low[order[i]], high[order[i]], before[order[i]], after[order[i]],
			bytes <= l2 ? 0.12 : 0.25)
	}
	printf "\n%d of %d up to L2 are good, %d of %d beyond.\n", near[0.12], of[0.12], near[0.25], of[0.25]
	if (again)
		printf "The host itself is as near to its own figures at all other times " \
			"(%d) for %d of %d and %d of %d.\n",
			again, steady[0.12], asked[0.12], steady[0.25], asked[0.25]
}' "$@"
