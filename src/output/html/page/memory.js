/* SPDX-License-Identifier: GPL-2.0-or-later
 * View: data addresses of the chosen thread and interval.  The data objects, the sets of L1D, and the lines that
 * several threads use.  Sums are those of memory-sums.js. */
"use strict";
(() => {
	const run = page.runs[0], memory = run.memory, { element, text } = page;
	const enough = 20;	/* samples of a line, to call its sharing false */
	let sums = null, note = null, legend = null, objects = null, lines = null, map = null;

	/* ---- objects ---- */

	function objectColumns() {
		const list = [{
			title: "Object", wide: true, hint: "Variable, stack, or function that allocated the block",
			value: (o) => o.object.toLowerCase(),
			text: (o) => o.object + (o.source ? `  ${o.source}` : ""),
		}, {
			title: "Share", hint: "Of the sampled accesses",
			value: (o) => o.period, text: (o) => text.percent(o.period, sums.period),
			share: (o) => o.period / sums.period,
		}, {
			title: "Samples", minor: true,
			value: (o) => o.samples, text: (o) => text.count(o.samples),
		}, {
			title: "Stores", minor: true,
			value: (o) => o.stores, text: (o) => text.count(o.stores),
		}, {
			title: "Latency", hint: "Mean, in cycles",
			value: (o) => o.latencies ? o.latency / o.latencies : 0,
			text: (o) => o.latencies ? (o.latency / o.latencies).toFixed(1) : "–",
		}, {
			title: "Served by", hint: "Where the data were", minor: true,
			value: (o) => o.levels[3] + o.levels[4],
			parts: (o) => page.memoryLevels.map(([, , color], k) =>
				[`level-${color}`, o.levels[k] / o.samples]),
			text: (o) => page.memoryLevels.map(([, name], k) => [name, o.levels[k]])
				.filter(([, n]) => n).map(([name, n]) => `${name} ${n}`).join(", "),
		}, {
			title: "Verdict", left: true, minor: true, value: (o) => o.verdict,
		}];
		if (page.chosen.function >= 0)
			list.splice(2, 0, {
				title: "By function", hint: `The part of ${page.nameOf(run, page.chosen.function)}`,
				value: (o) => o.chosen / o.period, text: (o) => text.percent(o.chosen, o.period),
				share: (o) => o.chosen / o.period,
			});
		return list;
	}

	function buildObjects(parent) {
		parent.append(element("h2", null, "Data objects"));
		legend = element("div", { class: "legend" });
		parent.append(legend);
		objects = page.grid(parent, { label: "Data objects", columns: objectColumns(), sort: 1 });
	}

	function showObjects() {
		const seen = page.memoryLevels.filter((_, k) => sums.objects.some((o) => o.levels[k]));
		legend.replaceChildren(...seen.map(([, name, color]) =>
			element("span", null, element("i", { class: `level-${color}` }), name)));
		objects.columns(objectColumns());
		objects.show(sums.objects.slice());
	}

	/* ---- lines of several threads ---- */

	/* Bytes of one line, each used by one thread: false sharing, if there are enough samples to say so. */
	const sharing = (l) => !l.apart ? "the same bytes" : l.samples < enough ? "few samples" : "false sharing";

	/* Who uses a line: rows of texts, and the function of each. */
	function who(l) {
		const a = memory.access;
		return l.accesses.map(({ access: i, samples }) => {
			const place = run.strings[a.place[i]];
			return { thread: a.thread[i], offset: a.offset[i], function: a.function[i],
				row: [memory.threads[a.thread[i]][1], a.offset[i], a.store[i] ? "stores" : "loads",
					samples, page.nameOf(run, a.function[i]) + (place ? ` (${place})` : "")] };
		}).sort((x, y) => x.row[0] - y.row[0] || x.offset - y.offset);
	}

	function buildLines(parent) {
		const said = element("p", { class: "note" }), place = element("div");
		const caption = element("p", { class: "note" });
		const table = element("table", { class: "plain", "aria-label": "Who uses the line" });
		let chosen = null;
		const details = () => {
			caption.textContent = chosen
				? `Line ${chosen.address} in ${chosen.object}; a click chooses a function:` : "";
			table.replaceChildren(...!chosen ? [] : [
				element("tr", null, ...["Thread", "Byte", "Access", "Samples", "Function"]
					.map((t) => element("th", { scope: "col" }, t))),
				...who(chosen).map((x) => element("tr", {
					"aria-selected": x.function === page.chosen.function ? "true" : null,
					onclick: () => page.choose({ function: x.function }),
				}, ...x.row.map((c) => element("td", null, c))))]);
		};
		const show = (l) => {
			chosen = l;
			details();
		};
		parent.append(element("h2", null, "Lines that several threads use"), said, place);
		const grid = page.grid(place, {
			label: "Lines that several threads use", sort: 1, choose: show, chosen: (l) => l === chosen,
			columns: [
				{ title: "Line", left: true, value: (l) => l.address },
				{ title: "Samples", value: (l) => l.samples, text: (l) => text.count(l.samples) },
				{ title: "Threads", minor: true, value: (l) => l.threads },
				{ title: "From another", minor: true, value: (l) => l.other,
					text: (l) => text.count(l.other),
					hint: "Samples whose data another core had modified" },
				{ title: "Sharing", left: true, value: sharing },
				{ title: "Object", wide: true, minor: true, value: (l) => l.object },
			],
		});
		parent.append(caption, element("div", { class: "scroll" }, table));
		return () => {
			const falsely = sums.lines.filter((l) => sharing(l) === "false sharing").length;
			said.textContent = sums.lines.length
				? falsely ? `False sharing on ${falsely} of these lines: at least ${enough} samples, ` +
					"95 % of them at bytes of one thread each. Keep data of different threads " +
					"on different lines."
					: `No false sharing was found. It takes ${enough} samples of a line, ` +
						"95 % of them at bytes of one thread each."
				: "None: no line with samples of two threads, one of which stores. A smaller period " +
					"(softpmu mem record -c N) shows more lines.";
			place.hidden = !sums.lines.length;
			chosen = sums.lines.find((l) => l.address === chosen?.address) || sums.lines[0] || null;
			details();
			grid.show(sums.lines.slice());
		};
	}

	/* ---- sets ---- */

	const margin = 30;	/* left of the columns */

	function drawSets(c, width, height, at) {
		const { sets, ways } = memory.report.l1d, step = (width - margin) / sets, room = height - 20;
		const top = sums.sets.reduce((most, s) => Math.max(most, s.lines), ways);
		sums.sets.forEach((s, i) => {
			const tall = room * s.lines / top;
			c.fillStyle = page.color(i === at ? "--accent" : s.lines > ways ? "--hot" : "--one");
			c.fillRect(margin + i * step, room - tall, Math.max(1, step - (step > 4 ? 1 : 0)), tall);
		});
		c.strokeStyle = c.fillStyle = page.color("--text");
		c.beginPath();
		for (const y of [room - room * ways / top, room]) {
			c.moveTo(margin, y);
			c.lineTo(width, y);
		}
		c.stroke();
		c.textAlign = "right";
		c.fillText(String(ways), margin - 4, Math.max(7, room - room * ways / top));
		c.fillText(String(sets - 1), width, height - 8);
		c.textAlign = "left";
		c.fillText("set 0", margin, height - 8);
	}

	function buildSets(parent) {
		parent.append(element("h2", null, "Sets of the first-level cache"));
		if (!memory.report.l1d) {
			parent.append(element("p", { class: "note" }, "The file does not say how large the cache is."));
			return () => {};
		}
		const { sets, ways, line } = memory.report.l1d, place = element("div", { class: "map" });
		const said = element("p", { class: "note" });
		const one = element("p", { class: "note", "aria-live": "polite" });
		let at = -1;
		parent.append(said, place, one);
		map = page.canvas(place, 150, (c, width, height) => drawSets(c, width, height, at),
			{ "aria-label": "Lines in each set; arrows move through the sets", role: "img" });
		const pick = (i) => {
			at = Math.max(0, Math.min(sets - 1, i));
			const s = sums.sets[at];
			one.textContent = s ? `Set ${at}: ${s.lines} lines, ${text.count(s.samples)} samples.`
				: `Set ${at}: no samples.`;
			map.redraw();
		};
		map.element.addEventListener("mousemove", (e) =>
			pick(Math.floor((e.offsetX - margin) / ((place.clientWidth - margin) / sets))));
		map.element.addEventListener("keydown", (e) => {
			if (e.key === "ArrowRight" || e.key === "ArrowLeft") {
				pick(at + (e.key === "ArrowRight" ? 1 : -1));
				e.preventDefault();
			}
		});
		return () => {
			const over = sums.sets.filter((s) => s.lines > ways).length;
			const most = sums.sets.reduce((n, s) => Math.max(n, s.lines), 0);
			said.textContent = `${sets} sets of ${ways} ways and ${line} bytes. Column height: ` +
				`sampled lines in the set (maximum ${most}). ` +
				(over ? `Sets with more lines than ways (above the mark): ${over}.`
					: "No set has more lines than ways.");
			map.redraw();
		};
	}

	let showLines = null, showSets = null;
	page.view({
		id: "memory", title: "Memory",
		build(root) {
			if (!memory) {
				root.append(element("p", { class: "note" },
					"The file has no data addresses. These commands record them: ",
					element("code", null, "softpmu mem record PROGRAM"), ", ",
					element("code", null, "softpmu record -d -W -e EVENT:p --heap PROGRAM"), "."));
				return;
			}
			sums = page.memory();
			note = element("p", { class: "note" });
			root.append(note);
			buildObjects(root);
			showLines = buildLines(root);
			showSets = buildSets(root);
		},
		update() {
			if (!memory)
				return;
			sums = page.memory();
			note.textContent = text.count(sums.samples) + (page.part()
				? ` samples with a data address${page.part()}.`
				: ` of ${text.count(memory.report.samples)} samples have a data address.`);
			showObjects();
			showLines();
			showSets();
		},
		print() {
			objects?.print();
			map?.now();
		},
	});
})();
