# SPDX-License-Identifier: GPL-2.0-or-later
# For tests/system/stat/every-event.sh: prints what FAILED of the claim that every modelled event counts, and a line of
# numbers for each table.  Files: all (TABLE EVENT MODELLED MACHINE LISTS; counts are kept under the MACHINE, and the
# two lists name the table LISTS), counted (MACHINE EVENT, those above zero), and the two lists, with TABs.  only: some
# tables are left out.
FILENAME == "all" {
	if (!($1 in rows)) names[++tables] = $1
	rows[$1]++; order[++events] = $1 " " $2; machine[$1] = $4; lists_of[$1] = $5
	modelled[$1, $2] = $3
	next
}
FILENAME == "counted" { above[$1, $2] = 1; next }
/^#/ || NF == 0 { next }
{	# a line of a list; it may name several tables
	n = split($1, in_tables, ",")
	kind = FILENAME ~ /records/ ? "in records.tsv" : "in unreached.tsv"
	if ($NF == "" || NF < 3) print "FAILED " $2 " " kind " has a reason"
	for (i = 1; i <= n; i++) {
		t = in_tables[i]
		if (only != "" && !(t in rows)) continue
		if (modelled[t, $2] != "true") print "FAILED " t " has the modelled event " $2 ", which is " kind
		if (FILENAME ~ /records/) recorded[t, $2] = 1
		else listed[t, $2] = 1
	}
}
END {
	for (i = 1; i <= events; i++) {
		split(order[i], e, " ")
		t = e[1]
		if (modelled[t, e[2]] != "true") { refused[t]++; continue }
		yes[t]++
		counts = (machine[t], e[2]) in above
		if (counts) programs[t]++
		l = lists_of[t]
		if ((l, e[2]) in recorded) sequences[t]++
		if ((l, e[2]) in listed) {
			lists[t]++
			if (counts) print "FAILED " t ": " e[2] " counts zero, as unreached.tsv says"
		} else if (!counts && !((l, e[2]) in recorded))
			print "FAILED " t ": " e[2] " counts above zero in a program or a record sequence"
	}
	format = "%-20s %5s %9s %8s %9s %9s %7s\n"
	printf format, "table", "rows", "modelled", "refused", "programs", "records", "listed"
	for (i = 1; i <= tables; i++) {
		t = names[i]
		printf format, t, rows[t], yes[t] + 0, refused[t] + 0, programs[t] + 0, sequences[t] + 0, lists[t] + 0
	}
}
