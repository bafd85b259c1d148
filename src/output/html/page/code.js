/* SPDX-License-Identifier: GPL-2.0-or-later
 * View: source and instructions of a function side by side, with what hit each line and each instruction.
 *
 * With an exact profile in the file, cycles are those for which retirement waited for the instruction, coloured by
 * cause, and a mark shows where the chosen event's samples fell: the distance is the skid.  Choose a line and its
 * instructions are marked, and the other way round; keys j and k move through the instructions, n and p through the
 * functions.  Samples are those of the chosen thread and interval; cycles of the exact profile, which has no times,
 * those of the chosen thread in the whole run. */
"use strict";
(() => {
	const run = page.runs[0], code = run.code, {element, text} = page;
	const isExact = code ? code.events.map((n) => n in code.causes) : [];
	const exact = isExact.includes(true);
	let root = null, list = null, note = null, body = null, shown = null, marked = [], at = 0;

	/* The colours of the exact profile's causes. */
	const kinds = [
		["retiring", "retiring", ["retiring"] ],
		["core", "core", ["execution", "divider", "port", "pipeline", "serialize"] ],
		["frontend", "front end", ["icache", "itlb", "resteer", "front-end"] ],
		["bad", "mispredicts, clears, assists", ["mispredict", "clear", "assist"] ],
		["memory", "memory", null],
	];
	const kindOf = (name) => kinds.find(([, , names]) => !names || names.includes(name))[0];

	/* Sums by row of what is chosen: cycles by cause, the event's samples, latency and delay. */
	function sums(f) {
		const name = page.runs[0].profile.events[page.chosen.event]?.name, event = code.events.indexOf(name);
		const rows = f.address.map(() => ({
			cycles: 0,
			causes: new Map(),
			period: 0,
			samples: 0,
			latency: 0,
			latencies: 0,
			late: 0
		}));
		const all = { cycles: 0, period: 0, samples: 0, event: name };
		const whole = page.whole();
		for (const [e, at, who, period, samples, latency, latencies, late] of f.hit) {
			const row = rows[at];
			if (!row || !page.passes(...code.threads[who]))
				continue;
			if (isExact[e]) {
				row.cycles += period;
				row.causes.set(code.events[e], (row.causes.get(code.events[e]) || 0) + period);
				all.cycles += period;
			} else if (whole && e === event) {
				row.period += period;
				row.samples += samples;
				row.latency += latency;
				row.latencies += latencies;
				row.late += late;
				all.period += period;
				all.samples += samples;
			}
		}
		if (!whole)
			addSamples(f, rows, all);
		return {rows, all};
	}

	/* The number of a function's first hit, from 1 on. */
	const firstHit = new Map();
	for (let i = 0, number = 1; code && i < code.functions.length; i++) {
		firstHit.set(code.functions[i], number);
		number += code.functions[i].hit.length;
	}

	/* The samples of the chosen interval, one by one. */
	function addSamples(f, rows, all) {
		const event = page.runs[0].profile.events[page.chosen.event];
		const first = firstHit.get(f), {hit, latency} = code.samples[page.chosen.event] || { hit: [] };
		for (const i of page.samplesOf(run, event)) {
			const row = hit[i] ? rows[f.hit[hit[i] - first]?.[1]] : null;
			if (!row)
				continue;
			row.period += event.weight[i];
			row.samples++;
			row.late += event.late ? event.late[i] : 0;
			if (latency && latency[i]) {
				row.latency += latency[i];
				row.latencies++;
			}
			all.period += event.weight[i];
			all.samples++;
		}
	}

	function add(into, row) {
		into.cycles += row.cycles;
		into.period += row.period;
		for (const [name, n] of row.causes)
			into.causes.set(name, (into.causes.get(name) || 0) + n);
	}

	/* A bar of the causes, as wide as the share of the hottest, with a mark where the samples say it is. */
	function bar(row, all, most) {
		const e = element("span", { class: "meter" });
		const causes = [...row.causes].sort((a, b) => b[1] - a[1]);
		for (const [name, n] of causes) {
			const part = element("i", { class: kindOf(name.slice(6)) });
			part.style.width = `${100 * n / all.cycles / most}%`;
			e.append(part);
		}
		if (!exact && row.period) {
			const part = element("i", { class: "hot" });
			part.style.width = `${100 * row.period / all.period / most}%`;
			e.append(part);
		}
		if (exact && row.period) {
			const mark = element("b");
			mark.style.left = `${Math.min(100, 100 * row.period / all.period / most)}%`;
			e.append(mark);
		}
		return e;
	}

	function explain(row, all) {
		const lines = [];
		if (exact)
			lines.push(`${text.count(row.cycles)} cycles, ${
				text.percent(row.cycles, all.cycles)} of the function`);
		for (const [name, n] of [...row.causes].sort((a, b) => b[1] - a[1]))
			lines.push(`${text.count(n)} ${name.slice(6)}: ${code.causes[name]}`);
		if (row.period)
			lines.push(`samples of ${all.event}: ${text.percent(row.period, all.period)} of the function`);
		return lines.join("\n");
	}

	const share = (n, of) => n && of ? (100 * n / of).toFixed(2) : "";
	const cell = (value, name) => element("td", { class: name || "number" }, value);

	function instructions(f, s) {
		const most = Math.max(...s.rows.map((r) => Math.max(s.all.cycles ? r.cycles / s.all.cycles : 0,
							    s.all.period ? r.period / s.all.period : 0)),
			1e-9);
		const latency = s.rows.some((r) => r.latencies), late = s.rows.some((r) => r.late);
		const head = [
			exact ? "Cycles %" : null, s.all.period ? "Samples %" : null, "", latency ? "Latency" : null,
			late ? "Late" : null, "Address", "Instruction"
		];
		const table = element("table", { class: "code asm", "aria-label": "Instructions" },
			element("thead", null,
				element("tr", null,
					...head.filter((h) => h !== null)
						.map((h) => element("th", { scope: "col" }, h)))));
		const rows = element("tbody");
		s.rows.forEach((r, i) => {
			const why = explain(r, s.all);
			const tr = element(
				"tr", {"data-line": `${f.file[i]}:${f.line[i]}`, "data-row": i, title: why || null});
			if (exact)
				tr.append(cell(share(r.cycles, s.all.cycles)));
			if (s.all.period)
				tr.append(cell(share(r.period, s.all.period)));
			tr.append(element("td", { class: "bars" }, bar(r, s.all, most)));
			if (latency)
				tr.append(cell(r.latencies ? (r.latency / r.latencies).toFixed(1) : ""));
			if (late)
				tr.append(cell(r.samples ? (r.late / r.samples).toFixed(1) : ""));
			tr.append(cell(f.address[i].toString(16), "address"), cell(run.strings[f.text[i]], "what"));
			rows.append(tr);
		});
		table.append(rows);
		return table;
	}

	function sources(f, s) {
		const of = new Map();
		s.rows.forEach((r, i) => {
			const key = `${f.file[i]}:${f.line[i]}`;
			if (!of.has(key))
				of.set(key, { cycles: 0, period: 0, causes: new Map(), inlined: f.inlined[i] });
			add(of.get(key), r);
		});
		const most =
			Math.max(...[...of.values()].map((r) => Math.max(s.all.cycles ? r.cycles / s.all.cycles : 0,
								 s.all.period ? r.period / s.all.period : 0)),
				1e-9);
		const rows = element("tbody"), nothing = { cycles: 0, period: 0, causes: new Map() };
		let file = -1, last = 0, here = false;
		const columns = 3 + (exact ? 1 : 0) + (s.all.period ? 1 : 0);
		for (let i = 0; i < f.source.line.length; i++) {
			const line = f.source.line[i];
			if (f.source.file[i] !== file) {
				file = f.source.file[i];
				here = f.source.text.some((t, k) => t && f.source.file[k] === file);
				last = f.source.line[i] - 1;
				rows.append(element("tr", { class: "path" },
					element("td", { colspan: columns },
						run.strings[file] + (here ? "" : " (this file is not here)"))));
			} else if (here && line !== last + 1) {
				rows.append(
					element("tr", { class: "gap" }, element("td", { colspan: columns }, "⋯")));
			}
			last = line;
			if (!here)
				continue;
			const key = `${file}:${line}`, r = of.get(key) || nothing;
			const tr = element("tr", {
				"data-line": key,
				class: of.has(key) ? null : "quiet",
				title: explain(r, s.all) || null
			});
			if (exact)
				tr.append(cell(share(r.cycles, s.all.cycles)));
			if (s.all.period)
				tr.append(cell(share(r.period, s.all.period)));
			tr.append(element("td", { class: "bars" }, bar(r, s.all, most)), cell(line),
				cell(run.strings[f.source.text[i]], "what"));
			rows.append(tr);
		}
		const head = [exact ? "Cycles %" : null, s.all.period ? "Samples %" : null, "", "Line", "Source"];
		return element("table", { class: "code src", "aria-label": "Source" },
			element("thead", null,
				element("tr", null,
					...head.filter((h) => h !== null)
						.map((h) => element("th", { scope: "col" }, h)))),
			rows);
	}

	/* Why a function has no source here, or "". */
	function missing(f) {
		if (!f.source.line.length)
			return `No source: ${page.objectOf(run, f.function) || "the object"} has no debugging ` +
				"information (gcc -g, or the debug package of a library).";
		if (f.source.text.some((t) => t))
			return "";
		const files = [...new Set(f.source.file)].map((i) => run.strings[i]);
		const more = files.length > 1 ? ` and ${files.length - 1} more files are` : " is";
		return `No source: ${files[0]}${more} not here.`;
	}

	/* Marks the rows of a source line on both sides; scrolls the other side to the first of them. */
	function mark(from) {
		const key = from.dataset.line;
		for (const e of marked)
			e.removeAttribute("aria-selected");
		/* line 0 is unknown: such instructions have nothing in common */
		marked = key.endsWith(":0") ? [from]
			: [...body.querySelectorAll("tr[data-line]")].filter((e) => e.dataset.line === key);
		if (from.dataset.row)
			at = +from.dataset.row;
		for (const e of marked)
			e.setAttribute("aria-selected", "true");
		const side = from.closest(".side");
		const first = marked.find((e) => e.closest(".side") !== side);
		if (first)
			scroll(first);
	}
	function scroll(row) {
		const side = row.closest(".side");
		side.scrollTop = row.offsetTop - side.clientHeight / 3;
	}

	/* The part of the samples that lie at instructions for which the exact profile has no room. */
	function skid(s) {
		let same = 0;
		for (const r of s.rows)
			same += Math.min(r.period / s.all.period, r.cycles / s.all.cycles);
		return 1 - same;
	}

	function draw(f) {
		const s = sums(f), lines = [];
		shown = f;
		if (exact)
			lines.push(`${text.count(s.all.cycles)} cycles by the exact profile.`);
		if (s.all.samples)
			lines.push(`${text.count(s.all.samples)} samples of ${s.all.event}${page.part()}.`);
		else if (page.part())
			lines.push(`No samples of ${s.all.event || "the event"}${page.part()}.`);
		if (exact && !page.whole())
			lines.push("The exact profile has no times: its cycles are those of the whole run.");
		if (exact && s.all.period && s.all.cycles)
			lines.push(`${
					   text.percent(skid(s),
						   1)} of the samples fell at other instructions than the cycles did ` +
				   `(skid, and chance); the marks show where they fell.`);
		if (!exact)
			lines.push("Without the exact profile there are no causes: softpmu record --exact keeps it.");
		if (!s.rows.some((r) => r.latencies || r.late))
			lines.push("Latencies: softpmu record -W with a precise event.");
		const why = missing(f);
		if (why)
			lines.unshift(why);
		note.textContent = lines.join(" ");
		const legend = exact ? element("div", { class: "legend" }, ...kinds.map(([name,
			label]) => element("span", null, element("i", { class: name }), label)))
				     : null;
		const left = why ? null : element(
			"div", { class: "side", tabindex: 0, role: "group", "aria-label": "Source" }, sources(f, s));
		const right =
			element("div", { class: "side", tabindex: 0, role: "group", "aria-label": "Instructions" },
				instructions(f, s));
		const sides = element("div", { class: why ? "sides alone" : "sides" },
			...[left, right].filter(Boolean));
		body.replaceChildren(...[legend, sides].filter((x) => x));
		const heat = (r) => r.cycles || (exact ? 0 : r.period);
		const hottest = s.rows.reduce((best, r, i) => heat(r) > heat(s.rows[best]) ? i : best, 0);
		const row = right.querySelector(`tr[data-row="${hottest}"]`);
		if (row) {
			scroll(row);
			mark(row);
		}
	}

	/* Marks another instruction. */
	function move(by) {
		const row = body.querySelector(`.asm tr[data-row="${at + by}"]`);
		if (row) {
			mark(row);
			scroll(row);
		}
	}

	function step(by) {
		const at = code.functions.indexOf(shown), next = code.functions[at + by];
		if (next)
			page.choose({ function: next.function });
	}

	page.view({
		id: "code",
		title: "Code",
		build(section) {
			root = section;
			list = element("select", {
				id: "code-function",
				"aria-label": "Function",
				onchange: (e) => page.choose({ function: +e.target.value })
			},
				...code.functions.map(
					(f) => element("option", { value: f.function }, page.nameOf(run, f.function))));
			note = element("p", { class: "note" });
			body = element("div", {
				onclick: (e) => {
					const row = e.target.closest("tr[data-line]");
					if (row)
						mark(row);
				}
			});
			root.append(element("div", { class: "tools" },
					    element("label",
						    { for: "code-function"
						    },
						    "Function"),
					    list,
					    element("button", { onclick: () => step(-1), title: "Key p" }, "Previous"),
					    element("button", { onclick: () => step(1), title: "Key n" }, "Next")),
				note, body);
		},
		update() {
			if (!code.functions.length) {
				note.textContent =
					"No code can be shown: the files of the program are not here, or " +
					"no sample fell into a function with a name.";
				return;
			}
			const wanted = page.chosen.function;
			const f = wanted < 0
					  ? code.functions[0]
					  : code.functions.find((x) => x.function === wanted) ||
						    (run.functions.inlined[wanted] &&
							    code.functions.find((x) => x.inlined.includes(
											run.functions.name[wanted])));
			if (!f) {
				body.replaceChildren();
				shown = null;
				list.value = "";
				note.textContent =
					`No code of ${page.nameOf(run, wanted)} here. The page holds that of the ` +
					`${
						code.functions
							.length} hottest functions; inlined ones are in their callers.`;
				return;
			}
			list.value = f.function;
			draw(f);
		},
		key(e) {
			if (e.key === "j" || e.key === "k") {
				move(e.key === "j" ? 1 : -1);
				return true;
			}
			if (e.key === "n" || e.key === "p") {
				step(e.key === "n" ? 1 : -1);
				return true;
			}
			return false;
		},
	});
})();
