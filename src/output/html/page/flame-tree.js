/* SPDX-License-Identifier: GPL-2.0-or-later
 * The trees of flame graphs: the chosen samples' stacks, merged.
 *
 *	page.flameTree({ inverted, threads, difference })
 *
 * returns columns over the tree's nodes, of which number 0 is "all" and parents come before their children: parent,
 * label (a function of runs[0]; for a thread, -2 - its number; for a function that only runs[1] has, its own number
 * there + the number of functions in runs[0]), own and total (weights), before (with `difference`: total in runs[1]),
 * children (arrays, heaviest first).  weight and weightBefore are the sums.  inverted: the sampled functions come
 * first, and their callers below them.  threads: one branch for each thread. */
"use strict";
page.flameTree = (how) => {
	const run = page.runs[0], other = page.runs[1], functions = run.functions.name.length;
	const tree = { parent: [-1], label: [-1], own: [0], ownBefore: [0] };
	let steps = new Map();

	function child(at, label) {
		const key = at * 4194304 + (label + 2097152);
		let k = steps.get(key);
		if (k === undefined) {
			k = tree.parent.length;
			steps.set(key, k);
			tree.parent.push(at);
			tree.label.push(label);
			tree.own.push(0);
			tree.ownBefore.push(0);
		}
		return k;
	}

	/* Adds stacks whose samples have these weights, below `root`. */
	function add(from, weights, column, root, labels) {
		const { parent, function: f } = from.profile.stacks;
		const label = (i) => labels ? labels[f[i]] : f[i];
		if (how.inverted) {
			for (let i = 0; i < weights.length; i++)
				if (weights[i]) {
					let at = root;
					for (let k = i; k >= 0; k = parent[k])
						at = child(at, label(k));
					column[at] += weights[i];
				}
			return;
		}
		/* only stacks below which there is a sample */
		const below = weights.slice(), place = new Int32Array(weights.length);
		for (let i = below.length - 1; i >= 0; i--)
			if (parent[i] >= 0)
				below[parent[i]] += below[i];
		for (let i = 0; i < weights.length; i++)
			if (below[i]) {
				place[i] = child(parent[i] >= 0 ? place[parent[i]] : root, label(i));
				column[place[i]] += weights[i];
			}
	}

	const sums = page.sums(run);
	if (how.threads && sums) {
		const event = page.eventOf(run), by = new Map();
		for (const i of page.samplesOf(run, event)) {
			if (!by.has(event.thread[i]))
				by.set(event.thread[i], new Float64Array(run.profile.stacks.parent.length));
			by.get(event.thread[i])[event.stack[i]] += event.weight[i];
		}
		for (const [number, weights] of by)
			add(run, weights, tree.own, child(0, -2 - number), null);
	} else if (sums) {
		add(run, sums.node, tree.own, 0, null);
	}
	const before = how.difference && other ? page.sums(other) : null;
	if (before) {
		const labels = Int32Array.from(other.functions.name, (_, i) => functions + i);
		for (let i = 0; i < functions; i++)
			if (page.same(i) >= 0)
				labels[page.same(i)] = i;
		add(other, before.node, tree.ownBefore, 0, labels);
	}
	steps = null;

	const n = tree.parent.length;
	tree.total = Float64Array.from(tree.own);
	tree.before = Float64Array.from(tree.ownBefore);
	tree.children = Array.from({ length: n }, () => []);
	for (let i = n - 1; i > 0; i--) {
		tree.total[tree.parent[i]] += tree.total[i];
		tree.before[tree.parent[i]] += tree.before[i];
	}
	for (let i = 1; i < n; i++)
		tree.children[tree.parent[i]].push(i);
	for (const list of tree.children)
		list.sort((a, b) => tree.total[b] - tree.total[a] || tree.label[a] - tree.label[b]);
	tree.weight = sums ? sums.weight : 0;
	tree.weightBefore = before ? before.weight : 0;
	return tree;
};
