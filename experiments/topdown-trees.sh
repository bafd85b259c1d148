#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# make topdown: level 1 of the top-down tree of the real programs of the bench, by formula and exactly, and the
# bottleneck that is named, on every preset that has the whole tree. Fails if level 1 does not sum to 100 %, or if a
# share is negative.  Takes minutes a preset; CORES="skylake ..." and TOPDOWN_PROGRAMS="bzip2 ..." choose.
set -eu
cd "$(dirname "$0")/.."
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT INT TERM
. bench/programs.sh
failed=0
for core in ${CORES:-golden-cove skylake ivy-bridge}; do
	printf '%s\n%-10s %21s %21s %21s %21s  %s\n' "$core" \
		program 'front end (exact)' 'bad speculation' 'retiring' 'back end' bottleneck
	for p in ${TOPDOWN_PROGRAMS:-bzip2 xz sqlite3 python3}; do
		run "$p" build/softpmu topdown --core "$core" --no-metrics -x, -o "$work/csv"
		awk -F, -v p="$p" '
			$1 == 1 { formula += $3; exact += $4; n++; shown[n] = sprintf("%.1f%% (%.1f%%)", 100 * $3,
				100 * $4) }
			($3 != "" && $3 < 0) || ($4 != "" && $4 < 0) { bad = bad " negative: " $2 }
			$6 == 2 { named = $2 }
			END { printf "%-10s %21s %21s %21s %21s  %s\n", p, shown[1], shown[2], shown[3], shown[4], named
				if (n != 4 || (formula - 1) ^ 2 > 1e-10 ||
					(exact - 1) ^ 2 > 1e-10) bad = bad " level 1 sums to " formula ", " exact
				if (bad != "") { print "FAILED " p ":" bad; exit 1 } }' "$work/csv" || failed=1
	done
done
exit $failed
