#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# stat finds every event that toplev's formulas of levels 1 to 4 name, for Skylake and Sapphire Rapids
# (tests/events/toplev.tsv): it counts it, or refuses it by name with the reason. None of those that count may be lost.
. "$TOP/tests/lib.sh"
list=$TOP/tests/events/toplev.tsv
for core in skylake golden-cove; do
	awk -F'\t' -v c="$core" '$1 == c && $4 == "counts" { print $3 }' "$list" >names
	"$SOFTPMU" stat --core "$core" -x, -e "$(paste -sd, names)" "$PROGRAMS/reps" >/dev/null 2>out </dev/null
	check "$core: all of $(wc -l <names) events count" [ "$(grep -c '^[0-9][0-9]*,' out)" = "$(wc -l <names)" ]
	awk -F'\t' -v c="$core" '$1 == c && $4 == "refused" { print $3 }' "$list" >names
	refused=0
	while read -r name; do
		"$SOFTPMU" stat --core "$core" -x, -e "$name" "$PROGRAMS/reps" >/dev/null 2>out </dev/null && continue
		refused=$((refused + 1))
		grep -q 'exists on .* but is not modelled: ...\|has no register for it' out ||
			{ bad "$core: $name is refused by name with the reason"; cat out; }
	done <names
	ok "$core: $refused of $(wc -l <names) others are refused with the reason"
done
exit $failed
