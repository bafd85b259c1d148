/* SPDX-License-Identifier: GPL-2.0-or-later
 * View: the top-down tree, to the scale of the exact shares.  A node's bar begins where it lies in its parent's, so
 * that lengths add up; the formula's value is a mark, which says how far the formula is off.
 *
 * Data: lines of `softpmu topdown --json` in run.analyses.  Several trees (threads, intervals) can be chosen from.
 * They are of the whole run; of the chosen interval or thread, the first level comes from the timeline (levels.js). */
"use strict";
(() => {
	const { element, text } = page, run = page.runs[0];
	/* members of a line that are of its node; the others say which tree it is of */
	const own = new Set(["level", "name", "parent", "value", "exact", "difference", "perf_metrics", "flagged",
		"bottleneck", "program"]);
	const colors = { Retiring: "retiring", Bad_Speculation: "bad", Frontend_Bound: "frontend",
		Backend_Bound: "backend", Memory_Bound: "memory", Core_Bound: "core" };
	const trees = new Map(), metrics = [];
	let place = null, part = null;

	for (const { lines } of run.analyses)
		for (const o of lines)
			if (o.level) {
				const others = Object.keys(o).filter((k) => !own.has(k));
				const label = others.map((k) => `${k} ${o[k]}`).join(", ");
				trees.set(label, [...(trees.get(label) || []), o]);
			} else if (o.name && o.group) {
				metrics.push(o);
			}

	const percent = (x) => x === null || x === undefined ? "–"
		: `${(100 * x).toFixed(2).replace(/^-(?=0\.00$)/, "")} %`;

	/* Children follow their parent; start: where the bar begins. */
	function placed(tree) {
		const out = [];
		const visit = (parent, start, color) => {
			let at = start;
			for (const o of tree.filter((n) => n.parent === parent)) {
				const mine = colors[o.name] || color;
				out.push({ o, start: at, color: mine });
				visit(o.name, at, mine);
				at += o.exact || 0;
			}
		};
		visit(null, 0, "core");
		return out;
	}

	/* Of a node: the bar of its exact share, and the mark of the formula's. */
	function track({ o, start, color }) {
		const e = element("div", { class: "track" }), mark = element("b");
		if (o.exact !== null) {
			const bar = element("i", { class: color });
			bar.style.left = `${100 * start}%`;
			bar.style.width = `${100 * Math.min(o.exact, 1 - start)}%`;
			e.append(bar);
		}
		mark.style.left = `${100 * Math.max(0, Math.min(1, start + o.value))}%`;
		e.append(mark);
		return e;
	}

	function row(node) {
		const { o } = node, exact = o.exact !== null;
		const name = element("th", { scope: "row", class: o.flagged ? "flagged" : null },
			o.name.replace(/_/g, " ") + (o.flagged ? " (*)" : ""),
			o.bottleneck ? element("small", null, " bottleneck") : null);
		name.style.paddingLeft = `${(o.level - 1) * 1.1 + 0.3}rem`;
		return element("tr",
			{ "data-node": o.name, title: exact ? null : "The exact analysis has no such node." },
			name, element("td", { class: "scale" }, track(node)),
			element("td", { class: "number" }, percent(o.exact)),
			element("td", { class: "number" }, percent(o.value)),
			element("td", { class: "number minor" }, exact ? percent(o.value - o.exact) : "–"));
	}

	function draw(label) {
		const head = ["Node", "Share of the issue slots", "Exact", "Formula", "Difference"];
		place.replaceChildren(element("table", { class: "tree", "aria-label": "Top-down tree" },
			element("thead", null, element("tr", null, ...head.map((h, i) =>
				element("th", { scope: "col", class: i === 4 ? "minor" : null }, h)))),
			element("tbody", null, ...placed(trees.get(label)).map(row))));
	}

	function buildTree(root) {
		const labels = [...trees.keys()];
		root.append(element("p", { class: "note" }, "Bars are the exact shares, all to one scale; a mark is " +
			"where the formula over the events ends it. (*): above its threshold."));
		if (labels.length > 1)
			root.append(element("div", { class: "tools" }, element("select",
				{ "aria-label": "Tree", onchange: (e) => draw(e.target.value) },
				...labels.map((l) => element("option", { value: l }, l || "all")))));
		place = element("div", { class: "scroll" });
		root.append(place);
		draw(labels[0]);
	}

	function buildMetrics(root) {
		root.append(element("h2", null, "Metrics"), element("div", { class: "scroll" },
			element("table", { class: "plain", "aria-label": "Metrics" }, ...metrics.map((m) =>
				element("tr", null, element("th", { scope: "row" }, m.name.replace(/_/g, " ")),
					element("td", { class: "number" }, text.short(m.value)),
					element("td", null, m.unit === "1" ? "" : m.unit))))));
	}

	page.view({
		id: "topdown", title: "Top-down",
		build(root) {
			part = element("div", { "aria-live": "polite" });
			root.append(part);
			if (trees.size)
				buildTree(root);
			else
				root.append(element("p", { class: "note" },
					"The page has no top-down tree. Make it with ",
					element("code", null, "softpmu topdown --json -o FILE PROGRAM"),
					", and the page with ",
					element("code", null, "softpmu report --html PAGE --add FILE"), "."));
			if (metrics.length)
				buildMetrics(root);
		},
		update() {
			const tree = trees.size ? " The tree below is of the whole run." : "", of = page.part();
			const slots = of && page.levelsOf(run, true);
			if (!of)
				part.replaceChildren();
			else if (slots && slots.all)
				part.replaceChildren(element("h2", null, `Issue slots${of}`), ...page.levelBar(slots),
					element("p", { class: "note" }, "By the timeline, to its intervals of " +
						`${text.time(run.timeline.interval)}.${tree}`));
			else
				part.replaceChildren(element("p", { class: "note" }, (slots
					? `No issue slots${of}: nothing ran there.`
					: `The file has no issue slots${of}.`) + tree));
		},
	});
})();
