#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# The cost of a mispredict on each preset, measured as random branches against the same branches predicted, is within
# 12 % of the published cost (tests/native/mispredict.tsv).
. "$TOP/tests/lib.sh"
export MICRO="${MICRO:-$TOP/build/native/micro}"
[ -x "$MICRO" ] || skip "the microbenchmarks are not built (make programs)"
case $SOFTPMU in */san/*) echo "a sanitized model is slow: native-check.sh runs the benchmarks there"; exit 77 ;; esac
while IFS='	' read -r core published source; do
	case $core in '#'*|'') continue ;; esac
	"$TOP/experiments/native-page.sh" --model "$core" branch_random branch_predicted >"$work/model" 2>"$work/err" ||
		{ bad "$core" "$work/err"; continue; }
	awk -F'\t' -v core="$core" -v published="$published" -v source="$source" '
	$1 == "mispredict" {
		n = split(published, limit, /\.\./)
		good = $2 >= limit[1] * 0.88 && $2 <= limit[n] * 1.12
		printf "%s %s: a mispredict costs %.1f cycles, published %s (%s)\n", good ? "ok" : "FAILED", core, $2,
			published, source
		seen = 1
	}
	END { exit !(seen && good) }' "$work/model" || failed=1
done <"$TOP/tests/native/mispredict.tsv"
exit $failed
