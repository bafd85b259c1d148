#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# The page of `report --html` in a browser: its views open, show the numbers of `report --json`, and follow search,
# sort, zoom, an interval and the keys; nothing leaves the page.
. "$TOP/tests/lib.sh"
need chromium
need python3

"$SOFTPMU" record -q --html a.html -o a.data --save-stream stream -- "$PROGRAMS/phases" >out 2>err </dev/null ||
	{ cat err; exit 1; }
"$SOFTPMU" record -q --html b.html -c 4999 -o b.data --replay stream --set l2.size=256K >out 2>err ||
	{ cat err; exit 1; }
"$SOFTPMU" report --html ab.html --compare b.data a.data
"$SOFTPMU" report --json --no-children -g none a.data >a.json
# The hottest function, the share of its samples, and their number, as the page writes them.
python3 -c '
import json
e = json.load(open("a.json"))["events"][0]
x = e["entries"][0]
print(x["symbol"], "%.2f" % x["overhead"], format(e["samples"], ","))' >hot
read -r symbol share samples <hot

cat >script <<'END'
size 1280 900
open a.html
wait document.documentElement.dataset.ready === "true"
eval [...document.querySelectorAll("[role=tab]")].map((t) => t.textContent).join(" ")
click #tab-functions
eval document.querySelector("#view-functions .note").textContent
eval document.querySelector("#view-functions tr[data-row] td").textContent
eval document.querySelectorAll("#view-functions tr[data-row] td")[1].textContent
eval document.querySelector("#view-functions th[aria-sort]").textContent.slice(0, 4)
click #view-functions thead th:first-child button
eval document.querySelector("#view-functions th[aria-sort]").getAttribute("aria-sort")
key /
type muta
eval [...document.querySelectorAll("#view-functions tr[data-row] td:first-child")].map((e) => e.textContent).join(" ")
key Escape
click #view-functions tr[data-row] td
eval document.getElementById("chosen").textContent
click #tab-flame
wait document.querySelector("#view-flame .note").textContent.startsWith("Found: ")
eval /^Found: \d+\.\d\d %/.test(document.querySelector("#view-flame .note").textContent)
click #view-flame canvas
key i
eval document.querySelectorAll("#view-flame button")[1].getAttribute("aria-pressed")
key i
click #tab-timeline
drag 0.5 0.75 #view-timeline canvas
eval page.chosen.from > 0 && page.chosen.to < Infinity
eval page.sums(page.runs[0]).samples < page.runs[0].profile.events[0].samples / 3
click #tab-topdown
eval (() => { const all = (r, c) => page.levelsOf(r, c).all, r = page.runs[0]; return all(r, true) > 0 && all(r, true) < all(r, false) / 3; })()
eval document.querySelectorAll("#view-topdown [data-level]").length
eval document.querySelector("#view-topdown h2").textContent.startsWith("Issue slots from ")
click #tab-code
eval document.querySelector("#view-code .note").textContent.includes("cycles are those of the whole run")
eval document.querySelector("#view-code .src") ? "source" : document.querySelector("#view-code .note").textContent.startsWith("No source: ")
key Escape
eval page.chosen.to === Infinity && page.chosen.function === -1
key 1
eval document.querySelector("[role=tab][aria-selected=true]").textContent
eval document.querySelectorAll("#view-summary .findings li").length > 0
errors
requests
END
"$PROGRAMS/browser" <script >out 2>err && ok "the browser does what the script says" || bad "the browser" err out
cat >expected <<END
$samples
$symbol
$share %
Self
ascending
mutate
Function mutate×
true
true
true
true
true
4
true
true
source
true
Summary
true
END
sed -n 1p out >titles
has "there is a tab for each view" '^Summary Flame graph Functions .*Timeline' titles
sed '1d; s/^[0-9,]* functions; \([0-9,]*\) samples.*/\1/' out >views
same_files "views have the numbers of report --json and follow what is chosen; no request or error occurs" views \
	expected

for size in "1280 900" "390 844"; do
	cat >script <<-END
		size $size
		open ab.html
		wait document.documentElement.dataset.ready === "true"
		click #tab-functions
		eval [...document.querySelectorAll("#view-functions th")].some((t) => t.textContent === "Change")
		click #tab-flame
		eval document.querySelector("#view-flame .legend").textContent
		eval document.documentElement.scrollWidth <= window.innerWidth
		errors
		requests
	END
	"$PROGRAMS/browser" <script >out 2>&1
	same "a comparison, $size: a column, colours, no part is wider than the window" "$(tr '\n' ' ' <out)" \
		"true larger share than beforesmaller sharethe same true "
done
exit $failed
