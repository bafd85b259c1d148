/* SPDX-License-Identifier: GPL-2.0-or-later
 * The page's frame: data, what is chosen, views, and helpers.  Everything is a member of `page`.
 *
 * A view is a file of its own (assets.def), which ends in
 *
 *	page.view({
 *		id: "functions",		// of its tab, and in the address: #functions
 *		title: "Functions",		// on the tab
 *		has: () => true,		// is there anything to show?  Without that, the tab is left out
 *		build(root) {},			// fills its empty <section> when it is first shown
 *		update(changed) {},		// shows what is chosen now; called when it is shown, and when the
 *						// choice changes while it is.  changed: set of the names that changed
 *		key(event) {},			// optional: a key was pressed while it is shown; true if it was used
 *		print() {},			// optional: draws all that a printed page should have, before printing
 *	});
 *
 * Data: page.runs[0] is the run, page.runs[1] the one it is compared with, if any; page.h and the heads of part_*.c
 * describe them.  profile.js adds typed columns and sums over what is chosen.
 *
 * What is chosen, page.chosen, is one for all views.  page.choose({ function: 3 }) changes it and tells the view that
 * is shown:
 *	event     index of runs[0].profile.events
 *	function  index of runs[0].functions, or -1
 *	thread    index of runs[0].profile.threads, or -1 for all
 *	from, to  interval of modelled time in ns; from 0 to Infinity is all
 *	search    what stands in the search field, in lower case; "" for nothing
 *
 * Names come out of files and are hostile: they go into the page as text (page.element, textContent), never as HTML.
 * Colours are the variables of style.css: by class names in the DOM, by page.color("--bad") on a canvas.
 * Long tables are page.grid (grid.js).  What has many items is drawn on a canvas (page.canvas). */
"use strict";
const page = (() => {
	const data = JSON.parse(document.getElementById("data").textContent);
	const views = [];
	let shown = null;

	const chosen = { event: 0, function: -1, thread: -1, from: 0, to: Infinity, search: "" };

	/* ---- elements ---- */

	/* element("p", { class: "note", title: "..." , onclick: f }, "text", child, ...) */
	function element(tag, attributes, ...children) {
		const e = document.createElement(tag);
		for (const [name, value] of Object.entries(attributes || {}))
			if (name.startsWith("on"))
				e.addEventListener(name.slice(2), value);
			else if (name.startsWith("aria-") && value !== null)
				e.setAttribute(name, String(value));
			else if (value === true)
				e.setAttribute(name, "");
			else if (value !== false && value !== null && value !== undefined)
				e.setAttribute(name, value);
		e.append(...children.filter((c) => c !== null && c !== undefined));
		return e;
	}

	/* A canvas that fills the width of its parent and is `height` pixels high (a number, or a function that gives
	 * it).  draw(context, width, height) is called with a cleared canvas, in CSS pixels.  redraw() draws at the
	 * next frame, now() at once. */
	const canvases = new Set();
	function canvas(parent, height, draw, attributes) {
		const e = element("canvas", { tabindex: 0, ...attributes });
		let wanted = 0;
		const now = () => {
			wanted = 0;
			const width = parent.clientWidth, tall = typeof height === "function" ? height() : height;
			if (!width)
				return;
			const ratio = window.devicePixelRatio || 1;
			e.style.width = `${width}px`;
			e.style.height = `${tall}px`;
			e.width = Math.round(width * ratio);
			e.height = Math.round(tall * ratio);
			const context = e.getContext("2d");
			context.setTransform(ratio, 0, 0, ratio, 0, 0);
			context.font = `12px ${getComputedStyle(document.body).fontFamily}`;
			context.textBaseline = "middle";
			draw(context, width, tall);
		};
		const self = { element: e, now, redraw() { wanted = wanted || requestAnimationFrame(now); } };
		parent.append(e);
		new ResizeObserver(() => self.redraw()).observe(parent);
		canvases.add(self);
		return self;
	}

	let colors = new Map();
	function color(name) {
		if (!colors.has(name))
			colors.set(name, getComputedStyle(document.documentElement).getPropertyValue(name).trim());
		return colors.get(name);
	}
	function recolor() {
		colors = new Map();
		for (const c of canvases)
			c.redraw();
	}

	/* The text cut so that it fits the width, "" if nothing of it does. */
	function fit(context, text, width) {
		if (width < 14)
			return "";
		if (context.measureText(text).width <= width)
			return text;
		let low = 0, high = text.length;
		while (low < high) {
			const middle = (low + high + 1) >> 1;
			if (context.measureText(`${text.slice(0, middle)}…`).width <= width)
				low = middle;
			else
				high = middle - 1;
		}
		return low > 1 ? `${text.slice(0, low)}…` : "";
	}

	/* The box beside the pointer.  lines: texts, the first of which is the heading; or null to hide it. */
	const box = element("div", { id: "tip", role: "tooltip", hidden: true });
	function tip(lines, x, y) {
		box.hidden = !lines;
		if (!lines)
			return;
		box.replaceChildren(...lines.map((line, i) => element(i ? "div" : "strong", null, line)));
		const room = document.documentElement.clientWidth;
		box.style.left = `${Math.max(4, Math.min(x + 14, room - box.offsetWidth - 8))}px`;
		const below = y + 18 + box.offsetHeight < window.innerHeight;
		box.style.top = `${below ? y + 18 : Math.max(4, y - box.offsetHeight - 12)}px`;
	}

	/* ---- texts of numbers ---- */

	const whole = new Intl.NumberFormat("en", { maximumFractionDigits: 0 });
	const text = {
		count: (n) => whole.format(n),
		/* 12.3 M: at most four digits */
		short(n) {
			if (n === undefined || Number.isNaN(n))
				return "–";
			const sizes = [[1e12, " T"], [1e9, " G"], [1e6, " M"], [1e3, " k"]];
			for (const [size, unit] of sizes)
				if (Math.abs(n) >= size)
					return (n / size).toPrecision(3) + unit;
			return Number.isInteger(n) ? String(n) : n.toPrecision(3);
		},
		percent: (part, of) => of ? `${(100 * part / of).toFixed(2)} %` : "–",
		time(ns) {
			const sizes = [[1e9, " s"], [1e6, " ms"], [1e3, " µs"]];
			for (const [size, unit] of sizes)
				if (ns >= size)
					return (ns / size).toPrecision(4) + unit;
			return `${Math.round(ns)} ns`;
		},
	};

	/* ---- what is chosen ---- */

	function choose(what) {
		const changed = new Set(Object.keys(what).filter((k) => chosen[k] !== what[k]));
		Object.assign(chosen, what);
		if (!changed.size)
			return;
		showChosen();
		if (shown)
			shown.view.update(changed);
	}

	const strip = document.getElementById("chosen");
	function chip(label, clear) {
		return element("span", { class: "chip" }, label, element("button", { "aria-label": `Undo: ${label}`,
			onclick: () => choose(clear) }, "×"));
	}
	function showChosen() {
		strip.replaceChildren();
		if (chosen.function >= 0)
			strip.append(chip(`Function ${page.nameOf(page.runs[0], chosen.function)}`, { function: -1 }));
		if (chosen.from > 0 || chosen.to < Infinity)
			strip.append(chip(`Time ${text.time(chosen.from)} to ${text.time(chosen.to)}`,
				{ from: 0, to: Infinity }));
		const list = document.getElementById("thread");
		if (list)
			list.value = chosen.thread;
		const events = document.getElementById("event");
		if (events)
			events.value = chosen.event;
	}

	/* ---- views ---- */

	function show(id, focus) {
		const next = views.find((v) => v.view.id === id);
		if (!next || next === shown)
			return;
		if (shown) {
			shown.section.hidden = true;
			shown.tab.setAttribute("aria-selected", "false");
			shown.tab.tabIndex = -1;
		}
		shown = next;
		tip(null);
		next.section.hidden = false;
		next.tab.setAttribute("aria-selected", "true");
		next.tab.tabIndex = 0;
		next.tab.scrollIntoView({ block: "nearest", inline: "nearest" });
		if (focus)
			next.tab.focus();
		history.replaceState(null, "", `#${id}`);
		if (!next.built)
			next.view.build(next.section);
		next.built = true;
		next.view.update(new Set(Object.keys(chosen)));
	}

	function view(v) {
		if (v.has && !v.has())
			return;
		const tab = element("button", { role: "tab", id: `tab-${v.id}`, "aria-controls": `view-${v.id}`,
			"aria-selected": "false", tabindex: -1, onclick: () => show(v.id) }, v.title);
		const section = element("section", { id: `view-${v.id}`, role: "tabpanel", "aria-labelledby": tab.id,
			hidden: true });
		views.push({ view: v, tab, section, built: false });
	}

	/* ---- keys ---- */

	function tabFor(key) {
		const at = views.indexOf(shown), last = views.length - 1;
		const to = { ArrowLeft: at ? at - 1 : last, ArrowRight: at < last ? at + 1 : 0, Home: 0, End: last };
		return views[to[key]];
	}

	function onKey(e) {
		if (e.ctrlKey || e.altKey || e.metaKey)
			return;
		const field = e.target.closest("input, select, textarea");
		if (e.key === "Escape" && field) {
			field.blur();
		} else if (field) {
			return;
		} else if (e.target.getAttribute("role") === "tab" && tabFor(e.key)) {
			show(tabFor(e.key).view.id, true);
		} else if (shown && shown.view.key && shown.view.key(e)) {
			/* the view used it */
		} else if (e.key === "/") {
			document.getElementById("search").focus();
		} else if (/^[1-9]$/.test(e.key) && views[e.key - 1]) {
			show(views[e.key - 1].view.id, true);
		} else if (e.key === "Escape") {
			choose({ function: -1, from: 0, to: Infinity });
		} else {
			return;
		}
		e.preventDefault();
	}

	/* ---- the head ---- */

	function select(id, label, names, change) {
		return element("label", { for: id }, label, element("select",
			{ id, onchange: (e) => change(+e.target.value) },
			...names.map(([value, name]) => element("option", { value }, name))));
	}

	function controls() {
		const first = page.runs[0].profile, threads = first.threads;
		const row = document.getElementById("controls");
		if (first.events.length > 1)
			row.append(select("event", "Event", first.events.map((e, i) => [i, e.name]),
				(event) => choose({ event })));
		if (threads.tid.length > 1)
			row.append(select("thread", "Thread", [[-1, "all"],
				...Array.from(threads.tid, (_, i) => [i, page.threadOf(page.runs[0], i)])],
			(thread) => choose({ thread })));
		row.append(element("label", { for: "search" }, "Search", element("input", {
			id: "search", type: "search", autocomplete: "off", spellcheck: "false",
			placeholder: "function or object", title: "The key / comes here, Escape leaves",
			oninput: (e) => choose({ search: e.target.value.toLowerCase() }),
		})));
		const themes = ["auto", "light", "dark"], dark = matchMedia("(prefers-color-scheme: dark)");
		let wanted = "auto";
		const theme = (name) => {
			wanted = name;
			document.documentElement.dataset.theme =
				name !== "auto" ? name : dark.matches ? "dark" : "light";
			button.textContent = `Colours: ${name}`;
			recolor();
		};
		const button = element("button", { id: "theme", title: "Light or dark; auto follows the system",
			onclick: () => theme(themes[(themes.indexOf(wanted) + 1) % 3]) });
		row.append(button);
		theme("auto");
		dark.addEventListener("change", () => theme(wanted));
	}

	function open() {
		document.getElementById("title").textContent = page.runs.map((r) => r.name).join(" compared with ");
		document.body.append(box);
		controls();
		document.getElementById("views").append(...views.map((v) => v.tab));
		document.getElementById("main").append(...views.map((v) => v.section));
		document.addEventListener("keydown", onKey);
		window.addEventListener("hashchange", () => show(location.hash.slice(1)));
		window.addEventListener("beforeprint", () => shown && shown.view.print && shown.view.print());
		window.addEventListener("afterprint", () => shown && shown.view.update(new Set(Object.keys(chosen))));
		const asked = location.hash.slice(1);
		show(views.some((v) => v.view.id === asked) ? asked : views[0].view.id);
		showChosen();
		document.documentElement.dataset.ready = "true";	/* what tests wait for */
	}

	return { data, runs: data.runs, chosen, choose, view, show, open, element, canvas, color, fit, tip, text };
})();
