/* SPDX-License-Identifier: GPL-2.0-or-later
 * View: the functions, with what each event counted in them. */
"use strict";
(() => {
	const run = page.runs[0], other = page.runs[1], f = run.functions;
	let grid = null, note = null, sums = null, all = [], rest = null;

	function columns() {
		const list = [{
			title: "Function", wide: true,
			hint: "As in the source. A function that was inlined has a row of its own.",
			value: (i) => page.nameOf(run, i).toLowerCase(),
			text: (i) => page.nameOf(run, i) + (f.inlined[i] ? "  (inlined)" : ""),
		}, {
			title: "Self", hint: "Share of the event in the function itself",
			value: (i) => sums.self[i],
			text: (i) => page.text.percent(sums.self[i], sums.weight),
			share: (i) => sums.self[i] / sums.weight,
		}, {
			title: "Total", hint: "Share of the event in the function and in all that it called",
			value: (i) => sums.total[i],
			text: (i) => page.text.percent(sums.total[i], sums.weight),
			share: (i) => sums.total[i] / sums.weight,
		}];
		if (other)
			list.splice(2, 0, {
				title: "Change",
				hint: "Change of self, in percent of the whole, from the run it is compared with",
				value: change,
				text: (i) => `${change(i) > 0 ? "+" : ""}${(100 * change(i)).toFixed(2)} %`,
			});
		if (run.exact) {
			const cycles = (i) => page.exactOf(i)?.cycles || 0;
			const cpi = (i) => page.exactOf(i)?.instructions ? cycles(i) / page.exactOf(i).instructions : 0;
			const causes = (i) => (page.exactOf(i)?.causes || []).slice(0, 4)
				.map(([name, c]) => `${name} ${page.text.percent(c, cycles(i))}`).join(", ");
			list.push({
				title: "Exact cycles", minor: true,
				hint: "Share of all cycles that retirement waited for it, of the whole run",
				value: cycles, text: (i) => page.text.percent(cycles(i), run.exact.cycles),
				share: (i) => cycles(i) / run.exact.cycles,
			}, {
				title: "CPI", minor: true, hint: "Exact cycles for each of its instructions",
				value: cpi, text: (i) => cpi(i) ? cpi(i).toFixed(2) : "–",
			}, {
				title: "Top-down", minor: true,
				hint: "Its exact cycles: retiring, bad speculation, front end, back end; sorted by " +
					"those that are not retiring",
				value: (i) => cycles(i) ? cycles(i) - page.exactOf(i).levels.retiring : 0,
				parts: (i) => cycles(i) ? Object.entries(page.exactOf(i).levels)
					.map(([name, c]) => [name, c / cycles(i)]) : [],
				text: causes,
			});
		}
		if (page.eventOf(run)?.late?.some((cycles) => cycles))
			list.push({
				title: "Late", minor: true,
				hint: "Cycles by which the sampled instructions retired late, times their periods",
				value: (i) => sums.late[i], text: (i) => page.text.short(sums.late[i]),
			});
		run.profile.events.forEach((e, k) => {
			if (k !== page.chosen.event)
				list.push({
					/* names of events differ at their ends */
					title: e.name.length > 16 ? `…${e.name.slice(-15)}` : e.name, minor: true,
					hint: `Share of ${e.name} in the function itself`,
					value: (i) => all[k].self[i],
					text: (i) => page.text.percent(all[k].self[i], all[k].weight),
				});
		});
		list.push({
			title: "Object", left: true, minor: true, hint: "The program or library",
			value: (i) => page.objectOf(run, i),
		});
		return list;
	}

	function change(i) {
		const k = page.same(i), before = rest && rest.weight && k >= 0 ? rest.self[k] / rest.weight : 0;
		return (sums.weight ? sums.self[i] / sums.weight : 0) - before;
	}

	page.view({
		id: "functions", title: "Functions",
		has: () => run.profile.events.some((e) => e.samples),
		build(root) {
			note = page.element("p", { class: "note" });
			root.append(note);
			sums = page.sums(run);
			all = run.profile.events.map((e) => page.sums(run, e));
			grid = page.grid(root, { label: "Functions", columns: columns(), sort: 1,
				choose: (i) => page.choose({ function: i === page.chosen.function ? -1 : i }),
				chosen: (i) => i === page.chosen.function });
		},
		update(changed) {
			sums = page.sums(run);
			all = run.profile.events.map((e) => page.sums(run, e));
			rest = other ? page.sums(other) : null;
			if (changed.has("event"))
				grid.columns(columns());
			const rows = [], { thread, from, to } = page.chosen;
			const whole = thread < 0 && from === 0 && to === Infinity;	/* what exact profiles are of */
			for (let i = 0; i < f.name.length; i++)
				if ((sums.total[i] || sums.self[i] || (whole && page.exactOf(i))) &&
					page.matches(run, i))
					rows.push(i);
			const e = page.eventOf(run);
			const [many, samples, weight] = [rows.length, sums.samples, sums.weight].map(page.text.count);
			note.textContent =
				`${many} functions; ${samples} samples of ${e.name}, which stand for ${weight}.`;
			grid.show(rows);
			if (changed.has("function"))
				grid.reveal();
		},
		print: () => grid.print(),
	});
})();
