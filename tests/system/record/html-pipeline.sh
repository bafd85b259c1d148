#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# An excerpt of the pipeline in a page: trace --pipeline FILE.json holds the uops of the other formats, and the view of
# report --html --add draws them, however many there are.
. "$TOP/tests/lib.sh"
need jq
bare_stream hard.trace wrongpath hard 400 >/dev/null
part="--replay hard.trace --start hard"
# shellcheck disable=SC2086	# several words
"$SOFTPMU" trace -q --pipeline hard.json $part || bad "trace"
# shellcheck disable=SC2086
"$SOFTPMU" trace -q --pipeline hard.o3 $part || bad "trace"
rows=$(jq -s '[.[1:][].rows.text | length] | add' hard.json)
same "the file has a row for each uop of O3PipeView" "$rows $(jq -s '[.[1:][].rows.wrong[]] | add' hard.json)" \
	"$(awk -f "$TOP/tests/readers/o3pipeview.awk" hard.o3 | cut -d' ' -f1,3)"
jq -r 'if .rows then .rows | [.fetch, .retire, .wrong] | transpose[] | @tsv else .cycle end' hard.json |
	awk 'NR == 1 { t = $1; next } { t += $1; print $3 ? 0 : (t + $2 + 1) "000" }' >from-json
awk -F: '$2 == "retire" { print $3 }' hard.o3 >from-o3
same_files "and the same cycles" from-json from-o3
check "all columns have equal length" jq -es '[.[1:][].rows | map(length) | unique | length == 1] | all' hard.json
check "texts are in range, and have addresses" jq -es '(.[0].texts | length) as $n |
	([.[1:][].rows.text[]] | max < $n) and (.[0].texts[1:] | all(.[0] != "" and .[1] != ""))' hard.json

command -v chromium >/dev/null 2>&1 || { echo "chromium is not installed: the view is not tested"; exit $failed; }
"$SOFTPMU" record -q -c 2003 -o hard.data --replay hard.trace || bad "record"
"$SOFTPMU" report -i hard.data --html page.html --add hard.json || bad "report"
"$SOFTPMU" report -i hard.data --html without.html || bad "report"
of_hard=$(jq -s '.[0].texts as $t | [.[1:][].rows.text[] | select($t[.][2] | test("^hard\\+"))] | length' hard.json)
cat >script <<END
size 1280 900
open page.html
wait document.documentElement.dataset.ready
click #tab-pipeline
wait document.querySelector("#view-pipeline [aria-live]").textContent.startsWith("Rows 1 to ")
eval document.querySelector("#view-pipeline [aria-live]").textContent.split(" ")[5].replace(/,/g, "")
click #view-pipeline canvas
key PageDown
wait document.querySelector("#view-pipeline [aria-live]").textContent.startsWith("Rows 21 to ")
key End
wait /to ([0-9,]*) of \\1,/.test(document.querySelector("#view-pipeline [aria-live]").textContent)
hover #view-pipeline canvas
wait !document.getElementById("tip").hidden
eval [...document.getElementById("tip").children].some((e) => /delivered by/.test(e.textContent)) ? "stages" : "none"
key +
key ArrowRight
click #view-pipeline canvas
eval page.nameOf(page.runs[0], page.chosen.function)
eval page.choose({ function: -1 }) || "chosen"
key Home
eval page.choose({ function: page.runs[0].functions.name.findIndex((n) => page.runs[0].strings[n] === "hard") }) || "chosen"
wait / rows are of hard\\.$/.test(document.querySelectorAll("#view-pipeline [aria-live]")[1].textContent)
eval +document.querySelectorAll("#view-pipeline [aria-live]")[1].textContent.replace(/[^0-9]/g, "")
errors
requests
open without.html
wait document.documentElement.dataset.ready
eval document.getElementById("tab-pipeline") ? "a tab" : "no tab"
END
"$PROGRAMS/browser" <script >out 2>err || bad "the view opens, moves and shows a row's stages" err
same "the view has all rows, shows a row's stages, and asks for nothing" "$(cat out)" "$rows
stages
hard
chosen
chosen
$of_hard
no tab"
exit $failed
