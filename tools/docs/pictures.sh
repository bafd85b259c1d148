#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Takes the pictures of pages (record --html) in a headless Chromium:
#   pictures.sh             docs/pictures/*.png, which README and docs show:  make pictures
#   pictures.sh --all DIR   every view of five programs and of a comparison, in three widths, light and dark, and each
#                           page printed, to be looked at; the folder also gets the pages
# It needs build/softpmu, the programs of the tests, chromium, and for docs/pictures pngquant and optipng.
set -eu
top=$(cd "$(dirname "$0")/../.." && pwd)
softpmu=$top/build/softpmu programs=$top/build/tests/programs
need() {
	for command in "$@"; do
		command -v "$command" >/dev/null || {
			echo "pictures: $command is not there (make pictures builds and installs what is needed)" >&2
			exit 1
		}
	done
}
need "$softpmu" "$programs/browser" chromium
out=$top/docs/pictures
[ "${1:-}" != --all ] || out=${2:?a folder is wanted}
mkdir -p "$out"
out=$(cd "$out" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
trap 'exit 130' INT
trap 'exit 143' TERM
cd "$work"
export LC_ALL=C SOFTPMU_STORE="$work/store"
unset GLIBC_TUNABLES SOURCE_DATE_EPOCH DEBUGINFOD_URLS

# quiet COMMAND...: what it prints is shown only if it fails
quiet() { "$@" >log 2>&1 || { echo "pictures: failed: $*" >&2; cat log >&2; exit 1; }; }
# The runs have no environment, whose size would move the stack.
ln -s "$softpmu" softpmu
softpmu() { quiet env -i PATH="$work:/usr/bin" softpmu "$@"; }
browse() { quiet "$programs/browser" --limit=600 <"$1"; }
ready='wait document.documentElement.dataset.ready'

# The program of docs/howto/fix-by-page.md, slow and mended, by the commands of that page.
tally() {
	cp "$top/docs/examples/word_tally.c" .
	mkdir before after
	quiet gcc -O1 -g "-fdebug-prefix-map=$work=" -o before/tally word_tally.c -pthread
	quiet gcc -O1 -g "-fdebug-prefix-map=$work=" -DAPART -o after/tally word_tally.c -pthread
	events=cycles:u,mem_inst_retired.all_loads:p,mem_inst_retired.all_stores:p
	softpmu record -q -d -W -e $events -o before.data --html before.html before/tally
	softpmu record -q -d -W -e $events -o after.data --html after.html after/tally
	softpmu report --html compared.html -i after.data --compare before.data
}

# add NAME START OPTION... PROGRAM...: makes the page of NAME.data with all that a page can take in; its pipeline begins
# at START, and has 90,000 instructions at most.
add() {
	name=$1 start=$2; shift 2
	softpmu topdown --json -o topdown.json "$@"
	softpmu cost --json --histogram -o cost.json "$@"
	softpmu trace -q --pipeline pipeline.json --start "$start" --stop 90000 "$@"
	softpmu report --html "$name.html" -i "$name.data" --add topdown.json,cost.json,pipeline.json
}

# A C++ program, -O2 with inlining.
cxx() {
	cp "$programs/inlined" .
	softpmu record -q -c 1009 -o cxx.data --html cxx.html ./inlined 300
	add cxx main ./inlined 300
}

# ---- every view ----

others() {
	loads=mem_inst_retired.all_loads:p stores=mem_inst_retired.all_stores:p
	for p in sharing phases work; do
		cp "$programs/$p" .
	done
	cp "$top/docs/examples/primes.py" .
	softpmu record -q -d -W --heap -e cycles:u,$loads,$stores -c 101 -o threads.data --html threads.html \
		./sharing false 4000 4
	add threads main ./sharing false 4000 4
	softpmu record -q -d -W -e cycles:u,$loads -c 10007 -o phased.data --html phased.html ./phases 3
	add phased main ./phases 3
	softpmu record -q -c 20011 -o python.data --html python.html /usr/bin/python3 primes.py
	add python 20000000 /usr/bin/python3 primes.py
	softpmu record -q --core prescott -c 20011 -o p4.data --html p4.html ./work
	add p4 main --core prescott ./work
}

# views PAGE: each view in each width and theme, and the page printed
views() {
	for size in '1280 900' '1920 1080' '390 844'; do
		for theme in light dark; do
			printf 'size %s\ntheme %s\nopen %s.html\n%s\n' "$size" $theme "$1" "$ready"
			for view in $shown; do
				printf 'click #tab-%s\neval new Promise((r) => setTimeout(() => r(1), 150))\n' "$view"
				printf 'fullshot %s/%s-%s-%s-%s.png\n' "$out" "$1" "$view" "${size%% *}" $theme
			done
		done
	done
	printf 'size 1280 900\ntheme light\nclick #tab-summary\npdf %s/%s.pdf\n' "$out" "$1"
}

if [ "${1:-}" = --all ]; then
	cxx
	others
	tally
	for p in cxx threads phased python p4 compared; do
		cp $p.html "$out"
		shown=$(printf '%s\n' "open $p.html" "$ready" \
			'eval [...document.querySelectorAll("[role=tab]")].map((t) => t.id.slice(4)).join(" ")' |
			"$programs/browser")
		views $p >script
		browse script
	done
	exit
fi

# ---- docs/pictures ----

need pngquant optipng
# shot NAME HEIGHT [WIDTH]: what the window of this size shows, into docs/pictures/NAME.png
shot() {
	printf 'size %s %s\neval new Promise((r) => setTimeout(() => r(1), 300))\nscreenshot %s.png\n' "${3:-1000}" \
		"$2" "$1"
	echo "$1" >>names
}
# from PAGE;  view NAME;  choose FUNCTION
from() {
	printf 'size 1000 700\ntheme light\nopen %s.html\n%s\n' "$1" "$ready"
	printf 'eval document.documentElement.style.scrollbarWidth = "none"\n'
}
view() { printf 'click #tab-%s\n' "$1"; }
choose() {
	printf 'eval page.choose({ function: page.runs[0].functions.name.findIndex((n, i) => %s === "%s") })\n' \
		'page.nameOf(page.runs[0], i)' "$1"
}

tally
cxx
{
	from before
	shot fix-summary 375
	view timeline
	shot fix-timeline 715
	choose count
	view code
	shot fix-code 540 1280
	view memory
	shot fix-memory 860
	from compared
	shot fix-compared 700
	view timeline
	shot fix-after 715
	from cxx
	view flame
	shot page-flame 520
	view functions
	shot page-functions 460
	view topdown
	shot page-topdown 640
	view costs
	shot page-costs 500
	view pipeline
	shot page-pipeline 560
} >script
browse script
rm -f "$out"/*.png
while read -r name; do
	pngquant --force --speed 1 --output "$out/$name.png" 64 "$name.png"
	quiet optipng -q -o5 -strip all "$out/$name.png"
done <names
