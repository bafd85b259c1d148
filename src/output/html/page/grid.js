/* SPDX-License-Identifier: GPL-2.0-or-later
 * Long tables that sort: only the rows in sight are elements.
 *
 *	const g = page.grid(parent, {
 *		label: "Functions",
 *		columns: [{
 *			title: "Self", hint: "...",	// heading and what it explains
 *			value: (row) => ...,		// what it sorts by: number or text
 *			text: (row) => ...,		// what is shown; default: the value
 *			share: (row) => 0.3,		// optional: a bar behind the number, 0 to 1
 *			parts: (row) => [[class, 0.3], ...],	// optional: instead of text, a bar of parts, 0 to 1
 *			wide: true,			// text that takes the width that is left
 *			left: true,			// other text
 *			minor: true,			// left out where the screen is narrow
 *		}],
 *		sort: 1,				// column to sort by at first; numbers go down, texts up
 *		choose: (row) => {},			// Enter, or a click
 *		chosen: (row) => false,			// is this row to be marked?
 *	});
 *	g.show(rows)		// any values; all that is known of a row is what the columns make of it
 *	g.columns(columns)	// changes the columns
 *	g.reveal()		// scrolls to the marked row
 *	g.print()		// makes elements of the first 200 rows, for paper
 *
 * Keys: arrows, Page Up and Down, Home, End, Enter; headings are buttons. */
"use strict";
page.grid = (parent, options) => {
	const height = 26;	/* of a row: .grid tr in style.css */
	let columns = options.columns, rows = [], sort = options.sort || 0, down = true, at = 0, paper = false;
	const head = page.element("thead"), body = page.element("tbody"), widths = page.element("colgroup");
	const table = page.element("table", { class: "grid", "aria-label": options.label }, widths, head, body);
	const frame = page.element("div", { class: "frame", tabindex: 0, role: "group", "aria-label": options.label,
		onscroll: () => draw(), onkeydown: onKey, onclick: onClick }, table);
	parent.append(frame);
	new ResizeObserver(() => draw()).observe(frame);

	function heading() {
		let least = 0;	/* the table scrolls before its wide column gets too narrow for names */
		widths.replaceChildren(...columns.map((c) => {
			const col = page.element("col", { class: kind(c) });
			/* the whole heading, unless it is an event's name; the others as in style.css */
			const long = c.title.length > 8 ? Math.min(10.4, 0.55 * c.title.length + 1.5) : 0;
			if (!c.wide && long)
				col.style.width = `${long}rem`;
			least += c.wide ? 13.5 : long || (c.left ? 8 : c.parts ? 8 : 6.8);
			return col;
		}));
		table.style.setProperty("--least", `${least}rem`);
		head.replaceChildren(page.element("tr", null, ...columns.map((c, i) => {
			const sorted = i !== sort ? null : down ? "descending" : "ascending";
			const arrow = { descending: "▾", ascending: "▴" }[sorted] || "";
			return page.element("th", { class: kind(c), scope: "col", title: c.hint, "aria-sort": sorted },
				page.element("button", { onclick: () => sortBy(i) }, c.title,
					page.element("span", { class: "arrow" }, arrow)));
		})));
	}
	const kind = (c) => (c.wide ? "wide" : c.left ? "left" : c.parts ? "parts" : "number") +
		(c.minor ? " minor" : "");

	function order() {
		const c = columns[sort], keys = new Map(rows.map((r) => [r, c.value(r)])), sign = down ? -1 : 1;
		rows.sort((a, b) => {
			const x = keys.get(a), y = keys.get(b);
			return x < y ? -sign : x > y ? sign : 0;
		});
	}

	function sortBy(i) {
		down = i === sort ? !down : !(columns[i].wide || columns[i].left);
		sort = i;
		heading();
		order();
		frame.scrollTop = 0;
		at = 0;
		draw();
	}

	function cell(c, row) {
		const e = page.element("td", { class: kind(c) });
		if (c.parts) {
			const bar = page.element("span", { class: "bar" });
			for (const [name, share] of c.parts(row)) {
				const part = page.element("i", { class: name });
				part.style.width = `${100 * share}%`;
				bar.append(part);
			}
			bar.title = c.text ? c.text(row) : "";
			e.append(bar);
			return e;
		}
		const text = String(c.text ? c.text(row) : c.value(row));
		if (c.share)
			e.style.setProperty("--share", `${(100 * Math.min(1, Math.max(0, c.share(row)))).toFixed(2)}%`);
		e.append(page.element("span", { title: c.wide || c.left ? text : null }, text));
		return e;
	}

	const space = (count) => page.element("tr", { class: "space", "aria-hidden": "true",
		style: `height:${count * height}px` });

	function draw() {
		const many = paper ? 200 : Math.ceil(frame.clientHeight / height) + 20;
		const first = paper ? 0 : Math.max(0, Math.floor(frame.scrollTop / height) - 10);
		const last = Math.min(rows.length, first + many);
		const shown = [];
		for (let i = first; i < last; i++) {
			const tr = page.element("tr", { "data-row": i,
				"aria-selected": options.chosen && options.chosen(rows[i]) ? "true" : null,
				class: i === at ? "at" : null });
			tr.append(...columns.map((c) => cell(c, rows[i])));
			shown.push(tr);
		}
		body.replaceChildren(...(paper ? shown : [space(first), ...shown, space(rows.length - last)]));
	}

	function into(i) {
		const top = i * height, room = frame.clientHeight - head.offsetHeight;
		if (top < frame.scrollTop)
			frame.scrollTop = top;
		else if (top + height > frame.scrollTop + room)
			frame.scrollTop = top + height - room;
	}

	function onKey(e) {
		const many = Math.max(1, Math.floor(frame.clientHeight / height) - 2), end = rows.length - 1;
		const to = { ArrowDown: at + 1, ArrowUp: at - 1, PageDown: at + many, PageUp: at - many,
			Home: 0, End: end }[e.key];
		if (e.target !== frame || e.ctrlKey || e.altKey || e.metaKey)
			return;
		if (to !== undefined) {
			at = Math.max(0, Math.min(end, to));
			into(at);
			draw();
		} else if (e.key === "Enter" && rows.length && options.choose) {
			options.choose(rows[at]);
		} else {
			return;
		}
		e.preventDefault();
		e.stopPropagation();
	}

	function onClick(e) {
		const tr = e.target.closest("tr[data-row]");
		if (!tr)
			return;
		at = +tr.dataset.row;
		if (options.choose)
			options.choose(rows[at]);
		draw();
	}

	heading();
	return {
		show(list) {
			rows = list;
			paper = false;
			order();
			at = Math.min(at, Math.max(0, rows.length - 1));
			draw();
		},
		columns(list) {
			columns = list;
			sort = Math.min(sort, columns.length - 1);
			heading();
		},
		reveal() {
			const i = options.chosen ? rows.findIndex((r) => options.chosen(r)) : -1;
			if (i >= 0) {
				at = i;
				into(i);
				draw();
			}
		},
		print() {
			paper = true;
			draw();
		},
	};
};
