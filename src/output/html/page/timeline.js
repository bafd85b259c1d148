/* SPDX-License-Identifier: GPL-2.0-or-later
 * View: counts over modelled time, of all threads or the chosen one, and samples of the chosen function.  Dragging
 * chooses an interval, and the other views then show the samples of that interval alone.
 *
 * Keys: Left and Right move, + and - zoom, Enter zooms to the chosen interval, Home shows everything. */
"use strict";
(() => {
	const run = page.runs[0], t = run.timeline, events = run.profile.events;
	let lanes = [], canvas = null, status = null, low = 0, high = 1, drag = null, button = null;
	const left = 8, gap = 26;

	/* ---- what is drawn ---- */

	/* A column over time, of all threads or the chosen one.  names: its beginning, or the whole name. */
	function column(name) {
		const sum = new Float64Array(t.intervals);
		for (const thread of t.threads.filter((x) => page.passes(x.pid, x.tid)))
			t.columns.forEach((c, k) => {
				if (c === name || (name.endsWith(".") && c.startsWith(name)))
					thread.values[k].forEach((v, i) => { sum[thread.first + i] += v; });
			});
		return sum;
	}

	/* The chosen event's samples over time, by their periods: all, or those of a function itself. */
	function sampled(f = -1) {
		const e = page.eventOf(run), { thread } = page.chosen, n = Math.ceil(lastTime() / step());
		const sum = new Float64Array(n), { counted } = run.profile.stacks;
		for (let i = 0; e && i < e.time.length; i++)
			if ((thread < 0 || e.thread[i] === thread) && (f < 0 || counted[e.stack[i]] === f))
				sum[Math.min(n - 1, Math.floor(e.time[i] / step()))] += e.weight[i];
		return sum;
	}
	const ratio = (a, b, scale) => a.map((x, i) => b[i] ? scale * x / b[i] : NaN);

	/* What the file counted over time. */
	function countLanes() {
		const cycles = column("cycles"), insns = column("instructions");
		lanes.push({ title: "IPC", kind: "lines", height: 70, series: [["--one", "instructions a cycle",
			ratio(insns, cycles, 1)]] });
		const parts = page.levels.map(([, , begin]) => column(begin));
		const all = parts[0].map((_, i) => parts.reduce((a, p) => a + p[i], 0));
		if (page.hasLevels(run))
			lanes.push({ title: "Issue slots", kind: "stack", height: 100, percent: true,
				series: page.levels.map(([name, text], k) =>
					[`--${name}`, text, ratio(parts[k], all, 1)]) });
		lanes.push({ title: "Load misses per 1000 instructions", kind: "lines", height: 70, series: [
			["--six", "L1D", ratio(column("l1d_misses"), insns, 1000)],
			["--eight", "L2", ratio(column("l2_misses"), insns, 1000)],
			["--four", "L3", ratio(column("l3_misses"), insns, 1000)]]
			.slice(0, t.columns.includes("l3_misses") ? 3 : 2) });
		lanes.push({ title: "Mispredicted branches per 1000 instructions", kind: "lines", height: 50,
			series: [["--bad", "mispredicts", ratio(column("mispredicts"), insns, 1000)]] });
		lanes.push({ title: "Threads: dark where they ran, light where they waited", kind: "threads",
			height: Math.min(24, t.threads.length) * 14, series: [] });
	}

	function makeLanes() {
		const e = page.eventOf(run), f = page.chosen.function;
		lanes = [];
		if (t)
			countLanes();
		else
			lanes.push({ title: `Samples of ${e.name}, by their periods`, kind: "lines", height: 120,
				series: [["--one", e.name, sampled()]] });
		if (f >= 0 && e)
			lanes.splice(1, 0, { title: `Samples of ${e.name} in ${page.nameOf(run, f)}`, kind: "lines",
				height: 50, series: [["--accent", "samples, by their periods", sampled(f)]] });
	}

	const lastTime = () => t ? t.intervals * t.interval
		: Math.max(1, ...events.map((e) => e.time.length ? e.time[e.time.length - 1] : 0));
	const step = () => t ? t.interval : lastTime() / 400;

	/* ---- drawing ---- */

	const xOf = (ns, width) => left + (width - 2 * left) * (ns - low) / (high - low);
	const nsOf = (x, width) => low + (high - low) * (x - left) / (width - 2 * left);
	const heightOf = () => lanes.reduce((a, lane) => a + lane.height + gap, 24);

	/* First and behind the last index in sight. */
	const sight = (n) => [Math.max(0, Math.floor(low / step())), Math.min(n, Math.ceil(high / step()))];

	/* Readable on what is drawn, and beside it. */
	function outlined(context, text, x, y, color) {
		context.strokeStyle = page.color("--panel");
		context.lineWidth = 3;
		context.strokeText(text, x, y);
		context.fillStyle = page.color(color);
		context.fillText(text, x, y);
	}

	function drawLines(context, lane, y, width) {
		let most = 0;
		for (const [, , values] of lane.series) {
			const [a, b] = sight(values.length);
			for (let i = a; i < b; i++)
				most = Math.max(most, values[i] || 0);
		}
		lane.most = most || 1;
		for (const [color, , values] of lane.series) {
			const [a, b] = sight(values.length);
			context.strokeStyle = page.color(color);
			context.lineWidth = 1.5;
			context.beginPath();
			let drawn = false;
			for (let i = a; i < b; i++) {
				if (Number.isNaN(values[i])) {
					drawn = false;
					continue;
				}
				const at = y + lane.height * (1 - values[i] / lane.most);
				const x = Math.max(left, xOf(i * step(), width));
				context[drawn ? "lineTo" : "moveTo"](x, at);
				context.lineTo(Math.min(width - left, xOf((i + 1) * step(), width)), at);
				drawn = true;
			}
			context.stroke();
		}
	}

	function drawStack(context, lane, y, width) {
		const [a, b] = sight(lane.series[0][2].length);
		lane.most = 1;
		for (let i = a; i < b; i++) {
			const x = Math.floor(Math.max(left, xOf(i * step(), width)));
			const end = Math.ceil(Math.min(width - left, xOf((i + 1) * step(), width)));
			let bottom = y + lane.height;
			for (const [color, , values] of lane.series) {
				const tall = lane.height * (values[i] || 0);
				context.fillStyle = page.color(color);
				context.fillRect(x, bottom - tall, end - x, tall);
				bottom -= tall;
			}
		}
	}

	function drawThreads(context, lane, y, width) {
		const tall = 14, cycles = t.columns.indexOf("cycles");
		t.threads.slice(0, 24).forEach((thread, k) => {
			const x = (i) => xOf((thread.first + i) * step(), width), top = y + k * tall;
			const begin = Math.max(left, x(0));
			const end = Math.min(width - left, x(thread.values[cycles].length));
			if (end <= begin)
				return;
			context.fillStyle = page.color("--none");
			context.globalAlpha = 0.6;
			context.fillRect(begin, top + 1, end - begin, tall - 3);
			context.fillStyle = page.color("--three");
			thread.values[cycles].forEach((v, i) => {
				const from = Math.round(Math.max(left, x(i)));
				const to = Math.round(Math.min(width - left, x(i + 1)));
				context.globalAlpha = Math.min(1, v / t.cycles);
				if (to > from)
					context.fillRect(from, top + 1, to - from, tall - 3);
			});
			context.globalAlpha = 1;
			outlined(context, thread.tid, begin + 3, top + tall / 2, "--text");
		});
	}

	const kinds = { lines: drawLines, stack: drawStack, threads: drawThreads };

	function draw(context, width) {
		let y = 0;
		context.textAlign = "left";
		for (const lane of lanes) {
			context.fillStyle = page.color("--text");
			context.fillText(page.fit(context, lane.title, width - 2 * left), left, y + gap / 2 + 2);
			y += gap;
			context.fillStyle = page.color("--panel");
			context.fillRect(left, y, width - 2 * left, lane.height);
			kinds[lane.kind](context, lane, y, width);
			if (lane.kind === "lines") {
				context.textAlign = "right";
				outlined(context, page.text.short(lane.most), width - left - 3, y + 8, "--quiet");
				context.textAlign = "left";
			}
			lane.top = y;
			y += lane.height;
		}
		context.fillStyle = page.color("--quiet");
		const ticks = Math.max(2, Math.floor(width / 160));
		for (let i = 0; i <= ticks; i++) {
			const ns = low + (high - low) * i / ticks;
			context.textAlign = i === 0 ? "left" : i === ticks ? "right" : "center";
			context.fillText(page.text.time(ns), xOf(ns, width), y + 13);
		}
		const [from, to] = drag || [page.chosen.from, page.chosen.to];
		if (from > 0 || to < Infinity) {
			const a = Math.max(left, xOf(from, width)), b = Math.min(width - left, xOf(to, width));
			context.fillStyle = page.color("--page");
			context.globalAlpha = 0.6;
			context.fillRect(left, gap, Math.max(0, a - left), y - gap);
			context.fillRect(b, gap, Math.max(0, width - left - b), y - gap);
			context.globalAlpha = 1;
			context.strokeStyle = page.color("--accent");
			context.lineWidth = 1.5;
			context.strokeRect(a, gap, Math.max(1, b - a), y - gap);
		}
	}

	/* ---- pointer and keys ---- */

	const bounded = (ns) => Math.max(0, Math.min(lastTime(), ns));
	const at = (e) => {
		const place = canvas.element.getBoundingClientRect();
		return bounded(nsOf(e.clientX - place.left, place.width));
	};

	function look(from, to) {
		const wide = Math.max(4 * step(), Math.min(lastTime(), to - from));
		low = Math.max(0, Math.min(lastTime() - wide, from));
		high = low + wide;
		say();
		canvas.redraw();
	}

	function zoom(factor) {
		const middle = (low + high) / 2, half = (high - low) * factor / 2;
		look(middle - half, middle + half);
	}

	function toChosen() {
		if (page.chosen.to < Infinity)
			look(page.chosen.from, page.chosen.to);
	}

	function lines(e) {
		const i = Math.floor(at(e) / step()), y = e.clientY - canvas.element.getBoundingClientRect().top;
		const lane = lanes.find((l) => y >= l.top - gap && y < l.top + l.height);
		if (!lane)
			return null;
		const values = lane.series.map(([, name, v]) => {
			const text = lane.percent && v[i] >= 0 ? page.text.percent(v[i], 1) : page.text.short(v[i]);
			return `${name}: ${text}`;
		});
		if (lane.kind === "threads") {
			const thread = t.threads[Math.floor((y - lane.top) / 14)];
			if (!thread)
				return null;
			const v = thread.values[t.columns.indexOf("cycles")][i - thread.first];
			values.push(v === undefined ? `${thread.tid}: not there`
				: `${thread.tid}: ran ${page.text.percent(v, t.cycles)} of it`);
		}
		return [`${page.text.time(i * step())} to ${page.text.time((i + 1) * step())}`, ...values];
	}

	function key(e) {
		const by = (high - low) / (e.key === "ArrowLeft" ? -4 : 4);
		if (e.key === "ArrowLeft" || e.key === "ArrowRight")
			look(low + by, high + by);
		else if (e.key === "+" || e.key === "=" || e.key === "-")
			zoom(e.key === "-" ? 2 : 0.5);
		else if (e.key === "Home")
			look(0, lastTime());
		else if (e.key === "Enter" && page.chosen.to < Infinity && e.target === canvas.element)
			toChosen();
		else
			return false;
		return true;
	}

	function say() {
		const [a, b] = [low, high].map(page.text.time);
		status.textContent = `${a} to ${b} of ${page.text.time(lastTime())} modelled time. ` +
			"Drag to choose an interval: flame graph, functions, code and memory then show only what was " +
			"sampled in it. Costs and the top-down tree stay those of the whole run." +
			(t && t.windows ? ` ${page.text.count(t.windows)} windows of the run were timed: what lies ` +
				"between two of them is drawn as the second, scaled up." : "");
		button.disabled = page.chosen.to === Infinity;
	}

	/* ---- the view ---- */

	function legend() {
		const all = page.element("div", { class: "legend" });
		for (const lane of lanes)
			for (const [color, text] of lane.series)
				if (lane.series.length > 1) {
					const mark = page.element("i");
					mark.style.background = `var(${color})`;
					all.append(page.element("span", null, mark, text));
				}
		return all;
	}

	function build(root) {
		low = 0;
		high = lastTime();
		makeLanes();
		button = page.element("button", { onclick: toChosen }, "Zoom to the interval");
		status = page.element("p", { class: "note", "aria-live": "polite" });
		const area = page.element("div", { class: "flame" });
		root.append(page.element("div", { class: "tools" }, button,
			page.element("button", { onclick: () => zoom(0.5) }, "Zoom in"),
			page.element("button", { onclick: () => zoom(2) }, "Zoom out"),
			page.element("button", { onclick: () => look(0, lastTime()) }, "All")), status, legend(), area);
		canvas = page.canvas(area, heightOf, draw, { role: "application", style: "touch-action: pan-y",
			"aria-label": "Timeline; Left, Right, + and - move and zoom" });
		const e = canvas.element;
		e.addEventListener("pointerdown", (p) => {
			drag = [at(p), at(p)];
			drag.start = at(p);
			e.setPointerCapture(p.pointerId);
		});
		e.addEventListener("pointermove", (p) => {
			if (drag) {
				[drag[0], drag[1]] = [Math.min(drag.start, at(p)), Math.max(drag.start, at(p))];
				canvas.redraw();
			}
			page.tip(lines(p), p.clientX, p.clientY);
		});
		e.addEventListener("pointerup", () => {
			const [from, to] = drag || [0, 0];
			drag = null;
			if (to - from > (high - low) / 200)
				page.choose({ from, to });
			else
				page.choose({ from: 0, to: Infinity });
			canvas.redraw();
		});
		e.addEventListener("pointerleave", () => page.tip(null));
	}

	page.view({
		id: "timeline", title: "Timeline",
		has: () => Boolean(t) || events.some((e) => e.samples),
		build,
		update() {
			makeLanes();
			say();
			canvas.redraw();
		},
		key,
		print: () => canvas.now(),
	});
})();
