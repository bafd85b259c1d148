/* SPDX-License-Identifier: GPL-2.0-or-later
 * View: an excerpt of the pipeline, a row for each uop.  Stages are coloured, uops of wrong paths struck out.
 *
 * Data: lines of `softpmu trace --pipeline FILE.json` in run.analyses; pipeline/pipeline_json.c describes them.  Only
 * the rows that can be seen are drawn, so the excerpt may have any length.  Cycles begin at the fetch of the row at the
 * top.
 *
 * Rows of the chosen function are marked, and the first of them is shown; a click on a row chooses its function.
 *
 * Keys: Up, Down, PageUp, PageDown, Home and End move, Left and Right shift the cycles, + and - zoom. */
"use strict";
(() => {
	const rowHeight = 18, never = -1;
	let left = 330;		/* width of the names: less on a narrow screen */
	const colors = ["--quiet", "--frontend", "--six", "--eight", "--two", "--four", "--seven", "--retiring",
		"--none", "--accent"];
	let head = null, rows = null, count = 0, scroller = null, canvas = null, wide = 6, shift = 0, status = null;
	let marked = [], choice = null;
	const files = page.runs[0].analyses || [];
	const line = files.find(({ lines }) => lines[0] && lines[0].pipeline);

	/* All chunks as typed columns; fetch counts from the excerpt's first cycle. */
	function load() {
		head = line.lines[0];
		const chunks = line.lines.slice(1).map((l) => l.rows);
		count = chunks.reduce((n, c) => n + c.text.length, 0);
		rows = {};
		for (const name of chunks.length ? Object.keys(chunks[0]) : []) {
			rows[name] = new Int32Array(count);
			let at = 0;
			for (const c of chunks) {
				rows[name].set(c[name], at);
				at += c[name].length;
			}
		}
		for (let i = 1; i < count; i++)
			rows.fetch[i] += rows.fetch[i - 1];
	}

	/* "main+0x12 (file.c:3)" is in main.  Places have no object: the function of that name, if possible one
	 * that has samples. */
	const functionName = (place) => place.replace(/\+0x[0-9a-f]+( \(.*\))?$/, "");
	function functionOf(i) {
		const name = functionName(head.texts[rows.text[i]][2]), run = page.runs[0], sums = page.sums(run);
		let found = -1;
		for (let f = 0; name && f < run.functions.name.length; f++)
			if (run.strings[run.functions.name[f]] === name && (found < 0 ||
				(sums && sums.total[f] > sums.total[found])))
				found = f;
		return found;
	}

	/* Marks the texts of the chosen function; shows its first row if it is not in sight. */
	function follow(jump) {
		const f = page.chosen.function, run = page.runs[0];
		const name = f < 0 ? "" : run.strings[run.functions.name[f]];
		marked = head.texts.map((t) => name && functionName(t[2]) === name);
		const first = rows.text.findIndex((t) => marked[t]);
		const last = top() + Math.floor(scroller.clientHeight / rowHeight);
		const seen = rows.text.subarray(top(), last).some((t) => marked[t]);
		if (jump && first >= 0 && !seen)
			scroller.scrollTop = first * rowHeight;
		choice.textContent = f < 0 ? "" : first < 0 ? `No row is of ${page.nameOf(run, f)}.`
			: `${page.text.count(rows.text.reduce((n, t) => n + (marked[t] ? 1 : 0), 0))} rows are of ${
				page.nameOf(run, f)}.`;
	}

	/* The stages of a row that take time: [kind, first cycle, end]. */
	function stages(i) {
		const end = rows.retire[i], out = [];
		const begin = [0, rows.alloc[i], rows.ready[i], rows.dispatch[i], rows.complete[i]];
		begin.forEach((b, k) => {
			if (b === never || b >= end)
				return;
			const last = out[out.length - 1];
			if (last && last[1] === b)
				out.pop();
			else if (last)
				last[2] = b;
			out.push([k ? 4 + k : rows.front[i], b, end]);
		});
		if (!rows.wrong[i])
			out.push([9, end, end + 1]);
		return out;
	}

	const top = () => Math.max(0, Math.min(count - 1, Math.floor(scroller.scrollTop / rowHeight)));
	const label = (i) => {
		const [address, insn] = head.texts[rows.text[i]];
		return `${address}${rows.nth[i] ? `.${rows.nth[i]}` : ""}  ${insn}`;
	};

	function draw(context, width, height) {
		left = Math.min(330, Math.round(width * 0.45));
		const first = top(), origin = rows.fetch[first] - 2 + shift;
		const x = (cycle) => left + (cycle - origin) * wide;
		context.font = '12px ui-monospace, "DejaVu Sans Mono", monospace';
		for (let k = 0; k * rowHeight < height && first + k < count; k++) {
			const i = first + k, y = k * rowHeight, fetch = rows.fetch[i];
			if (marked[rows.text[i]]) {
				context.fillStyle = page.color("--accent");
				context.globalAlpha = 0.18;
				context.fillRect(0, y, width, rowHeight);
			}
			context.globalAlpha = rows.wrong[i] ? 0.55 : 1;
			for (const [kind, begin, end] of stages(i)) {
				const from = Math.max(left, x(fetch + begin)), to = Math.min(width, x(fetch + end));
				if (to <= from)
					continue;
				context.fillStyle = page.color(colors[kind]);
				const gap = wide > 3 ? 1 : 0;
				context.fillRect(from, y + 2, Math.max(1, to - from - gap), rowHeight - 4);
				const name = head.stages[kind][0];
				if (to - from > 8 * name.length + 2) {
					context.fillStyle = page.color(kind === 9 ? "--page" : "--ink");
					context.fillText(name, from + 2, y + rowHeight / 2);
				}
			}
			context.globalAlpha = 1;
			context.fillStyle = page.color(rows.wrong[i] ? "--quiet" : "--text");
			const text = page.fit(context, label(i), left - 12);
			context.fillText(text, 4, y + rowHeight / 2);
			if (rows.wrong[i])
				context.fillRect(4, y + rowHeight / 2, context.measureText(text).width, 1);
		}
		status.textContent = `Rows ${page.text.count(first + 1)} to ${page.text.count(Math.min(count,
			first + Math.ceil(height / rowHeight)))} of ${page.text.count(count)}, from cycle ${
			page.text.count(head.cycle + Math.max(0, origin))}`;
	}

	function at(event) {
		const i = top() + Math.floor((event.clientY - canvas.element.getBoundingClientRect().top) / rowHeight);
		return i < count ? i : -1;
	}

	function point(event) {
		const i = at(event);
		if (i < 0) {
			page.tip(null);
			return;
		}
		const lines = [label(i), head.texts[rows.text[i]][2]], cycle = head.cycle + rows.fetch[i];
		if (head.threads.length > 1)
			lines.push(`thread ${head.threads[rows.thread[i]]}`);
		for (const [kind, begin] of stages(i))
			lines.push(`${page.text.count(cycle + begin)}  ${head.stages[kind][1]}`);
		if (rows.port[i] >= 0)
			lines.push(`port ${rows.port[i]}`);
		if (rows.wrong[i])
			lines.push(`wrong path: squashed in cycle ${page.text.count(cycle + rows.retire[i])}`);
		if (head.causes[rows.cause[i]])
			lines.push(`its time goes to: ${head.causes[rows.cause[i]]}`);
		page.tip(lines, event.clientX, event.clientY);
	}

	function pick(event) {
		const i = at(event), f = i < 0 ? -1 : functionOf(i);
		if (f >= 0)
			page.choose({ function: f });
	}

	function legend() {
		return page.element("p", { class: "note" }, ...head.stages.flatMap(([name, meaning], k) => [
			page.element("span", { style: `background: var(${colors[k]}); color: var(${k === 9 ? "--page"
				: "--ink"}); padding: 0 .3em; margin-right: .3em` }, name),
			page.element("span", { style: "margin-right: 1em" }, meaning)]));
	}

	function zoom(by) {
		wide = Math.max(0.25, Math.min(32, wide * by));
		canvas.redraw();
	}

	const move = { ArrowUp: -1, ArrowDown: 1, PageUp: -20, PageDown: 20 };
	page.view({
		id: "pipeline",
		title: "Pipeline",
		has: () => Boolean(line),
		build(root) {
			load();
			status = page.element("p", { class: "note", "aria-live": "polite" });
			const holder = page.element("div", { style: "position: sticky; top: 0" });
			scroller = page.element("div", {
				style: "height: 65vh; overflow-y: auto; border: 1px solid var(--line)",
				onscroll: () => { page.tip(null); canvas.redraw(); } }, holder);
			const height = () => Math.max(rowHeight, scroller.clientHeight);
			choice = page.element("p", { class: "note", "aria-live": "polite" });
			root.append(legend(), status, choice, scroller);
			canvas = page.canvas(holder, height, draw, { role: "img",
				"aria-label": "Stages of each uop over cycles", onmousemove: point, onclick: pick,
				onmouseleave: () => page.tip(null) });
			/* the canvas stays in sight; what is behind it gives the scroll bar its length */
			scroller.append(page.element("div", {
				style: `height: ${count * rowHeight}px; margin-top: -65vh` }));
			new ResizeObserver(() => canvas.redraw()).observe(scroller);
			canvas.now();
		},
		update(changed) {
			follow(changed.has("function"));
			canvas.redraw();
		},
		key(event) {
			if (event.key in move)
				scroller.scrollTop += move[event.key] * rowHeight;
			else if (event.key === "Home" || event.key === "End")
				scroller.scrollTop = event.key === "Home" ? 0 : count * rowHeight;
			else if (event.key === "ArrowLeft" || event.key === "ArrowRight")
				shift += (event.key === "ArrowLeft" ? -40 : 40) / wide;
			else if (event.key === "+" || event.key === "-")
				zoom(event.key === "+" ? 1.5 : 1 / 1.5);
			else
				return false;
			canvas.redraw();
			return true;
		},
		print() { canvas.now(); },
	});
})();
