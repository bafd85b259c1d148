#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Every relative link of every Markdown page leads to a file, and its anchor to a heading of that file. Every path or
# source name in a code span (`src/core/core.h`, `core.h`) exists. No line of a page is longer than 120 columns, except
# in tables and in code blocks, which show what programs print. The check is also run on a folder with these faults.
. "$TOP/tests/lib.sh"

# pages DIR: prints the Markdown pages of DIR, one per line, without those in build/.
pages() { (cd "$1" && find . -name '*.md' ! -path './build/*' ! -path './.git/*' | sed 's|^\./||' | sort); }

# parse DIR: prints for all pages "heading PAGE ANCHOR", "link PAGE:LINE PATH ANCHOR" (PATH relative to DIR, "-" for no
# anchor), "path PAGE:LINE PATH", "name PAGE:LINE NAME" and "long PAGE:LINE COLUMNS".
parse() {
	(cd "$1" && pages . | xargs awk '
	function whole(path,    part, n, i, out, m) {	# without "." and ".."
		n = split(path, part, "/"); m = 0
		for (i = 1; i <= n; i++)
			if (part[i] == "..") m--
			else if (part[i] != "." && part[i] != "") out[++m] = part[i]
		path = out[1]
		for (i = 2; i <= m; i++) path = path "/" out[i]
		return m > 0 ? path : "."
	}
	FNR == 1 {
		fence = code = 0; blank = 1; folder = FILENAME
		if (!sub(/\/[^\/]*$/, "", folder)) folder = "."
	}
	/^ *```/ { fence = !fence; next }
	fence { next }
	{
		code = /^(    |\t)/ && (blank || code)
		blank = /^[ \t]*$/
		if (code || blank) { code = code || (blank && code); next }
	}
	/^#+ / {	# anchors as GitHub makes them
		text = tolower($0); sub(/^#+ +/, "", text); gsub(/\]\([^)]*\)/, "", text)
		gsub(/[^a-z0-9_ \200-\377-]/, "", text); gsub(/ /, "-", text)
		n = seen[FILENAME, text]++
		print "heading", FILENAME, n ? text "-" n : text
	}
	{
		rest = $0; gsub(/`[^`]*`/, "", rest)
		while (match(rest, /\]\([^) ]+\)/)) {
			target = substr(rest, RSTART + 2, RLENGTH - 3); rest = substr(rest, RSTART + RLENGTH)
			if (target ~ /^[a-z]+:/) continue
			anchor = "-"
			if (match(target, /#/)) { anchor = substr(target, RSTART + 1);
				target = substr(target, 1, RSTART - 1) }
			print "link", FILENAME ":" FNR, target == "" ? FILENAME : whole(folder "/" target), anchor
		}
	}
	{	# paths from the top on; those with capitals are placeholders (tests/unit/ROOM)
		n = split($0, span, "`")
		for (i = 2; i <= n; i += 2)
			if (span[i] ~ \
				/^(src|include|data|docs|tests|tools|experiments|bench|examples)\/[a-z0-9_.*\/-]+$/)
				print "path", FILENAME ":" FNR, span[i]
			else if (span[i] ~ /^[a-z0-9_-]+\.(c|h|def|sh|py)$/) print "name", FILENAME ":" FNR, span[i]
	}
	!/^\|/ {
		text = $0; gsub(/[\200-\277]/, "", text)	# a character of UTF-8 is one column
		if (length(text) > 120) print "long", FILENAME ":" FNR, length(text)
	}')
}

# faults DIR: prints the faults of the pages of DIR, one per line.
faults() {
	parse "$1" >"$work/parsed"
	sed -n 's/^long \([^ ]*\) \(.*\)/\1: \2 columns/p' "$work/parsed"
	sed -n 's/^path //p' "$work/parsed" | while read -r at path; do
		case $path in *...*) continue ;; esac
		# shellcheck disable=SC2086
		set -- "$1" "$1"/$path
		# A program of the tests may be named without its .c.
		[ -e "$2" ] || [ -e "$2.c" ] || echo "$at: no path ${2#"$1"/}"
	done
	(cd "$1" && find . -type f ! -path './build/*') | sed 's|.*/||' | sort -u >"$work/names"
	sed -n 's/^name //p' "$work/parsed" | while read -r at name; do
		grep -qxF "$name" "$work/names" || echo "$at: no file named $name"
	done
	sed -n 's/^heading //p' "$work/parsed" >"$work/headings"
	sed -n 's/^link //p' "$work/parsed" | while read -r at path anchor; do
		if ! [ -e "$1/$path" ]; then echo "$at: no file $path"
		elif [ "$anchor" != - ] && ! grep -qxF "$path $anchor" "$work/headings"; then
			echo "$at: no heading #$anchor in $path"
		fi
	done
}

same "all links and names exist, and no line is too long" "$(faults "$TOP")" ""
near "the number of links is plausible" "$(grep -c '^link ' "$work/parsed")" 60 10000
unlisted=$(cd "$TOP" && pages docs | grep -v '^README\.md$' | while read -r page; do
	grep -q "^link docs/README.md:[0-9]* docs/$page " "$work/parsed" || echo "$page"
done)
same "docs/README.md lists every page" "$unlisted" ""

# The check finds planted faults.
mkdir -p "$work/tree/in" || exit 1
wide=$(printf '%0121d' 0)
printf '# One head\n\n[a](in/b.md#two-b) [c](#one-head) `[d](nowhere)` `data/no*.tsv` `data/UP.tsv` `no.h`\n\n' \
	>"$work/tree/a.md"
printf '    [e](nowhere) %s\n\n%s\n' "$wide" "$wide" >>"$work/tree/a.md"
printf '## Two, B\n\n[x](../none.md)\n[y](../a.md#three)\n\n| %s |\n' "$wide" >"$work/tree/in/b.md"
same "the planted faults are found" "$(faults "$work/tree" | tr '\n' ';')" \
	"a.md:7: 121 columns;a.md:3: no path data/no*.tsv;a.md:3: no file named no.h;in/b.md:3: no file none.md;\
in/b.md:4: no heading #three in a.md;"
exit $failed
