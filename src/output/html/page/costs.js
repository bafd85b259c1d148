/* SPDX-License-Identifier: GPL-2.0-or-later
 * View: what events cost, by the four methods side by side, and how their pushouts are distributed.
 *
 * Data: lines of `softpmu cost --json` in run.analyses; histograms with its --histogram. */
"use strict";
(() => {
	const { element, text } = page;
	const methods = [
		["analytic", "Analytic", "one", "latency by the fields of the core, nothing hidden"],
		["duration", "Duration", "six", "cycles in which one was in progress, divided by the events"],
		["pushout", "Pushout", "two", "mean delay of retirement, over the uops that had the event"],
		["total_time", "Total time", "three", "cycles that a replay without the event saves, for each event"],
	];
	const events = [], groups = [], histograms = new Map();
	let detail = null, list = null;

	for (const { lines } of page.runs[0].analyses)
		for (const o of lines)
			if (o.event && "analytic" in o)
				events.push(o);
			else if (o.histogram)
				histograms.set(o.histogram, o.pushout);
			else if (o.group && "cpi" in o)
				groups.push(o);
	const weight = (o) => o.share_total_time ?? o.share_pushout ?? 0;	/* what its card says */
	events.sort((a, b) => weight(b) - weight(a));

	const isNumber = (x) => typeof x === "number";
	const nameOf = (o) => o.event.replace(/_/g, " ");
	const cycles = (x) => isNumber(x) ? `${x.toFixed(x < 100 ? 1 : 0)} cycles` : "–";

	/* What the methods differ by, in a sentence. */
	function differ(o) {
		const known = methods.filter(([key]) => isNumber(o[key]) && o[key] > 0)
			.sort(([a], [b]) => o[a] - o[b]);
		if (known.length < 2)
			return "";
		const low = known[0], high = known[known.length - 1], times = o[high[0]] / o[low[0]];
		if (times < 1.25)
			return "The methods agree within 25 %: little of the cost is hidden or shared.";
		const said = `${high[1]} is ${times.toFixed(1)} times ${low[1].toLowerCase()}`;
		if (low[0] === "total_time")
			return `${said}: other work hides most of the event.`;
		if (high[0] === "total_time")
			return `${said}: avoiding the event saves more than its own wait.`;
		return `${said}.`;
	}

	function shareOf(o) {
		const share = (x, method) => `${(100 * x).toFixed(1)} % of the cycles by ${method}.`;
		return isNumber(o.share_total_time) ? share(o.share_total_time, "total time")
			: isNumber(o.share_pushout) ? share(o.share_pushout, "pushout") : "";
	}

	/* A line with a name, a bar and a value. */
	function bar(share, color, label, value, title) {
		const fill = element("i");
		fill.style.width = `${100 * Math.max(0, share)}%`;	/* below 0: the replay was slower */
		fill.style.background = `var(--${color})`;
		return element("div", { class: "row", title }, element("span", { class: "label" }, label),
			element("span", { class: "track" }, fill), element("span", { class: "value" }, value));
	}

	function card(o) {
		const most = Math.max(...methods.map(([key]) => o[key] || 0), 1e-9);
		return element("article", { class: "card", tabindex: 0, "data-event": o.event, onclick: () => choose(o),
			onkeydown: (e) => e.key === "Enter" && choose(o) },
		element("h3", null, nameOf(o), element("small", null, ` ${text.count(o.count)} events`)),
		...methods.map(([key, label, color, what]) => bar((o[key] || 0) / most, color, label, cycles(o[key]),
			isNumber(o[key]) ? what : o[`${key}_why`] || what)),
		element("p", { class: "note" }, [shareOf(o), differ(o)].join(" ")));
	}

	/* ---- histograms ---- */

	/* Bins whose width grows with the values, as narrow as 24 of them allow: below 2 * split each value has
	 * one, above that each octave has `split`. So the few late uops that have most of the cycles are shown
	 * apart, too. */
	function edgesFor(last) {
		const edges = (split) => {
			const out = [0];
			for (let low = 0; low <= last; out.push(low))
				low += low < 2 * split ? 1 : 2 ** Math.floor(Math.log2(low)) / split;
			return out;
		};
		let split = 64;
		while (split > 1 && edges(split).length > 25)
			split /= 2;
		return edges(split);
	}

	/* pairs: [value, how many], values going up.  Bins without any in front of the first are left out. */
	function bins(pairs) {
		const edge = edgesFor(pairs[pairs.length - 1][0]), out = [];
		let next = 0;
		for (let i = 0; i + 1 < edge.length; i++) {
			const high = edge[i + 1] - 1;
			const bin = { label: high > edge[i] ? `${edge[i]}–${high}` : String(high), n: 0, cycles: 0 };
			for (; next < pairs.length && pairs[next][0] <= high; next++) {
				bin.n += pairs[next][1];
				bin.cycles += pairs[next][0] * pairs[next][1];
			}
			if (out.length || bin.n)
				out.push(bin);
		}
		return out;
	}

	function choose(o) {
		for (const e of list.children)
			e.classList.toggle("chosen", e.dataset.event === o.event);
		const pairs = histograms.get(o.event);
		detail.replaceChildren(element("h2", null, `Pushouts of ${nameOf(o)}`));
		if (!pairs || !pairs.length) {
			detail.append(element("p", { class: "note" }, pairs ? "No retired uop had the event."
				: "There are no histograms: softpmu cost --json --histogram prints them."));
			return;
		}
		const out = bins(pairs), most = Math.max(...out.map((b) => b.n));
		const all = pairs.reduce((n, [, count]) => n + count, 0);
		const sum = pairs.reduce((n, [value, count]) => n + value * count, 0);
		const quartiles = o.pushout_quartiles ? ` Quartiles: ${o.pushout_quartiles.join(", ")}.` : "";
		detail.append(element("p", { class: "note" },
			`${text.count(all)} uops, by cycles of delay at retirement; at most ` +
				`${text.count(pairs[pairs.length - 1][0])}.${quartiles}`),
		element("div", { class: "histogram", role: "group", "aria-label": "Histogram of pushouts" },
			...out.map((b) => bar(b.n / most, "two", b.label,
				`${text.count(b.n)}  ${text.percent(b.n, all)}`,
				`${text.percent(b.cycles, sum)} of all their cycles`))));
	}

	/* ---- the view ---- */

	function buildGroups(root) {
		const all = groups.reduce((n, g) => n + g.cycles, 0), most = Math.max(...groups.map((g) => g.cycles));
		root.append(element("h2", null, "What retirement waited for"),
			element("div", { class: "histogram" }, ...groups.filter((g) => g.cycles).map((g) =>
				bar(g.cycles / most, "one", g.group,
					`${g.cpi.toFixed(3)} CPI  ${text.percent(g.cycles, all)}`))));
	}

	page.view({
		id: "costs", title: "Costs",
		build(root) {
			if (!events.length) {
				root.append(element("p", { class: "note" },
					"The page has no costs of events. Make them with ",
					element("code", null, "softpmu cost --json --histogram -o FILE PROGRAM"),
					", and the page with ",
					element("code", null, "softpmu report --html PAGE --add FILE"), "."));
				return;
			}
			const seen = events.filter((o) => o.count);
			list = element("div", { class: "cards" }, ...seen.map(card));
			detail = element("div");
			root.append(element("p", { class: "note" }, "Cycles of one event, by four methods, largest " +
				"share of the run first. Choose an event for its histogram."), list, detail);
			if (groups.length)
				buildGroups(root);
			if (seen.length)
				choose(seen[0]);
		},
		update() {},
	});
})();
