#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# perf's generic names mean the same on every core and PMU: on one recorded run, instructions and branches are equal
# everywhere. Where a PMU has another meaning for a name, docs/reference/events.md says so; where it has none, the name
# is refused.
. "$TOP/tests/lib.sh"
"$SOFTPMU" trace -q -o stream -- awk 'BEGIN { for (i = 0; i < 9; i++) s += i; print s }' >/dev/null || exit 1
"$SOFTPMU" cores | sed -n 's/^  \([a-z][a-z0-9-]*\) .*/--core \1/p' >machines
for table in "$TOP"/data/events/*.tsv; do
	case $table in */uncore-*) continue ;; esac
	table=${table##*/}
	echo "--pmu ${table%.tsv}" >>machines
done
check "there are $(wc -l <machines) cores and PMUs" [ "$(wc -l <machines)" -ge 26 ]
others='branch-misses cache-references cache-misses L1-dcache-loads L1-dcache-load-misses L1-dcache-stores
	L1-icache-load-misses LLC-loads LLC-load-misses dTLB-loads dTLB-load-misses iTLB-load-misses
	bus-cycles ref-cycles'
while read -r option machine; do
	"$SOFTPMU" stat -x, "$option" "$machine" --replay stream -e instructions,branches,cycles,branch-misses 2>all
	set -- $(cut -d, -f1 all)
	[ "${instructions:=$1} ${branches:=$2}" = "$1 $2" ] ||
		bad "$machine: $1 instructions, $2 branches; others have $instructions and $branches"
	nonzero "$machine: $1 instructions, $2 branches in $3 cycles" "${3:-0}"
	"$SOFTPMU" list "$option" "$machine" -j >json
	for name in $others; do
		line=$(grep -E "\"perf\": \"([^\"]*,)?${name}[,\"]" json)
		case $line in
		*'"modelled": true'*) ;;	# list-output.sh counts them
		*) "$SOFTPMU" stat -x, "$option" "$machine" --replay stream -e "$name" 2>err >out
			case $? in 0) grep -q "^0*,,$name" err && bad "$machine: $name counts nothing" err ;;
			*) grep -q "$name" err || bad "$machine: $name is refused without its name" err ;;
			esac ;;
		esac
	done
done <machines
exit $failed
