#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# The views of a page follow what is chosen: memory and timeline a function, a thread and an interval; code begins with
# the function that has most of the chosen event.  Sampled runs and hardware threads that share a core have counts over
# time, too.  A file of another program is called that.
. "$TOP/tests/lib.sh"
need chromium jq

bare_stream sharing.trace sharing false 2000 3
bare_stream phases.trace phases 3
loads=mem_inst_retired.all_loads:p stores=mem_inst_retired.all_stores:p

# ---- memory: the page adds up samples, mem report does, and both are equal ----
check 'a recording with data addresses' "$SOFTPMU" record -q -d -W -e cycles:u,$loads,$stores -c 53 -o mem.data \
	--html mem.html --replay sharing.trace
"$SOFTPMU" mem report --json -i mem.data >mem.json 2>err
jq -r '.objects[] | "\(.object) \(.samples) \(.stores) \(.verdict // "") " +
	"\(.latency.mean // 0 | . * 10 | round) \([.levels[]] | join(" "))"' mem.json | LC_ALL=C sort >expected
jq -r '.sets[] | "set \(.set) \(.lines) \(.samples)"' mem.json >>expected
cat >sums.js <<'END'
(() => {
	const m = page.memory(), levels = Object.keys(page.runs[0].memory.report.objects[0].levels);
	const at = levels.map((name) => page.memoryLevels.findIndex(([key]) => key === name));
	const names = (o) => o.object.replace(/^(no symbol), 0x.*/, "$1");
	const rows = m.objects.map((o) => `${names(o)} ${o.samples} ${o.stores} ${o.verdict} ` +
		`${o.latencies ? Math.round(10 * o.latency / o.latencies) : 0} ${at.map((k) => o.levels[k]).join(" ")}`);
	const sets = m.sets.map((s, i) => `set ${i} ${s.lines} ${s.samples}`).filter((s) => s);
	return [...rows.sort(), ...sets].join("\n");
})()
END
cat >parts.js <<'END'
(() => {
	const sum = (m) => m.objects.reduce((n, o) => n + o.samples, 0), all = page.memory();
	const middle = page.runs[0].timeline.interval * page.runs[0].timeline.intervals / 2;
	page.choose({ to: middle });
	const before = page.memory(), note = document.querySelector("#view-memory .note").textContent;
	const rows = document.querySelector("#view-memory .frame").innerText;
	page.choose({ from: middle, to: Infinity });
	const behind = page.memory();
	page.choose({ from: 0 });
	const threads = [...page.runs[0].profile.threads.tid.keys()].map((thread) => {
		page.choose({ thread });
		return page.memory();
	});
	page.choose({ thread: -1 });
	return [sum(before) + sum(behind) === sum(all), sum(before) > 0 && sum(behind) > 0,
		note.startsWith(`${page.text.count(sum(before))} samples with a data address from 0 ns to `),
		rows !== document.querySelector("#view-memory .frame").innerText,
		threads.reduce((n, m) => n + sum(m), 0) === sum(all), all.lines.length > 0,
		threads.every((m) => !m.lines.length)].join(" ");
})()
END
cat >script <<'END'
size 1280 900
open mem.html
wait document.documentElement.dataset.ready
click #tab-memory
run sums.js
echo parts
run parts.js
eval page.choose({ function: page.runs[0].functions.name.findIndex((n) => page.runs[0].strings[n] === "worker") }) || "chosen"
eval [...document.querySelectorAll("#view-memory th")].some((t) => t.textContent === "By function")
eval page.memory().objects.reduce((n, o) => n + o.chosen, 0) > 0
click #view-memory .plain tr:last-child td
eval page.nameOf(page.runs[0], page.chosen.function)
click #tab-timeline
hover #view-timeline canvas
errors
requests
END
"$PROGRAMS/browser" --limit=200 <script >out 2>err || bad 'the browser does what the script says' err
sed '/^parts$/,$d' out >sums
same_files 'memory: the page adds up what mem report --json does' sums expected
sed '1,/^parts$/d' out >parts
same 'memory follows interval, thread and function; a line chooses a function' "$(tr '\n' ' ' <parts)" \
	'true true true true true true true chosen true true worker '

# ---- the code view begins with the hottest function by the chosen event ----
# One sample of a rare event is all of that event: its function has the largest share of any.
l2=mem_load_retired.l2_miss
"$SOFTPMU" record -q --exact -e cycles:u -e "$l2/period=150000/" -o rare.data --replay phases.trace 2>err ||
	"$SOFTPMU" record -q --exact -e cycles:u,$l2:u -c 1000003 -o rare.data --replay phases.trace 2>err ||
	bad 'record of a rare event' err
check 'its page' "$SOFTPMU" report --html rare.html -i rare.data
cat >script <<'END'
open rare.html
wait document.documentElement.dataset.ready
click #tab-code
eval (() => { const self = page.sums(page.runs[0]).self; return +document.getElementById("code-function").value === page.runs[0].code.functions.map((f) => f.function).sort((a, b) => self[b] - self[a])[0]; })()
eval page.choose({ event: 1 }) || "chosen"
eval (() => { const self = page.sums(page.runs[0]).self; return +document.getElementById("code-function").value === page.runs[0].code.functions.map((f) => f.function).sort((a, b) => self[b] - self[a])[0]; })()
errors
END
"$PROGRAMS/browser" <script >out 2>err || bad 'the browser does what the script says' err
same 'code: the function with most of the chosen event comes first' "$(tr '\n' ' ' <out)" 'true chosen true '

# ---- counts over time ----
check 'a sampled recording' "$SOFTPMU" record -q --sample=100000,5000,5000 -o sampled.data --html sampled.html \
	--replay phases.trace
check 'one of threads on one core' "$SOFTPMU" record -q --smt -o smt.data --html smt.html --replay sharing.trace
counts='cycles:u,instructions:u,branches:u'
"$SOFTPMU" stat -x, -e $counts --replay phases.trace 2>&1 | awk -F, '{ print $3, $1 }' >full
"$SOFTPMU" stat -x, -e $counts --sample=100000,5000,5000 --replay phases.trace 2>&1 |
	awk -F, '{ print $3, $1, $4 }' >estimated
"$SOFTPMU" stat -x, --smt -e $counts --replay sharing.trace 2>&1 | awk -F, '{ print $3, $1 }' >full-smt
cat >totals.js <<'END'
(() => {
	const t = page.runs[0].timeline;
	return ["cycles", "instructions", "branches"].map((c) => `${c}:u ${t.threads.reduce((sum, thread) =>
		sum + thread.values[t.columns.indexOf(c)].reduce((a, b) => a + b, 0), 0)}`).join("\n");
})()
END
cat >estimates.js <<'END'
(() => {
	const t = page.runs[0].timeline;
	return ["cycles", "instructions", "branches"].map((c) => {
		const [count, half] = t.totals[t.columns.indexOf(c)];
		return `${c}:u ${count} ${half ? `${(100 * half / count).toFixed(2)}%` : ""}`;
	}).join("\n");
})()
END
cat >script <<'END'
size 1280 900
open sampled.html
wait document.documentElement.dataset.ready
run estimates.js
eval /cycles[\d,]+ ± \d+\.\d %estimated from/.test(document.querySelector("#view-summary table").textContent)
run totals.js
eval page.runs[0].timeline.windows > 10
eval /windows/.test(document.querySelector("#view-summary table").textContent)
click #tab-timeline
eval /windows of the run were timed/.test(document.querySelector("#view-timeline .note").textContent)
drag 0.3 0.6 #view-timeline canvas
click #tab-topdown
eval document.querySelectorAll("#view-topdown [data-level]").length
errors
open smt.html
wait document.documentElement.dataset.ready
run totals.js
eval page.hasLevels(page.runs[0])
click #tab-timeline
drag 0.3 0.6 #view-timeline canvas
click #tab-topdown
eval /has no issue slots/.test(document.getElementById("view-topdown").textContent)
errors
END
"$PROGRAMS/browser" --limit=200 <script >out 2>err || bad 'the browser does what the script says' err
head -n 3 out >totals
same_files 'a sampled run: the counts and their intervals are those of stat --sample' totals estimated
same 'and the summary shows them' "$(sed -n 4p out)" true
sed -i 1,4d out
head -n 3 out >sampled
for event in cycles instructions; do
	part=$(awk -v e=$event:u '$1 == e { v[FILENAME] = $2 }
		END { printf "%d", 100 * v["sampled"] / v["full"] }' sampled full)
	near "sampled, $event: percent of what stat counts" "$part" 95 105
done
same 'windows are named, and an interval has its slots' "$(sed -n '4,7p' out | tr '\n' ' ')" 'true true true 4 '
sed -n '8,10p' out >smt
same_files 'threads on one core: counts over time add up to those of stat' smt full-smt
same 'and there are no slots' "$(sed -n '11,$p' out | tr '\n' ' ')" 'false true '

# ---- files of another program ----
"$SOFTPMU" topdown --json -o topdown.json --replay phases.trace >out 2>&1 || bad 'topdown' out
warned() { # CLAIM WORDS...: report --html said these words, or nothing if there are none
	if [ "$2" ]; then has "$1" "$2" err; else same "$1" "$(cat err)" ''; fi
}
"$SOFTPMU" report --html x.html -i mem.data --compare smt.data 2>err
warned 'two recordings of one program: no word' ''
"$SOFTPMU" trace -q --pipeline pipeline.json --stop 1000 --replay phases.trace 2>err || bad 'trace' err
"$SOFTPMU" cost --json -e mispredict -o cost.json --replay phases.trace >out 2>&1 || bad 'cost' out
for file in topdown.json pipeline.json cost.json; do
	"$SOFTPMU" report --html x.html -i sampled.data --add $file 2>err
	warned "$file of the same program: no word" ''
	"$SOFTPMU" report --html x.html -i mem.data --add $file 2>err
	warned "$file of another program" "$file is of the program phases, which mem.data has no samples of"
done
"$SOFTPMU" report --html x.html -i mem.data --compare sampled.data 2>err
warned 'a recording of another program' 'sampled.data is of the program phases, but mem.data is of sharing'
printf '%s\n' 'open x.html' 'wait document.documentElement.dataset.ready' \
	'eval document.getElementById("view-summary").textContent.includes("sampled.data is of the program phases")' \
	>script
"$PROGRAMS/browser" <script >out 2>err
same 'the page says so, too' "$(cat out)" true
# ---- false sharing, although the first thread adds up the others' counters in the end (docs/howto/fix-by-page.md) ----
cp "$TOP/docs/examples/word_tally.c" . && gcc -O1 -g -o tally word_tally.c -pthread || exit 1
"$SOFTPMU" record -q -d -W -e cycles:u,mem_inst_retired.all_loads:p,mem_inst_retired.all_stores:p -o tally.data \
	--html tally.html ./tally >out 2>&1 || bad 'record' out
cat >script <<'END'
size 1280 900
open tally.html
wait document.documentElement.dataset.ready
eval page.memory().lines.find((l) => l.apart && l.samples >= 20).object
eval page.memory().lines.find((l) => l.apart && l.samples >= 20).threads
END
"$PROGRAMS/browser" --limit=200 <script >out 2>err || bad 'the browser does what the script says' err
same 'of the falsely shared lines, that of the counters has most samples' "$(sed -n 1p out)" tally
near 'by four threads, and read by one' "$(sed -n 2p out)" 4 5
exit $failed
