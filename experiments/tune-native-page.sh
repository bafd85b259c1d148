#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# make tune-native: softpmu tune --native on this host, in Markdown, for docs/measured/tune-native.md.  Prints which
# settings there are; what is called a gain of ten programs when nothing is set (--null: nothing should be); and
# what these programs, and two that should gain (tests/programs/pages, churn), gain from the settings. Nothing is
# kept.  SOFTPMU and PROGRAMS in the environment: where they are built; BLOCKS of a setting, default 20.  Takes
# some ten minutes on an idle machine.
set -eu
export LC_ALL=C
top=$(cd "$(dirname "$0")/.." && pwd)
softpmu=${SOFTPMU:-$top/build/softpmu} programs=${PROGRAMS:-$top/build/tests/programs} blocks=${BLOCKS:-20}
for program in "$softpmu" "$programs/pages" "$programs/churn"; do
	[ -x "$program" ] || { echo "tune-native-page.sh: $program is not built: make all programs" >&2; exit 1; }
done
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
cd "$work"
seq 1 30000 | awk '{ print ($1 * 7919) % 60013, "line", $1 }' >lines	# half a megabyte, always the same
head -n 6000 lines >few
cat >query.sql <<'END'
CREATE TABLE t (a INTEGER, b TEXT);
WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 8000)
INSERT INTO t SELECT i * 7919 % 8009, 'x' || i FROM n;
SELECT sum(a), count(DISTINCT b) FROM t WHERE a % 3 = 1;
END

# one NAME OPTIONS -- COMMAND...: a row of the table
one() {
	name=$1; shift
	previous=''
	for word; do
		if [ "$previous" = -- ] && ! command -v "$word" >/dev/null 2>&1; then
			echo "| $name | $word is not installed | | | | |"
			return
		fi
		previous=$word
	done
	"$softpmu" tune --native --no-keep --blocks "$blocks" "$@" >report 2>&1 ||
		{ echo "| $name | $(tail -n 1 report) | | | | |"; return; }
	awk -v name="$name" '
	/^ program: / { for (i = 2; i <= NF; i++) if ($(i + 1) == "s" && !time) time = $i }
	$2 == "%" && $4 == "to" {
		n++; blocks += $7; gains += $9 == "gain"
		if (n == 1 || $1 > most) most = $1
		if (n == 1 || $1 < least) least = $1
	}
	/^ chosen: / { chosen = substr($0, 10) }
	/^ fresh runs: / { fresh = sprintf(": %s %% (%s to %s), p %s %s", $3, $5, $7, $13, $14) }
	END {
		printf "| %s | %.1f | %d in %d | %.1f to %.1f %% | %d | %s |\n", name, 1000 * time, n, 4 * blocks,
			least, most, gains, chosen ? chosen fresh : "none"
	}' report
}

ten() { # OPTIONS...
	one "gzip -c lines" "$@" -- gzip -c lines
	one "bzip2 -c few" "$@" -- bzip2 -c few
	one "xz -1 -c few" "$@" -- xz -1 -c few
	one "sort lines" "$@" -- sort lines
	one "awk, sums of lines" "$@" -- awk '{ s[$1 % 1000] += $3 } END { for (k in s) t += s[k]; print t }' few
	one "grep -c [0-9]*7 lines" "$@" -- grep -c '[0-9]*7 line' lines
	one "sha256sum lines" "$@" -- sha256sum lines lines lines
	one "perl, a hash of words" "$@" -- perl -ne '$h{$_}++ for split; END { print scalar keys %h }' few
	one "sqlite3, 8,000 rows" --input query.sql "$@" -- sqlite3
	one "od -c few" "$@" -- od -c few
}
head='| program | ms a run | settings, in runs | saved, least to most | gains | chosen, and what fresh runs say |
|---|---:|---:|---:|---:|---|'

echo "## Settings of this host"
echo
"$softpmu" tune --native --list -- "$programs/pages" | sed 's/^/   /'
echo
echo "## Nothing set: the program against itself"
echo
echo "$head"
ten --null
echo
echo "## With the settings"
echo
echo "$head"
one "$programs/pages" -- "$programs/pages" 32 300000 | sed "s|^. $programs/|\| |"
one "$programs/churn" -- "$programs/churn" 40 3 | sed "s|^. $programs/|\| |"
[ "${NULL_ONLY:-}" ] || ten
