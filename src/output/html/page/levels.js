/* SPDX-License-Identifier: GPL-2.0-or-later
 * The first level of top-down in the chosen interval and thread, from the timeline.
 *
 *	page.levels             [[class, its name, beginning of the timeline's columns], ...]
 *	page.hasLevels(run)     does the timeline have issue slots?  Not where hardware threads share a core
 *	page.levelsOf(run, chosen)   { retiring, bad, frontend, backend, all }: issue slots; null without them.
 *	                        chosen: only those of what is chosen; of an interval that is chosen in part, that part
 *	page.levelBar(slots)    [bar, legend] of them */
"use strict";
(() => {
	const { element } = page;
	page.levels = [
		["retiring", "retiring", "ret."], ["bad", "bad speculation", "bad."],
		["frontend", "front-end bound", "fe."], ["backend", "back-end bound", "be."]
	];

	page.hasLevels = (run) => Boolean(run.timeline?.columns.some((c) => c.startsWith("ret.")));
	page.levelsOf = (run, chosen) => {
		const t = run.timeline, slots = { retiring: 0, bad: 0, frontend: 0, backend: 0, all: 0 };
		if (!page.hasLevels(run))
			return null;
		const [from, to] = chosen ? [page.chosen.from, page.chosen.to] : [0, Infinity];
		const level = t.columns.map((c) => page.levels.find(([, , begin]) => c.startsWith(begin))?.[0]);
		for (const thread of t.threads) {
			if (chosen && !page.passes(thread.pid, thread.tid))
				continue;
			thread.values[0].forEach((_, i) => {
				const begin = (thread.first + i) * t.interval;
				const part = (Math.min(to, begin + t.interval) - Math.max(from, begin)) / t.interval;
				if (part <= 0)
					return;
				thread.values.forEach((values, k) => {
					if (level[k])
						slots[level[k]] += part * values[i];
				});
			});
		}
		slots.all = slots.retiring + slots.bad + slots.frontend + slots.backend;
		return slots;
	};

	page.levelBar = (slots) => {
		const bar = element("div", { class: "bar tall" }), legend = element("div", { class: "legend" });
		for (const [name, text] of page.levels) {
			const share = `${(100 * slots[name] / slots.all).toFixed(1)} %`;
			const part = element("i", { class: name, title: `${text}: ${share}` });
			part.style.width = share.replace(" ", "");
			bar.append(part);
			legend.append(element("span", { "data-level": name }, element("i", { class: name }),
				`${text} ${share}`));
		}
		return [bar, legend];
	};
})();
