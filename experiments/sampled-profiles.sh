#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Compares `record --sample` with full detail: prints, for each program, the samples and the sum of their periods of
# both, and the total variation of the shares by function, as perf report has them (full detail takes a sample every
# 211 cycles); and the largest differences of topdown's levels 1 and 2.  The streams are those of sampled-truth.sh or
# sampled-runs.sh; perf must find the files that they executed.
#   STREAMS=DIR sampled-profiles.sh [OPTION...]      OPTION: of both runs, as --core skylake
#   PROGRAMS="awk bzip2": only these
set -eu
TOP=$(cd "$(dirname "$0")/.." && pwd)
SOFTPMU=${SOFTPMU:-$TOP/build/softpmu}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
shares() {	# FILE: period, file and function; addresses without a symbol are one function of their file
	PERF_CONFIG=/dev/null LC_ALL=C perf report --stdio -i "$1" --no-children -g none -s dso,sym -t ';' \
		--percent-limit 0 -F period,dso,sym 2>/dev/null |
		awk -F';' '/^ *[0-9]+ *;/ { gsub(/ /, ""); if ($3 ~ /0x[0-9a-f]+$/) $3 = "?"; print $1, $2 "/" $3 }'
}
for name in ${PROGRAMS:-sqlite3 python3 bzip2 xz perl}; do
	stream=${STREAMS:?the folder of streams}/$name
	[ -f "$stream" ] || { echo "$name: no stream"; continue; }
	"$SOFTPMU" record -q "$@" --detail -c 211 -o "$work/full" --replay "$stream"
	"$SOFTPMU" record -q "$@" --sample -o "$work/sampled" --replay "$stream"
	shares "$work/full" >"$work/a"
	shares "$work/sampled" >"$work/b"
	for f in full sampled; do
		PERF_CONFIG=/dev/null perf script -i "$work/$f" -F period 2>/dev/null | wc -l >"$work/$f.n"
	done
	awk -v name="$name" -v n="$(cat "$work/full.n")" -v m="$(cat "$work/sampled.n")" '
		NR == FNR { a[$2] += $1; all += $1; next } { b[$2] += $1; sum += $1; a[$2] += 0 }
		END {
			for (k in a) { d = a[k] / all - b[k] / sum; v += d < 0 ? -d : d }
			printf "%-8s %7d samples, %10d cycles; sampled %6d, %10d (%+.2f %%); total variation %.2f %%\n",
				name, n, all, m, sum, 100 * (sum / all - 1), 50 * v
		}' "$work/a" "$work/b"
	"$SOFTPMU" topdown "$@" --detail -x, -l 2 --no-metrics -o "$work/a" --replay "$stream"
	"$SOFTPMU" topdown "$@" -x, -l 2 --no-metrics -o "$work/b" --sample --replay "$stream"
	paste -d, "$work/a" "$work/b" | awk -F, -v name="$name" '
		function most(a, b, m) { a = a < b ? b - a : a - b; return a > m ? a : m }
		{ formula = most($3, $9, formula); exact = most($4, $10, exact) }
		END { printf "%-8s topdown: at most %.2f points by formula, %.2f exact\n", name, 100 * formula,
			100 * exact }'
done
