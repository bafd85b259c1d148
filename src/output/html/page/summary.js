/* SPDX-License-Identifier: GPL-2.0-or-later
 * View: what ran where, what it counted, and what is worth acting on. */
"use strict";
(() => {
	const run = page.runs[0], other = page.runs[1];
	const percent = (x) => `${(100 * x).toFixed(1)} %`;

	/* Half of the 95 % interval of a share that is known from n samples. */
	const error = (share, n) => n ? 1.96 * Math.sqrt(share * (1 - share) / n) : 1;

	/* ---- totals ---- */

	function totals(of) {
		const sum = {};
		if (!of.timeline)
			return null;
		of.timeline.columns.forEach((c, k) => {
			sum[c] = of.timeline.threads.reduce((a, t) => a + t.values[k].reduce((x, y) => x + y, 0), 0);
		});
		/* a wait for ports or for results counts as one, however many uops were dispatched meanwhile */
		for (const c of Object.keys(sum)) {
			const m = /^be\.core\.ports\.\w+\.(chain|port)$/.exec(c);
			if (!m)
				continue;
			const to = `be.core.${m[1]}`;
			sum[to] = (sum[to] || 0) + sum[c];
			delete sum[c];
		}
		sum.slots = Object.keys(sum).reduce((a, c) => a + (c.includes(".") ? sum[c] : 0), 0);
		const names = Object.keys(sum);
		sum.part = (begin) => names.reduce((a, c) => a + (c.startsWith(begin) ? sum[c] : 0), 0) / sum.slots;
		return sum;
	}

	/* ---- findings: { score: share of the run that is at stake, text, what: to choose, view } ---- */

	const causes = {
		"be.memory.l1.latency": "loads that hit L1D", "be.memory.l1.dtlb": "translations of data addresses",
		"be.memory.l1.forward": "stores that cannot forward to a load",
		"be.memory.l1.alias": "stores 4 KB away from a load", "be.memory.l1.lock": "locked operations",
		"be.memory.l1.split": "loads that cross lines", "be.memory.l1.fb_full": "a free fill buffer",
		"be.memory.l2": "data in L2", "be.memory.l3.latency": "data in L3",
		"be.memory.l3.contested": "lines that another core had modified",
		"be.memory.l3.shared": "lines that another core had, too",
		"be.memory.l3.sq_full": "room in the super queue", "be.memory.dram.latency": "data in memory",
		"be.memory.dram.bandwidth": "data in memory, with many reads under way",
		"be.memory.store.latency": "room in the store buffer",
		"be.memory.store.shared": "room in the store buffer, whose stores need lines of other cores",
		"be.memory.store.split": "room in the store buffer, whose stores cross lines",
		"be.memory.store.streaming": "room in the store buffer, whose stores go past the caches",
		"be.memory.store.dtlb": "translations of the addresses of stores",
		"be.core.divider": "divisions and square roots", "be.core.port": "execution ports",
		"be.core.chain": "results of other instructions", "be.core.serial.other": "serialising instructions",
		"be.core.serial.pause": "PAUSE", "be.core.serial.fence": "load fences",
		"be.core.serial.assist": "microcode assists",
		"bad.mispredict": "mispredicted branches",
		"bad.clear.order": "machine clears for the order of memory accesses",
		"bad.clear.other": "machine clears for code that was rewritten",
		"fe.latency.icache": "code that is not in L1I", "fe.latency.itlb": "translations of code addresses",
		"fe.latency.resteer.mispredict": "fetch behind mispredicted branches",
		"fe.latency.resteer.clear": "fetch behind machine clears",
		"fe.latency.resteer.unknown": "fetch behind branches unknown to the BTB",
		"fe.latency.dsb_switch": "switches from the uop cache (DSB) to the decoders (MITE)",
		"fe.latency.lcp": "length-changing prefixes",
		"fe.latency.ms_switch": "switches to the microcode sequencer (MS)",
		"fe.bandwidth.dsb": "more uops from the uop cache (DSB)",
		"fe.bandwidth.mite": "more uops from the legacy decoders (MITE)",
		"fe.bandwidth.ms": "more uops from the microcode sequencer (MS)",
		"fe.bandwidth.lsd": "more uops from the loop stream detector (LSD)",
	};
	const advice = {
		"be.memory.l2": "Smaller or denser data, or accesses in order, would help.",
		"be.memory.l3.latency": "Smaller or denser data, or accesses in order, would help.",
		"be.memory.l3.contested": "Keep data of different threads on different lines.",
		"be.memory.store.shared": "Keep data of different threads on different lines.",
		"be.memory.l1.dtlb": "Huge pages, or fewer pages in use at a time, would help.",
		"be.memory.dram.latency": "Smaller or denser data, accesses in order, or prefetching would help.",
		"be.memory.dram.bandwidth": "Smaller or denser data would help.",
		"be.memory.store.latency": "Stores that miss hold the buffer up: accesses in order would help.",
		"be.core.divider": "A multiplication by the reciprocal, or a shift, may do.",
		"be.core.chain": "The instructions form a chain: several independent sums or lists would shorten it.",
		"bad.mispredict": "Conditional moves or tables avoid such branches; sorted data make them predictable.",
		"fe.latency.icache": "Less code on the hot path, or code laid out by a profile, would help.",
	};

	function slotFinding(sum) {
		const lost = Object.keys(sum).filter((c) => /^(bad|fe|be)\./.test(c)).sort((a, b) => sum[b] - sum[a]);
		const most = lost[0], share = most ? sum[most] / sum.slots : 0;
		if (share < 0.05)
			return null;
		const group = most.startsWith("be") ? "back-end bound" : most.startsWith("fe") ? "front-end bound"
			: "lost to bad speculation";
		const all = sum.part(`${most.split(".")[0]}.`);
		return { score: share, cause: most, view: "timeline", what: {},
			text: `${percent(all)} of the issue slots were ${group}; the largest part ` +
				`(${percent(share)} of all slots) ` +
				`${most.startsWith("bad") ? "went to" : "waited for"} ${causes[most] || most}. ` +
				(advice[most] || "") };
	}

	function functionFinding() {
		const s = page.sums(run), e = page.eventOf(run);
		if (!s || !s.samples)
			return null;
		let best = 0;
		for (let i = 1; i < s.self.length; i++)
			best = s.self[i] > s.self[best] ? i : best;
		const share = s.self[best] / s.weight, x = page.exactOf(best);
		let why = "";
		if (x && x.cycles) {
			const [name, cycles] = x.causes[0];
			const part = percent(cycles / x.cycles);
			why = name === "retiring"
				? ` ${2 * cycles > x.cycles ? "Most" : "The largest part"} of its cycles (${part}) ` +
					"retire instructions: fewer instructions would help."
				: ` Of its cycles, ${part} have the cause “${name}”.`;
		}
		return { score: share, view: "functions", what: { function: best },
			text: `${page.nameOf(run, best)} has ${percent(share)} ` +
				`(± ${percent(error(share, s.samples))}) of ${e.name}.${why}` };
	}

	function branchFinding(sum) {
		const rate = sum.branches ? sum.mispredicts / sum.branches : 0;
		const cost = (sum["bad.mispredict"] + sum["fe.latency.resteer.mispredict"]) / sum.slots;
		return rate < 0.01 || cost < 0.03 ? null : { score: cost, view: "functions", what: {},
			text: `${percent(rate)} of the branches were mispredicted; they cost ${percent(cost)} of ` +
				`the issue slots. ${advice["bad.mispredict"]}` };
	}

	function phaseFinding() {
		const t = run.timeline, cycles = new Float64Array(t.intervals), insns = new Float64Array(t.intervals);
		const c = t.columns.indexOf("cycles"), n = t.columns.indexOf("instructions");
		for (const thread of t.threads)
			thread.values[c].forEach((v, i) => {
				cycles[thread.first + i] += v;
				insns[thread.first + i] += thread.values[n][i];
			});
		const all = cycles.reduce((a, b) => a + b, 0), ipc = insns.reduce((a, b) => a + b, 0) / all;
		let best = null;	/* the longest stretch with less than half of the run's IPC */
		for (let i = 0, begin = -1, sum = 0, done = 0; i <= t.intervals; i++) {
			if (i < t.intervals && insns[i] < 0.5 * ipc * cycles[i]) {
				begin = begin < 0 ? i : begin;
				sum += cycles[i];
				done += insns[i];
			} else if (begin >= 0) {
				if (!best || sum > best.sum)
					best = { from: begin * t.interval, to: i * t.interval, sum, ipc: done / sum };
				begin = -1;
				sum = done = 0;
			}
		}
		if (!best || best.sum < 0.05 * all || best.sum > 0.8 * all)
			return null;
		return { score: best.sum / all, view: "timeline", what: { from: best.from, to: best.to },
			text: `From ${page.text.time(best.from)} to ${page.text.time(best.to)} the IPC is ` +
				`${best.ipc.toFixed(2)}, in the whole run ${ipc.toFixed(2)}: this part is ` +
				`${percent(best.sum / all)} of the cycles.` };
	}

	function threadFinding() {
		const t = run.timeline, c = t.columns.indexOf("cycles");
		if (t.threads.length < 2 || t.windows)	/* threads of a sampled run do not wait for each other */
			return null;
		const ran = t.threads.reduce((a, x) => a + x.values[c].reduce((p, q) => p + q, 0), 0);
		const there = t.threads.reduce((a, x) => a + x.values[c].length * t.cycles, 0);
		const waited = 1 - ran / there;
		return waited < 0.2 ? null : { score: waited / 2, view: "timeline", what: {},
			text: `The ${t.threads.length} threads waited for ${percent(waited)} of their lifetime.` };
	}

	function changeFinding() {
		const a = page.sums(run), b = other && page.sums(other);
		if (!a || !b || !a.weight || !b.weight)
			return null;
		const left = b.self.slice();	/* of functions that the run has no more */
		let best = -1, most = 0, what = "";
		const larger = (change, i, of) => {
			if (Math.abs(change) > Math.abs(most))
				[most, best, what] = [change, of === run ? i : -1, page.nameOf(of, i)];
		};
		for (let i = 0; i < a.self.length; i++) {
			const k = page.same(i);
			larger(a.self[i] - (k >= 0 ? b.self[k] : 0), i, run);
			if (k >= 0)
				left[k] = 0;
		}
		left.forEach((weight, k) => larger(-weight, k, other));
		const name = page.eventOf(run).name, more = most > 0 ? "more" : "less";
		return !what ? null : { score: 2, view: "functions", what: { function: best },
			text: `${name}: ${page.text.short(a.weight)} now, ${page.text.short(b.weight)} before ` +
				`(${a.weight >= b.weight ? "+" : ""}${percent(a.weight / b.weight - 1)}). ` +
				`${what} changed most: ${page.text.short(Math.abs(most))} ${more}.` };
	}

	function findings(sum) {
		const list = [changeFinding(), functionFinding()];
		if (sum && sum.slots) {
			const slots = slotFinding(sum), branches = branchFinding(sum);
			/* both are of the same branches: once is enough */
			const twice = branches && slots && slots.cause === "bad.mispredict";
			list.push(twice ? null : slots, branches);
		}
		if (sum)
			list.push(phaseFinding(), threadFinding());
		return list.filter(Boolean).sort((a, b) => b.score - a.score).slice(0, 3);
	}

	/* ---- the view ---- */

	/* A count and half of its 95 % interval's width; 0: it is exact; null: unknown. */
	function total(of, sum, key) {
		const known = of.timeline.totals?.[of.timeline.columns.indexOf(key)];
		return known || [sum[key] || 0, of.timeline.windows ? null : 0];
	}

	function plusMinus(count, half) {
		return page.text.count(count) + (half && count ? ` ± ${percent(half / count)}` : "");
	}

	/* Instructions are known, so the error is that of the cycles. */
	function perCycle(of, sum) {
		const [cycles, half] = total(of, sum, "cycles"), [instructions] = total(of, sum, "instructions");
		return (instructions / cycles).toFixed(3) + (half ? ` ± ${percent(half / cycles)}` : "");
	}

	function counts(sum, before) {
		const rows = [];
		const names = { cycles: "cycles", instructions: "instructions", branches: "branches",
			mispredicts: "mispredicted branches", loads: "loads", l1d_misses: "L1D misses of loads",
			l2_misses: "L2 misses of loads", l3_misses: "L3 misses of loads" };
		const windows = run.timeline?.windows;
		for (const [key, name] of Object.entries(sum ? names : {})) {
			if (sum[key] === undefined)
				continue;
			const [count, half] = total(run, sum, key), old = before && total(other, before, key);
			const known = half === 0 ? "counted"
				: `estimated from ${page.text.count(windows)} windows` +
					(half === null ? "; its error is not known" : "");
			rows.push([name, plusMinus(count, half), known, old ? plusMinus(...old) : ""]);
		}
		if (sum)
			rows.push(["IPC", perCycle(run, sum), "",
				before ? perCycle(other, before) : ""]);
		run.profile.events.forEach((e) => {
			const same = other?.profile.events.find((x) => x.name === e.name);
			const most = e.weight.reduce((a, b) => Math.max(a, b), 0);
			rows.push([`${e.name}, sampled`, page.text.count(e.period),
				!e.samples ? "no sample was taken"
					: `${page.text.count(e.samples)} sample${e.samples > 1 ? "s" : ""}` + (windows
						? ", weighted by the length that each window represents"
						: `; at most ${page.text.count(most)} uncounted per thread`),
				same ? page.text.count(same.period) : ""]);
		});
		const table = page.element("table", { class: "plain" },
			page.element("tr", null, ...["Event", "Count", "Known from", ...(other ? ["Before"] : [])]
				.map((h) => page.element("th", { scope: "col" }, h))),
			...rows.map((r) => page.element("tr", null, ...r.slice(0, other ? 4 : 3)
				.map((c) => page.element("td", null, c)))));
		const list = [page.element("div", { class: "wide-table" }, table)];
		if (page.runs.some((r) => r.timeline?.windows))
			list.push(page.element("p", { class: "note" }, "±: half of the width of the 95 % interval."));
		return list;
	}

	function build(root) {
		const s = run.summary, sum = totals(run), before = other && totals(other);
		const facts = [["Command", s.command.join(" ")],
			["Machine", s.machine + (s.cpuid ? ` (${s.cpuid})` : "")],
			["File", run.name + (s.note ? `: ${s.note}` : "")]];
		if (other)
			facts.push(["Compared with", `${other.name}: ${other.summary.command.join(" ")}`]);
		for (const { warning } of page.runs)
			if (warning)
				facts.push(["Warning", `${warning}.`]);
		if (run.profile.lost)
			facts.push(["Lost", `${page.text.count(run.profile.lost)} samples`]);
		const list = page.element("ol", { class: "findings" });
		for (const f of findings(sum))
			list.append(page.element("li", null, f.text, " ", page.element("button",
				{ onclick: () => { page.choose(f.what); page.show(f.view); } }, "Show")));
		root.append(page.element("h2", null, "Worth acting on"),
			list.children.length ? list : page.element("p", { class: "note" }, "Nothing stands out."));
		if (sum && sum.slots)
			root.append(page.element("h2", null, "Issue slots"), ...page.levelBar(page.levelsOf(run)));
		root.append(page.element("h2", null, "Counts"),
			...counts(sum, before),
			page.element("h2", null, "Run"), page.element("dl", null, ...facts.flatMap(([name, text]) =>
				[page.element("dt", null, name), page.element("dd", null, text)])));
	}

	page.view({ id: "summary", title: "Summary", build, update() {} });
})();
