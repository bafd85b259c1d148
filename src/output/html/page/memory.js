/* SPDX-License-Identifier: GPL-2.0-or-later
 * View: data addresses. The data objects, the sets of L1D, and the lines that several threads use. */
"use strict";
(() => {
	const run = page.runs[0], memory = run.memory, {element, text} = page;
	const levels = [
		["l1", "L1", "one"], ["lfb", "fill buffer", "six"], ["l2", "L2", "three"], ["l3", "L3", "two"],
		["ram", "memory", "five"], ["l1_miss", "not L1", "four"], ["unknown", "unknown", "none"]
	];
	let report = null, lines = [], map = null, at = -1;

	/* ---- lines of several threads ---- */

	/* Bytes of one line, each used by one thread only: false sharing, if there are enough samples to say so. */
	const enough = 20;
	function line([address, ...accesses]) {
		const threads = new Map(), offsets = new Map();
		let samples = 0, other = 0;
		for (const [tid, , , offset, , n, from] of accesses) {
			samples += n;
			other += from;
			threads.set(tid, (threads.get(tid) || 0) + n);
			offsets.set(offset, (offsets.get(offset) || new Set()).add(tid));
		}
		const same = [...offsets.values()].some((s) => s.size > 1);
		const start = BigInt(address), end = start + BigInt(report.l1d ? report.l1d.line : 64);
		const object =
			report.objects.find((o) => o.addresses && BigInt(o.low) < end && BigInt(o.high) >= start);
		return {
			address,
			accesses,
			samples,
			other,
			threads: threads.size,
			same,
			object: object ? object.object : ""
		};
	}

	const who = (l) =>
		l.accesses.slice()
			.sort((a, b) => a[0] - b[0] || a[3] - b[3])
			.map(([tid, f, place, offset, store,
				n]) => [tid, offset, store ? "stores" : "loads", n,
				     page.nameOf(run, f) + (place ? ` (${run.strings[place]})` : "")]);

	function drawLines(parent) {
		parent.append(element("h2", null, "Lines that several threads use"));
		if (!lines.length) {
			parent.append(element("p", { class: "note" },
				"None: no line with samples of two threads, one of which " +
					"stores. With more samples (softpmu mem record -c) more lines are seen."));
			return;
		}
		const falsely = lines.filter((l) => !l.same && l.samples >= enough).length;
		parent.append(element("p", { class: "note" },
			`${falsely} of ${lines.length} lines are falsely shared: no byte ` +
				`of them has samples of two threads, and each has ${enough} samples or more. ` +
				"Keep such bytes on different lines."));
		const details = element("table", { class: "plain", "aria-label": "Who uses the line" });
		const caption = element("p", { class: "note" });
		let chosen = lines[0];
		const show = (l) => {
			chosen = l;
			caption.textContent = `Line ${l.address}${l.object ? ` in ${l.object}` : ""}:`;
			details.replaceChildren(element("tr", null,
							...["Thread", "Byte", "Access", "Samples", "Function"].map(
								(t) => element("th", { scope: "col" }, t))),
				...who(l).map((row) => element("tr", null, ...row.map((c) => element("td", null, c)))));
			grid.show(lines);
		};
		const grid = page.grid(parent, {
			label: "Lines that several threads use",
			sort: 1,
			columns: [
				{ title: "Line", left: true, value: (l) => l.address },
				{ title: "Samples", value: (l) => l.samples, text: (l) => text.count(l.samples) },
				{ title: "Threads", value: (l) => l.threads }, {
					title: "From another",
					hint: "Samples of which the data came modified from another core",
					minor: true,
					value: (l) => l.other,
					text: (l) => text.count(l.other)
				},
				{
					title: "Sharing",
					left: true,
					value: (l) => l.same ? "the same bytes" : l.samples < enough
						? "too few samples" : "false sharing"
				},
				{ title: "Object", wide: true, minor: true, value: (l) => l.object }
			],
			choose: show,
			chosen: (l) => l === chosen
		});
		parent.append(caption, element("div", { class: "scroll" }, details));
		show(chosen);
	}

	/* ---- objects ---- */

	function drawObjects(parent) {
		parent.append(element("h2", null, "Data objects"));
		parent.append(element("div", { class: "legend" },
			...levels.filter(([key]) => report.objects.some((o) => o.levels[key]))
				.map(([, name, color]) => {
					const i = element("i");
					i.style.background = `var(--${color})`;
					return element("span", null, i, name);
				})));
		const whole = report.objects.reduce((sum, o) => sum + o.period, 0);	/* of those with an address */
		const named = (o) => o.object !== "no symbol" || !o.addresses ? o.object
			: `no symbol, 0x${o.low.toString(16)} to 0x${o.high.toString(16)}`;
		const columns = [
			{
				title: "Object",
				wide: true,
				hint: "Variable, stack, or function that allocated the block",
				value: (o) => o.object.toLowerCase(),
				text: (o) => named(o) + (o.source ? `  ${o.source}` : "")
			},
			{
				title: "Share",
				hint: "Of the sampled accesses",
				value: (o) => o.period,
				text: (o) => text.percent(o.period, whole),
				share: (o) => o.period / whole
			},
			{
				title: "Samples",
				value: (o) => o.samples,
				text: (o) => text.count(o.samples),
				minor: true
			},
			{ title: "Stores", value: (o) => o.stores, text: (o) => text.count(o.stores), minor: true }, {
				title: "Latency",
				hint: "Mean, in cycles",
				value: (o) => o.latency ? o.latency.mean : 0,
				text: (o) => o.latency ? o.latency.mean.toFixed(1) : "–"
			},
			{
				title: "Served by",
				hint: "Where the data were",
				minor: true,
				value: (o) => o.levels.ram + o.levels.l3,
				parts: (o) =>
					levels.map(([key, , color]) => [`level-${color}`, o.levels[key] / o.samples]),
				text: (o) => levels.filter(([key]) => o.levels[key])
						      .map(([key, name]) => `${name} ${o.levels[key]}`)
						      .join(", ")
			},
			{ title: "Verdict", left: true, minor: true, value: (o) => o.verdict || "" }
		];
		page.grid(parent, { label: "Data objects", columns, sort: 1 }).show(report.objects.slice());
	}

	/* ---- sets ---- */

	function drawSets(parent) {
		parent.append(element("h2", null, "Sets of the first-level cache"));
		if (!report.l1d) {
			parent.append(element("p", { class: "note" }, "The file does not say how large the cache is."));
			return;
		}
		const {sets, ways, line: bytes} = report.l1d, of = new Map(report.sets.map((s) => [s.set, s]));
		const most = Math.max(...report.sets.map((s) => s.lines || 0), 1),
		      over = report.sets.filter((s) => s.lines > ways);
		parent.append(element("p", { class: "note" },
			`${sets} sets of ${ways} ways and ${bytes} bytes. A column is a ` +
				`set, its height the lines that samples hit in it, at most ${most}. ` +
				(over.length ? `${over.length} sets have more lines than ways (above the mark).`
					     : "No set has more lines than ways.")));
		const place = element("div", { class: "map" });
		parent.append(place);
		const top = Math.max(most, ways);
		map = page.canvas(place, 150, (c, width, height) => {
			const step = (width - 30) / sets, room = height - 20;
			for (let i = 0; i < sets; i++) {
				const s = of.get(i);
				if (!s || !s.lines)
					continue;
				const tall = room * s.lines / top;
				c.fillStyle = page.color(i === at ? "--accent" : s.lines > ways ? "--hot" : "--one");
				c.fillRect(30 + i * step, room - tall, Math.max(1, step - (step > 4 ? 1 : 0)), tall);
			}
			c.strokeStyle = c.fillStyle = page.color("--text");
			c.beginPath();
			c.moveTo(30, room - room * ways / top);
			c.lineTo(width, room - room * ways / top);
			c.moveTo(30, room);
			c.lineTo(width, room);
			c.stroke();
			c.textAlign = "right";
			c.fillText(String(ways), 26, Math.max(7, room - room * ways / top));
			c.textAlign = "left";
			c.fillText("set 0", 30, height - 8);
			c.textAlign = "right";
			c.fillText(String(sets - 1), width, height - 8);
			c.textAlign = "left";
		}, { "aria-label": "Lines in each set; arrows move through the sets", role: "img" });
		const said = element("p", { class: "note", "aria-live": "polite" });
		parent.append(said);
		const pick = (i) => {
			at = Math.max(0, Math.min(sets - 1, i));
			const s = of.get(at);
			said.textContent = s ? `Set ${at}: ${s.lines} lines, ${text.count(s.samples)} samples.`
					     : `Set ${at}: no samples.`;
			map.redraw();
		};
		map.element.addEventListener(
			"mousemove", (e) => pick(Math.floor((e.offsetX - 30) / ((place.clientWidth - 30) / sets))));
		map.element.addEventListener("keydown", (e) => {
			if (e.key === "ArrowRight" || e.key === "ArrowLeft") {
				pick(at + (e.key === "ArrowRight" ? 1 : -1));
				e.preventDefault();
			}
		});
	}

	page.view({
		id: "memory",
		title: "Memory",
		build(root) {
			if (!memory) {
				root.append(element("p", { class: "note" },
					"The file has no data addresses. These commands record them: ",
					element("code", null, "softpmu mem record PROGRAM"), ", ",
					element("code", null, "softpmu record -d -W -e EVENT:p --heap PROGRAM"), "."));
				return;
			}
			report = memory.report;
			lines = memory.lines.map(line);
			root.append(element("p", { class: "note" },
				`${text.count(report.with_address)} of ` +
					`${text.count(report.samples)} samples have a data address.`));
			drawObjects(root);
			drawLines(root);
			drawSets(root);
		},
		update() {},
	});
})();
