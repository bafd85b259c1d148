/* SPDX-License-Identifier: GPL-2.0-or-later
 * View: flame graph, icicle, by thread, inverted, and the difference of two runs.  A box is as wide as its share of the
 * event; what it called lies below it, as in an icicle, or above it, as in a flame.
 *
 * Keys: arrows go from box to box, Enter zooms, Backspace zooms out, i inverts, o turns it over, t parts the
 * threads. */
"use strict";
(() => {
	const run = page.runs[0], other = page.runs[1], row = 19;
	const how = { icicle: true, inverted: false, threads: false, difference: Boolean(other) };
	const series = ["--one", "--two", "--three", "--four", "--five", "--six", "--seven", "--eight"];
	let tree = null, boxes = [], levels = [], zoom = 0, at = 0, hover = -1;
	let canvas = null, status = null, legend = null, buttons = {}, matched = null, paint = new Map();

	/* ---- names and colours ---- */

	function name(i) {
		const label = tree.label[i], functions = run.functions.name.length;
		if (label === -1)
			return "all";
		if (label < -1)
			return page.threadOf(run, -2 - label);
		const inlined = label < functions ? run.functions.inlined[label]
			: other.functions.inlined[label - functions];
		return (label < functions ? page.nameOf(run, label) : page.nameOf(other, label - functions)) +
			(inlined ? " (inlined)" : "");
	}
	function object(i) {
		const label = tree.label[i], functions = run.functions.name.length;
		return label < 0 ? "" : label < functions ? page.objectOf(run, label)
			: page.objectOf(other, label - functions);
	}
	const share = (i) => tree.weight ? tree.total[i] / tree.weight : 0;
	const shareBefore = (i) => tree.weightBefore ? tree.before[i] / tree.weightBefore : 0;
	const width = (i) => how.difference ? Math.max(share(i), shareBefore(i)) : share(i);

	/* The heaviest objects have a colour each. */
	function choosePaint() {
		const by = new Map();
		for (let i = 1; i < tree.label.length; i++) {
			const first = tree.label[tree.parent[i]] < 0;
			const sampled = !how.inverted ? tree.own[i] : first ? tree.total[i] : 0;
			by.set(object(i), (by.get(object(i)) || 0) + sampled);
		}
		by.delete("");
		paint = new Map([...by].sort((a, b) => b[1] - a[1]).slice(0, 8).map(([o], k) => [o, series[k]]));
		legend.replaceChildren();
		const entry = (color, text) => {
			const mark = page.element("i");
			mark.style.background = `var(${color})`;
			legend.append(page.element("span", null, mark, text));
		};
		if (how.difference) {
			entry("--more", "larger share than before");
			entry("--less", "smaller share");
			entry("--none", "the same");
		} else {
			for (const [o, color] of paint)
				entry(color, o);
		}
	}

	/* ---- layout ---- */

	/* Boxes from the zoomed one on, which has the whole width; what is narrower than half a pixel is left out. */
	function layout(pixels) {
		boxes = [];
		levels = [];
		const put = (i, level, x, w) => {
			levels[level] = levels[level] || [];
			levels[level].push(boxes.length);
			boxes.push({ i, level, x, w });
		};
		const path = [];
		for (let i = tree.parent[zoom]; i >= 0; i = tree.parent[i])
			path.unshift(i);
		path.forEach((i, level) => put(i, level, 0, pixels));
		const stack = [[zoom, path.length, 0, pixels]];
		while (stack.length) {
			const [i, level, x, w] = stack.pop();
			if (w < 0.5)
				continue;
			put(i, level, x, w);
			/* in a difference, what the callees of both runs need can be more than their caller has */
			const whole = Math.max(width(i), tree.children[i].reduce((a, k) => a + width(k), 0));
			let left = x;
			for (const k of tree.children[i]) {
				const wide = w * width(k) / whole;
				stack.push([k, level + 1, left, wide]);
				left += wide;
			}
		}
	}

	const top = (level) => how.icicle ? level * row : (levels.length - 1 - level) * row;

	function draw(context, pixels) {
		const ink = page.color("--ink"), line = page.color("--page");
		for (const b of boxes) {
			const y = top(b.level), isRoot = tree.label[b.i] < 0;
			const hit = !page.chosen.search || matched[b.i];
			context.globalAlpha = hit ? 1 : 0.3;
			let color = page.color(isRoot ? "--none" : paint.get(object(b.i)) || "--none");
			context.fillStyle = how.difference ? page.color("--none") : color;
			context.fillRect(b.x, y, b.w, row - 1);
			if (how.difference && !isRoot) {
				const change = share(b.i) - shareBefore(b.i);
				const most = Math.max(share(b.i), shareBefore(b.i));
				context.fillStyle = page.color(change > 0 ? "--more" : "--less");
				context.globalAlpha *= most ? Math.min(1, Math.abs(change) / most * 1.5) : 0;
				context.fillRect(b.x, y, b.w, row - 1);
				context.globalAlpha = hit ? 1 : 0.3;
			}
			if (b.w > 3) {
				context.fillStyle = line;
				context.fillRect(b.x + b.w - 1, y, 1, row - 1);
			}
			context.globalAlpha = hit ? 1 : 0.6;
			context.fillStyle = how.difference || isRoot ? page.color("--text") : ink;
			const text = b.w > 24 ? page.fit(context, name(b.i), b.w - 7) : "";
			if (text)
				context.fillText(text, b.x + 3, y + row / 2);
			context.globalAlpha = 1;
			const marked = tree.label[b.i] >= 0 && tree.label[b.i] === page.chosen.function;
			if (marked || b.i === at) {
				context.strokeStyle = page.color(marked ? "--accent" : "--text");
				context.lineWidth = marked ? 2 : 1;
				context.strokeRect(b.x + 1, y + 1, Math.max(1, b.w - 3), row - 3);
			}
		}
		return pixels;
	}

	/* ---- what the pointer and the keys do ---- */

	function lines(i) {
		const text = [name(i), `${page.text.percent(tree.total[i], tree.weight)} in all, ` +
			`${page.text.percent(tree.own[i], tree.weight)} itself`];
		if (object(i))
			text.push(object(i));
		if (how.difference)
			text.push(`before: ${page.text.percent(tree.before[i], tree.weightBefore)} in all`);
		return text;
	}

	function found(e) {
		const at = canvas.element.getBoundingClientRect(), y = Math.floor((e.clientY - at.top) / row);
		const level = how.icicle ? y : levels.length - 1 - y, x = e.clientX - at.left;
		const k = (levels[level] || []).find((b) => x >= boxes[b].x && x < boxes[b].x + boxes[b].w);
		return k === undefined ? -1 : boxes[k].i;
	}

	function say() {
		const i = hover >= 0 ? hover : at, text = lines(i).join("; ");
		let sum = "";
		if (page.chosen.search) {
			let weight = 0;	/* a match below a match is part of it */
			const inside = new Uint8Array(matched.length);
			for (let k = 1; k < matched.length; k++) {
				inside[k] = inside[tree.parent[k]] || matched[tree.parent[k]];
				weight += matched[k] && !inside[k] ? tree.total[k] : 0;
			}
			sum = `Found: ${page.text.percent(weight, tree.weight)}. `;
		}
		status.textContent = sum + text;
	}

	function zoomTo(i) {
		zoom = at = i;
		refresh();
	}

	function refresh() {
		layout(canvas.element.parentElement.clientWidth);
		buttons.reset.disabled = zoom === 0;
		say();
		canvas.redraw();
	}

	function step(e) {
		const box = boxes.find((b) => b.i === at) || boxes[0];
		const level = levels[box.level].map((k) => boxes[k]).sort((a, b) => a.x - b.x);
		const side = level.findIndex((b) => b.i === box.i);
		const into = e.key === (how.icicle ? "ArrowDown" : "ArrowUp");
		let next;
		if (e.key === "ArrowLeft" || e.key === "ArrowRight")
			next = level[side + (e.key === "ArrowRight" ? 1 : -1)];
		else if (into)
			next = boxes.find((b) => tree.parent[b.i] === box.i);
		else
			next = boxes.find((b) => b.i === tree.parent[box.i]);
		if (next) {
			at = next.i;
			say();
			canvas.redraw();
		}
	}

	function key(e) {
		if (/^Arrow/.test(e.key) && document.activeElement === canvas.element)
			step(e);
		else if (e.key === "Enter" && document.activeElement === canvas.element)
			pick(at);
		else if (e.key === "Backspace" || (e.key === "Escape" && zoom))
			zoomTo(e.key === "Escape" ? 0 : Math.max(0, tree.parent[zoom]));
		else if ({ i: 1, o: 1, t: 1 }[e.key])
			turn({ i: "inverted", o: "icicle", t: "threads" }[e.key]);
		else
			return false;
		return true;
	}

	function pick(i) {
		zoomTo(i);
		if (tree.label[i] >= 0 && tree.label[i] < run.functions.name.length)
			page.choose({ function: tree.label[i] });
	}

	function turn(what) {
		how[what] = !how[what];
		buttons[what].setAttribute("aria-pressed", how[what]);
		make();
	}

	/* ---- the view ---- */

	function make() {
		tree = page.flameTree(how);
		zoom = at = 0;
		hover = -1;
		choosePaint();
		search();
		refresh();
	}

	function search() {
		matched = new Uint8Array(tree.label.length);
		for (let i = 1; page.chosen.search && i < matched.length; i++)
			matched[i] = name(i).toLowerCase().includes(page.chosen.search) ||
				object(i).toLowerCase().includes(page.chosen.search) ? 1 : 0;
	}

	function build(root) {
		const tools = page.element("div", { class: "tools" }), area = page.element("div", { class: "flame" });
		const button = (what, text, hint) => {
			buttons[what] = page.element("button", { "aria-pressed": how[what], title: hint,
				onclick: () => turn(what) }, text);
			tools.append(buttons[what]);
		};
		button("icicle", "Icicle", "Callees below their callers, or else above them (o)");
		button("inverted", "Inverted", "The sampled functions first, then their callers (i)");
		if (run.profile.threads.tid.length > 1)
			button("threads", "By thread", "A branch for each thread (t)");
		if (other)
			button("difference", "Difference", "Colours show how shares changed from the other run");
		buttons.reset = page.element("button", { onclick: () => zoomTo(0) }, "Zoom out");
		tools.append(buttons.reset);
		legend = page.element("div", { class: "legend" });
		status = page.element("p", { class: "note", "aria-live": "polite" });
		root.append(tools, legend, status, area);
		canvas = page.canvas(area, () => Math.max(1, levels.length) * row, (context, pixels) => {
			layout(pixels);
			draw(context, pixels);
		}, { "aria-label": "Flame graph; arrows, Enter and Backspace move and zoom", role: "application" });
		canvas.element.addEventListener("pointermove", (e) => {
			hover = found(e);
			page.tip(hover >= 0 ? lines(hover) : null, e.clientX, e.clientY);
			say();
		});
		canvas.element.addEventListener("pointerleave", () => {
			hover = -1;
			page.tip(null);
			say();
		});
		canvas.element.addEventListener("click", (e) => {
			const i = found(e);
			if (i >= 0)
				pick(i);
		});
	}

	page.view({
		id: "flame", title: "Flame graph",
		has: () => run.profile.events.some((e) => e.samples),
		build,
		update(changed) {
			if (["event", "thread", "from", "to"].some((c) => changed.has(c)))
				make();
			search();
			refresh();
		},
		key,
		print() {
			canvas.now();
		},
	});
})();
