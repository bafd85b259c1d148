/* SPDX-License-Identifier: GPL-2.0-or-later
 * Sums over the data addresses of the chosen thread and interval.
 *
 *	page.memory()   { samples, period, objects, lines, sets } of what is chosen; null without data addresses
 *
 * objects: those of `softpmu mem report --json` with these samples' numbers, most periods first: object, source,
 *     samples, stores, period, latencies, latency (sum of these), levels (samples, in the order of page.memoryLevels),
 *     verdict, and chosen: the periods of the chosen function
 * lines: those that several threads of a process accessed and one of them wrote, most samples first, LINES at most:
 *     address, object, samples, other (came modified from another core), threads, apart (each byte is one thread's but
 *     for 5 % of the samples, and the bytes are of two threads at least), accesses: [{ access, samples }], the access
 *     being an index of the part's columns (part_memory.c)
 * sets: by number of the set: { lines, samples }; empty if the cache is not known */
"use strict";
(() => {
	const run = page.runs[0], memory = run.memory, LINES = 100;
	/* key in the report, name, colour; as enum memprofile_level */
	page.memoryLevels = [
		["l1", "L1", "one"], ["lfb", "fill buffer", "six"], ["l2", "L2", "three"], ["l3", "L3", "two"],
		["ram", "memory", "five"], ["l1_miss", "not L1", "four"], ["unknown", "unknown", "none"],
	];
	if (!memory) {
		page.memory = () => null;
		return;
	}
	const { access, samples, report } = memory;
	const ways = report.l1d ? report.l1d.ways : 0, sets = report.l1d ? report.l1d.sets : 0;
	page.addUp(samples.time);
	/* the set of each line; addresses have more bits than numbers do */
	const setOf = memory.lines.map((a) => sets ? Number(BigInt(a) / BigInt(report.l1d.line) % BigInt(sets)) : 0);

	/* Lines by set. */
	function bySet(lines) {
		const count = new Map();
		for (const line of lines)
			count.set(setOf[line], (count.get(setOf[line]) || 0) + 1);
		return count;
	}

	/* As memprofile.c finds it; to be sure, samples of lines that were sampled once each say nothing. */
	function verdict(o, lines) {
		const worst = sets ? Math.max(0, ...bySet(lines).values()) : 0;
		if (o.levels[0] * 2 > o.samples || o.samples < 2 * lines.size || worst <= ways)
			return "";
		return lines.size <= sets * ways ? "set conflict" : "capacity";
	}

	function newObject(i) {
		const { object, source, addresses, low, high } = report.objects[i];
		const name = object !== "no symbol" || !addresses ? object
			: `no symbol, 0x${low.toString(16)} to 0x${high.toString(16)}`;
		return { object: name, source, samples: 0, stores: 0, period: 0, latencies: 0, latency: 0, chosen: 0,
			levels: page.memoryLevels.map(() => 0), lines: new Set() };
	}

	function addTo(o, i) {
		const a = samples.access[i], period = samples.period[i];
		o.samples++;
		o.stores += access.store[a];
		o.period += period;
		o.latencies += samples.latency[i] ? 1 : 0;
		o.latency += samples.latency[i];
		o.levels[access.level[a]]++;
		o.lines.add(access.line[a]);
		o.chosen += access.function[a] === page.chosen.function ? period : 0;
	}

	/* A thread that sums the others' counters up at the end reads all of them: one sample of it changes little. */
	function apart(accesses) {
		const bytes = new Map(), owners = new Set();
		let all = 0, owned = 0;
		for (const { access: a, samples: n } of accesses) {
			const byte = access.offset[a], who = bytes.get(byte) || new Map();
			bytes.set(byte, who);
			who.set(access.thread[a], (who.get(access.thread[a]) || 0) + n);
			all += n;
		}
		for (const who of bytes.values()) {
			const [thread, n] = [...who].reduce((x, y) => y[1] > x[1] ? y : x);
			owners.add(thread);
			owned += n;
		}
		return owners.size > 1 && owned >= 0.95 * all;
	}

	/* counts: samples by access */
	function sharedLines(counts, objects) {
		const by = new Map();
		for (const [a, n] of counts) {
			const [pid] = memory.threads[access.thread[a]], key = `${pid} ${access.line[a]}`;
			if (!by.has(key))
				by.set(key, []);
			by.get(key).push({ access: a, samples: n });
		}
		const lines = [];
		for (const accesses of by.values()) {
			const threads = new Set(accesses.map((x) => access.thread[x.access]));
			if (threads.size < 2 || !accesses.some((x) => access.store[x.access]))
				continue;
			const sum = (f) => accesses.reduce((n, x) => n + f(x), 0), [{ access: first }] = accesses;
			lines.push({ address: memory.lines[access.line[first]], accesses,
				object: objects.get(access.object[first]).object, threads: threads.size,
				samples: sum((x) => x.samples),
				other: sum((x) => access.other[x.access] ? x.samples : 0),
				apart: apart(accesses) });
		}
		lines.sort((a, b) => b.samples - a.samples || (a.address < b.address ? -1 : 1));
		return lines.slice(0, LINES);
	}

	page.memory = () => {
		const { from, to } = page.chosen, objects = new Map(), counts = new Map();
		const lines = new Set(), found = [];
		const sum = { samples: 0, period: 0 };
		for (let i = 0; i < samples.time.length; i++) {
			const a = samples.access[i];
			if (samples.time[i] < from || samples.time[i] >= to ||
				!page.passes(...memory.threads[access.thread[a]]))
				continue;
			if (!objects.has(access.object[a]))
				objects.set(access.object[a], newObject(access.object[a]));
			addTo(objects.get(access.object[a]), i);
			counts.set(a, (counts.get(a) || 0) + 1);
			sum.samples++;
			sum.period += samples.period[i];
		}
		for (const [a, n] of sets ? counts : []) {
			const set = setOf[access.line[a]];
			found[set] = found[set] || { lines: 0, samples: 0 };
			found[set].samples += n;
			found[set].lines += lines.has(access.line[a]) ? 0 : 1;
			lines.add(access.line[a]);
		}
		for (const o of objects.values())
			o.verdict = verdict(o, o.lines);
		return { ...sum, sets: found, lines: sharedLines(counts, objects),
			objects: [...objects.values()].sort((a, b) => b.period - a.period) };
	};
})();
