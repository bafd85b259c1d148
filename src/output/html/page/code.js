/* SPDX-License-Identifier: GPL-2.0-or-later
 * View: source and instructions of a function side by side, with what hit each line and each instruction.
 *
 * With an exact profile in the file, cycles are those for which retirement waited for the instruction, coloured by
 * cause, and a mark shows where the chosen event's samples fell: the distance is the skid.  Choose a line and its
 * instructions are marked, and the other way round; keys j and k move through the instructions, n and p through the
 * functions, of which the one with most of the chosen event comes first.  Samples are those of the chosen thread and
 * interval; cycles of the exact profile, which has no times, those of the chosen thread in the whole run. */
"use strict";
(() => {
	const run = page.runs[0], code = run.code, { element, text } = page;
	const isExact = code.events.map((n) => n in code.causes), exact = isExact.includes(true);
	let list = null, note = null, body = null, order = [], shown = null, marked = [], at = 0;

	/* The colours of the exact profile's causes. */
	const kinds = [
		["retiring", "retiring", ["retiring"]],
		["core", "core", ["execution", "divider", "port", "pipeline", "serialize"]],
		["frontend", "front end", ["icache", "itlb", "resteer", "front-end"]],
		["bad", "mispredicts, clears, assists", ["mispredict", "clear", "assist"]],
		["memory", "memory", null],
	];
	const causeOf = (event) => event.slice("exact.".length);
	const kindOf = (cause) => kinds.find(([, , causes]) => !causes || causes.includes(cause))[0];

	/* ---- sums ---- */

	const nothing = () => (
		{ cycles: 0, causes: new Map(), period: 0, samples: 0, latency: 0, latencies: 0, late: 0 });

	/* Adds some of these numbers. */
	function add(into, { causes = [], ...numbers }) {
		for (const [name, n] of Object.entries(numbers))
			into[name] += n;
		for (const [event, n] of causes)
			into.causes.set(event, (into.causes.get(event) || 0) + n);
	}

	/* The number of a function's first hit, from 1 on. */
	const firstHit = new Map();
	let hits = 1;
	for (const f of code.functions) {
		firstHit.set(f, hits);
		hits += f.hit.length;
	}

	/* What is chosen, by instruction and in all: cycles by cause; the event's samples, latency and delay. */
	function sums(f) {
		const event = run.profile.events[page.chosen.event], number = code.events.indexOf(event?.name);
		const rows = f.address.map(nothing), all = nothing(), whole = page.whole();
		for (const [e, row, who, period, samples, latency, latencies, late] of f.hit) {
			if (!rows[row] || !page.passes(...code.threads[who]))
				continue;
			if (isExact[e])
				add(rows[row], { cycles: period, causes: [[code.events[e], period]] });
			else if (whole && e === number)
				add(rows[row], { period, samples, latency, latencies, late });
		}
		if (!whole && event)
			addSamples(f, rows, event);
		for (const row of rows)
			add(all, row);
		return { rows, all, event: event?.name };
	}

	/* The samples of the chosen interval, one by one. */
	function addSamples(f, rows, event) {
		const first = firstHit.get(f), { hit, latency } = code.samples[page.chosen.event] || { hit: [] };
		for (const i of page.samplesOf(run, event)) {
			const row = hit[i] ? rows[f.hit[hit[i] - first]?.[1]] : null;
			if (!row)
				continue;
			const cycles = latency ? latency[i] : 0;
			add(row, { period: event.weight[i], samples: 1, latency: cycles, latencies: cycles ? 1 : 0,
				late: event.late ? event.late[i] : 0 });
		}
	}

	/* The part of the samples that lie at instructions for which the exact profile has no room. */
	const skid = ({ rows, all }) => 1 -
		rows.reduce((same, r) => same + Math.min(r.period / all.period, r.cycles / all.cycles), 0);

	/* The largest share of a row. */
	function largest(rows, all) {
		const share = (n, of) => of ? n / of : 0;
		return rows.reduce((most, r) =>
			Math.max(most, share(r.cycles, all.cycles), share(r.period, all.period)), 1e-9);
	}

	/* ---- tables ---- */

	/* A bar of the causes, as wide as the share of the hottest, with a mark where the samples say it is. */
	function bar(row, all, most) {
		const e = element("span", { class: "meter" });
		const part = (name, share) => {
			const i = element("i", { class: name });
			i.style.width = `${100 * share / most}%`;
			e.append(i);
		};
		for (const [event, n] of [...row.causes].sort((a, b) => b[1] - a[1]))
			part(kindOf(causeOf(event)), n / all.cycles);
		if (!exact && row.period)
			part("hot", row.period / all.period);
		if (exact && row.period) {
			const mark = element("b");
			mark.style.left = `${Math.min(100, 100 * row.period / all.period / most)}%`;
			e.append(mark);
		}
		return e;
	}

	function explain(row, s) {
		const lines = [];
		if (exact)
			lines.push(`${text.count(row.cycles)} cycles, ` +
				`${text.percent(row.cycles, s.all.cycles)} of the function`);
		for (const [event, n] of [...row.causes].sort((a, b) => b[1] - a[1]))
			lines.push(`${text.count(n)} ${causeOf(event)}: ${code.causes[event]}`);
		if (row.period)
			lines.push(`samples of ${s.event}: ${text.percent(row.period, s.all.period)} of the function`);
		return lines.join("\n") || null;
	}

	const share = (n, of) => n && of ? (100 * n / of).toFixed(2) : "";
	const mean = (sum, n) => n ? (sum / n).toFixed(1) : "";
	const cell = (value, name) => element("td", { class: name || "number" }, value);

	/* The headings, and the cells of a row, that both tables begin with. */
	const heads = (s) => [...(exact ? ["Cycles %"] : []), ...(s.all.period ? ["Samples %"] : []), ""];
	const cells = (row, s, most) => [
		exact ? cell(share(row.cycles, s.all.cycles)) : null,
		s.all.period ? cell(share(row.period, s.all.period)) : null,
		element("td", { class: "bars" }, bar(row, s.all, most)),
	];
	const table = (name, label, head, rows) => element("table", { class: `code ${name}`, "aria-label": label },
		element("thead", null, element("tr", null, ...head.map((h) => element("th", { scope: "col" }, h)))),
		element("tbody", null, ...rows));

	function instructions(f, s) {
		const most = largest(s.rows, s.all);
		const latency = s.all.latencies > 0, late = s.all.late > 0;
		const head = [...heads(s), ...(latency ? ["Latency"] : []), ...(late ? ["Late"] : []), "Address",
			"Instruction"];
		return table("asm", "Instructions", head, s.rows.map((r, i) => element("tr",
			{ "data-line": `${f.file[i]}:${f.line[i]}`, "data-row": i, title: explain(r, s) },
			...cells(r, s, most),
			latency ? cell(mean(r.latency, r.latencies)) : null,
			late ? cell(mean(r.late, r.samples)) : null,
			cell(f.address[i].toString(16), "address"), cell(run.strings[f.text[i]], "what"))));
	}

	function sources(f, s) {
		const of = new Map(), source = f.source, head = [...heads(s), "Line", "Source"], rows = [];
		s.rows.forEach((r, i) => {
			const key = `${f.file[i]}:${f.line[i]}`;
			if (!of.has(key))
				of.set(key, nothing());
			add(of.get(key), r);
		});
		const most = largest([...of.values()], s.all);
		const across = (name, what) => rows.push(element("tr", { class: name },
			element("td", { colspan: head.length }, what)));
		let file = -1, last = 0, here = false;
		source.line.forEach((line, i) => {
			if (source.file[i] !== file) {
				file = source.file[i];
				here = source.text.some((t, k) => t && source.file[k] === file);
				across("path", run.strings[file] + (here ? "" : " (this file is not here)"));
			} else if (here && line !== last + 1) {
				across("gap", "⋯");
			}
			last = line;
			if (!here)
				return;
			const key = `${file}:${line}`, r = of.get(key) || nothing();
			rows.push(element("tr",
				{ "data-line": key, class: of.has(key) ? null : "quiet", title: explain(r, s) },
				...cells(r, s, most), cell(line), cell(run.strings[source.text[i]], "what")));
		});
		return table("src", "Source", head, rows);
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

	/* ---- one function ---- */

	function scroll(row) {
		const side = row.closest(".side");
		side.scrollTop = row.offsetTop - side.clientHeight / 3;
	}

	/* Marks the rows of a source line on both sides; scrolls the other side to the first of them. */
	function mark(from) {
		const key = from.dataset.line, side = from.closest(".side");
		for (const e of marked)
			e.removeAttribute("aria-selected");
		/* line 0 is unknown: such instructions have nothing in common */
		marked = key.endsWith(":0") ? [from]
			: [...body.querySelectorAll("tr[data-line]")].filter((e) => e.dataset.line === key);
		if (from.dataset.row)
			at = +from.dataset.row;
		for (const e of marked)
			e.setAttribute("aria-selected", "true");
		const first = marked.find((e) => e.closest(".side") !== side);
		if (first)
			scroll(first);
	}

	/* What is to be said of a function. */
	function said(s, why) {
		const lines = [why];
		if (exact)
			lines.push(`${text.count(s.all.cycles)} cycles by the exact profile.`);
		if (s.all.samples)
			lines.push(`${text.count(s.all.samples)} samples of ${s.event}${page.part()}.`);
		else if (page.part())
			lines.push(`No samples of ${s.event || "the event"}${page.part()}.`);
		if (exact && !page.whole())
			lines.push("The exact profile has no times: its cycles are those of the whole run.");
		if (exact && s.all.period && s.all.cycles)
			lines.push(`${text.percent(skid(s), 1)} of the samples fell at other instructions than the ` +
				"cycles did (skid, and chance); the marks show where they fell.");
		if (!exact)
			lines.push("Without the exact profile there are no causes: softpmu record --exact keeps it.");
		if (!s.all.latencies && !s.all.late)
			lines.push("Latencies: softpmu record -W with a precise event.");
		return lines.filter((l) => l).join(" ");
	}

	function draw(f) {
		const s = sums(f), why = missing(f);
		shown = f;
		note.textContent = said(s, why);
		const side = (label, what) => element("div", { class: "side", tabindex: 0, role: "group",
			"aria-label": label }, what);
		const right = side("Instructions", instructions(f, s));
		body.replaceChildren(
			element("div", { class: "legend" }, ...(exact ? kinds : []).map(([name, label]) =>
				element("span", null, element("i", { class: name }), label))),
			element("div", { class: why ? "sides alone" : "sides" },
				...(why ? [] : [side("Source", sources(f, s))]), right));
		const heat = (r) => r.cycles || (exact ? 0 : r.period);
		const hottest = s.rows.reduce((best, r, i) => heat(r) > heat(s.rows[best]) ? i : best, 0);
		const row = right.querySelector(`tr[data-row="${hottest}"]`);
		if (row) {
			scroll(row);
			mark(row);
		}
	}

	/* ---- which function ---- */

	/* Those with most of what is chosen first; functions without any of it in the order of the data. */
	function arrange() {
		const self = page.sums(run)?.self;
		order = [...code.functions].sort((a, b) => self ? self[b.function] - self[a.function] : 0);
		list.replaceChildren(...order.map((f) =>
			element("option", { value: f.function }, page.nameOf(run, f.function))));
	}

	/* The function that has the code of a chosen one, which may be inlined. */
	function holderOf(wanted) {
		return order.find((f) => f.function === wanted) || (run.functions.inlined[wanted] &&
			order.find((f) => f.inlined.includes(run.functions.name[wanted])));
	}

	function update(changed) {
		if (!code.functions.length) {
			note.textContent = "No code can be shown: the files of the program are not here, or no " +
				"sample fell into a function with a name.";
			return;
		}
		if (["event", "thread", "from", "to"].some((c) => changed.has(c)))
			arrange();
		const wanted = page.chosen.function, f = wanted < 0 ? order[0] : holderOf(wanted);
		if (f) {
			list.value = f.function;
			draw(f);
			return;
		}
		body.replaceChildren();
		shown = null;
		list.value = "";
		note.textContent = `No code of ${page.nameOf(run, wanted)} here. The page holds that of the ` +
			`${order.length} hottest functions; inlined ones are in their callers.`;
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
		const next = order[order.indexOf(shown) + by];
		if (next)
			page.choose({ function: next.function });
	}

	page.view({
		id: "code", title: "Code",
		build(root) {
			list = element("select", { id: "code-function", "aria-label": "Function",
				onchange: (e) => page.choose({ function: +e.target.value }) });
			note = element("p", { class: "note" });
			body = element("div", { onclick: (e) => {
				const row = e.target.closest("tr[data-line]");
				if (row)
					mark(row);
			} });
			root.append(element("div", { class: "tools" },
				element("label", { for: "code-function" }, "Function"), list,
				element("button", { onclick: () => step(-1), title: "Key p" }, "Previous"),
				element("button", { onclick: () => step(1), title: "Key n" }, "Next")), note, body);
		},
		update,
		key(e) {
			const keys = { j: () => move(1), k: () => move(-1), n: () => step(1), p: () => step(-1) };
			keys[e.key]?.();
			return e.key in keys;
		},
	});
})();
