#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Prints, as a Markdown table, how many events of each table of data/events the model counts and refuses, and how many
# of those that it counts no test has seen above zero (tests/events/unreached.tsv, which the test every-event checks).
set -eu
cd "$(dirname "$0")/../.."
echo "| table | events | modelled | refused | modelled, never seen above zero |"
echo "|---|---:|---:|---:|---:|"
for path in data/events/*.tsv; do
	table=${path##*/} table=${table%.tsv}
	awk -F '\t' -v table="$table" 'FILENAME ~ /unreached/ {
		n = /^#/ ? 0 : split($1, in_tables, ",")
		for (i = 1; i <= n; i++) unreached += in_tables[i] == table
		next
	}
	/^[#@]/ || NF < 2 { next }
	{ rows++; refused += $NF != "-" }
	END { printf "| %s | %d | %d | %d | %d |\n", table, rows, rows - refused, refused, unreached }' \
		tests/events/unreached.tsv "$path"
done
