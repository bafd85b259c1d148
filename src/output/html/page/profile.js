/* SPDX-License-Identifier: GPL-2.0-or-later
 * Sums over the samples that are chosen.
 *
 *	page.addUp(column)      makes values of differences from the one before, in place
 *	page.nameOf(run, f), page.objectOf(run, f)   names of a function, and of its object without folders
 *	page.threadOf(run, t)   name and number of a thread
 *	page.same(f)            the function of runs[1] that is function f of runs[0], or -1
 *	page.eventOf(run)       the chosen event in a run: the one of the same name; undefined if it has none
 *	page.exactOf(f)         { cycles, instructions, causes, levels } of function f of runs[0] in the exact
 *	                        profile, or null: causes are [name, cycles], most first; levels are cycles by level 1
 *	page.matches(run, f)    does the function's or object's name hold what is searched for?
 *	page.whole()            is the chosen interval the whole run?
 *	page.passes(pid, tid)   is this the chosen thread, or are all chosen?
 *	page.part()             " from 1 µs to 2 µs, thread NAME": what of the run is chosen, "" for all of it
 *	page.samplesOf(run, event)   the numbers of the samples that pass the chosen thread and interval
 *	page.sums(run, event)   { weight, samples, self, total, late, node }: what passes the chosen thread and interval
 *	                        of an event (default: the chosen one; null if the run has none): sums over all, by
 *	                        function (Float64Array: self, total, late = cycles times weight), and by stack (node:
 *	                        weight of the samples whose stack ends there) */
"use strict";
(() => {
	const typed = (column) => Float64Array.from(column);
	page.addUp = (column) => {
		for (let i = 1; i < column.length; i++)
			column[i] += column[i - 1];
		return column;
	};
	for (const run of page.runs) {
		const p = run.profile, stacks = p.stacks, n = stacks.parent.length;
		stacks.parent = Int32Array.from(stacks.parent, (x) => x - 1);
		stacks.function = Int32Array.from(stacks.function);
		stacks.counted = new Int32Array(n);	/* the function that a sample here is counted for */
		stacks.again = new Uint8Array(n);	/* a frame further out has the same function */
		for (let i = 0; i < n; i++) {
			const f = stacks.function[i], up = stacks.parent[i];
			stacks.counted[i] = run.functions.inlined[f] && up >= 0 ? stacks.counted[up] : f;
			for (let k = up; k >= 0 && !stacks.again[i]; k = stacks.parent[k])
				stacks.again[i] = stacks.function[k] === f ? 1 : 0;
		}
		for (const e of p.events) {
			e.time = page.addUp(typed(e.time));
			e.thread = Int32Array.from(e.thread);
			e.stack = Int32Array.from(e.stack);
			e.weight = typeof e.weight === "number" ? new Float64Array(e.time.length).fill(e.weight)
				: typed(e.weight);
			e.late = e.late && typed(e.late);
		}
		run.cache = new Map();
	}

	page.objectOf = (run, f) => {
		const path = run.strings[run.functions.object[f]];
		return path.slice(path.lastIndexOf("/") + 1) || path;
	};
	page.nameOf = (run, f) => run.strings[run.functions.name[f]] || `[no symbol] ${page.objectOf(run, f)}`;

	page.threadOf = (run, t) => `${run.strings[run.profile.threads.comm[t]]} ${run.profile.threads.tid[t]}`;

	/* Functions of two runs are the same if object and name are: a rebuilt program has other addresses. */
	const identity = (run, f) =>
		`${page.objectOf(run, f)}\n${run.strings[run.functions.name[f]]}\n${run.functions.inlined[f]}`;
	let others = null;
	page.same = (f) => {
		const [run, other] = page.runs;
		if (!others) {
			others = new Map();
			for (let i = other.functions.name.length - 1; i >= 0; i--)
				others.set(identity(other, i), i);
		}
		const found = others.get(identity(run, f));
		return found === undefined ? -1 : found;
	};

	page.eventOf = (run) => {
		const name = page.runs[0].profile.events[page.chosen.event]?.name;
		return run.profile.events.find((e) => e.name === name);
	};

	let exact = null;
	page.exactOf = (f) => {
		const x = page.runs[0].exact;
		if (!x)
			return null;
		if (!exact) {
			exact = new Map();
			x.function.forEach((name, i) => {
				const one = { cycles: 0, instructions: x.instructions[i], causes: [],
					levels: { retiring: 0, bad: 0, frontend: 0, backend: 0 } };
				for (const c of x.causes)
					if (c.cycles[i]) {
						one.cycles += c.cycles[i];
						one.levels[c.level] += c.cycles[i];
						one.causes.push([c.name, c.cycles[i]]);
					}
				one.causes.sort((a, b) => b[1] - a[1]);
				exact.set(name, one);
			});
		}
		return exact.get(f) || null;
	};

	page.matches = (run, f) => {
		const what = page.chosen.search;
		return !what || page.nameOf(run, f).toLowerCase().includes(what) ||
			page.objectOf(run, f).toLowerCase().includes(what);
	};

	/* Index of the first sample at or behind a time. */
	function first(times, at) {
		let low = 0, high = times.length;
		while (low < high) {
			const middle = (low + high) >> 1;
			if (times[middle] < at)
				low = middle + 1;
			else
				high = middle;
		}
		return low;
	}

	page.whole = () => page.chosen.from <= 0 && page.chosen.to === Infinity;
	page.passes = (pid, tid) => {
		const who = page.chosen.thread, threads = page.runs[0].profile.threads;
		return who < 0 || (threads.pid[who] === pid && threads.tid[who] === tid);
	};
	page.part = () => (page.whole() ? "" : ` from ${page.text.time(page.chosen.from)} to ${
		page.chosen.to === Infinity ? "the end" : page.text.time(page.chosen.to)}`) +
		(page.chosen.thread < 0 ? "" : `, thread ${page.threadOf(page.runs[0], page.chosen.thread)}`);

	/* What of a run is chosen.  Thread and interval are the first run's own; the other has no such. */
	const part = (run) => run === page.runs[0] ? page.chosen : { thread: -1, from: 0, to: Infinity };

	page.samplesOf = function* samplesOf(run, event) {
		const { thread, from, to } = part(run);
		for (let i = first(event.time, from); i < event.time.length && event.time[i] < to; i++)
			if (thread < 0 || event.thread[i] === thread)
				yield i;
	};

	page.sums = (run, event = page.eventOf(run)) => {
		if (!event)
			return null;
		const { thread, from, to } = part(run);
		const key = `${run.profile.events.indexOf(event)} ${thread} ${from} ${to}`;
		if (run.cache.has(key))
			return run.cache.get(key);
		const stacks = run.profile.stacks, n = run.functions.name.length;
		const s = { weight: 0, samples: 0, self: new Float64Array(n), total: new Float64Array(n),
			late: new Float64Array(n), node: new Float64Array(stacks.parent.length) };
		for (const i of page.samplesOf(run, event)) {
			const weight = event.weight[i], f = stacks.counted[event.stack[i]];
			s.weight += weight;
			s.samples++;
			s.node[event.stack[i]] += weight;
			s.self[f] += weight;
			if (event.late)
				s.late[f] += weight * event.late[i];
		}
		const below = s.node.slice();
		for (let i = below.length - 1; i >= 0; i--) {
			if (!stacks.again[i])
				s.total[stacks.function[i]] += below[i];
			if (stacks.parent[i] >= 0)
				below[stacks.parent[i]] += below[i];
		}
		if (run.cache.size > 64)
			run.cache.clear();
		run.cache.set(key, s);
		return s;
	};
})();
