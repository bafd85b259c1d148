# SPDX-License-Identifier: GPL-2.0-or-later
# Reads a file in the Kanata format, and checks each rule of its description: "Kanata Log Format" of
# https://github.com/shioyadan/Konata, docs/kanata-log-format.md, and what its onikiri_parser.ts refuses.
# Prints a line for each error, at most 20, and at the end "rows retired flushed cycles" if there was none; with
# -v say=arrows the number of dependences instead.
BEGIN { FS = "\t"; cycle = -1; ids = 0; errors = 0 }
function wrong(why) { if (++errors <= 20) printf "line %d: %s: %s\n", NR, why, $0 }
function number(text) { return text ~ /^[0-9]+$/ }
# The id of a command other than I: introduced, and not yet ended.
function alive(id) {
	if (!number(id) || id + 0 >= ids) { wrong("an id without I"); return 0 }
	if (ended[id]) { wrong("a command behind R"); return 0 }
	return 1
}
/\r/ { wrong("a carriage return") }
NR == 1 { if ($0 != "Kanata\t0004") wrong("the header"); next }
$1 == "C=" {
	if (NF != 2 || !number($2)) wrong("fields of C=")
	if (cycle >= 0) wrong("C= comes once, before all commands")
	cycle = first = $2 + 0; next
}
cycle < 0 { wrong("a command before C=") }
$1 == "C" { if (NF != 2 || !number($2) || $2 + 0 < 1) wrong("fields of C"); cycle += $2; next }
$1 == "I" {
	if (NF != 4 || !number($2) || !number($3) || !number($4)) wrong("fields of I")
	if ($2 + 0 != ids) wrong("ids count up from 0")
	ids++; thread[$2] = $4; born[$2] = cycle; next
}
$1 == "L" {
	if (NF != 4 || $3 !~ /^[012]$/) wrong("fields of L")
	if (alive($2) && $3 == 0) { if (label[$2]++) wrong("a second text for the left pane") }
	next
}
$1 == "S" {
	if (NF != 4 || !number($3) || $4 == "") wrong("fields of S")
	if (alive($2)) {
		if ($3 == 0 && stages[$2] && since[$2] >= cycle) wrong("a stage that takes no time")
		if (index(seen[$2], " " $3 ":" $4 " ")) wrong("a stage comes twice")
		seen[$2] = seen[$2] " " $3 ":" $4 " "
		current[$2 "," $3] = $4; stages[$2]++; since[$2] = cycle
		count[$4]++
	}
	next
}
$1 == "E" {
	if (NF != 4 || !number($3) || $4 == "") wrong("fields of E")
	if (alive($2) && current[$2 "," $3] != $4) wrong("E of another stage than the lane is in")
	next
}
$1 == "W" {
	if (NF != 4 || !number($3) || !number($4)) wrong("fields of W")
	if (alive($2)) {
		if (!number($3) || $3 + 0 >= ids) wrong("a producer without I")
		if (thread[$2] != thread[$3]) wrong("a producer of another thread")
		if ($4 != 0) wrong("types other than 0 are reserved")
		if ($3 == $2) wrong("it waits for itself")
		if (index(waits[$2], " " $3 " ")) wrong("a producer comes twice")
		waits[$2] = waits[$2] " " $3 " "
		arrows++
	}
	next
}
$1 == "R" {
	if (NF != 4 || !number($3) || $4 !~ /^[01]$/) wrong("fields of R")
	if (alive($2)) {
		if (!label[$2]) wrong("no text for the left pane")
		if (!stages[$2]) wrong("no stage")
		if (cycle <= born[$2]) wrong("it ends when it begins")
		if ($4 == 0) {
			if ($3 + 0 != retired) wrong("retirement ids count up")
			if (($2 + 0 < last[thread[$2]])) wrong("a thread retires in order")
			last[thread[$2]] = $2 + 0
			retired++
			if (current[$2 ",0"] != "Rt") wrong("retired, and the last stage is not Rt")
		} else {
			flushed++
			if (index(seen[$2], " 0:Rt ")) wrong("flushed in stage Rt")
		}
	}
	ended[$2] = 1; over++
	delete seen[$2]; delete current[$2 ",0"]; delete waits[$2]
	next
}
{ wrong("an unknown command") }
END {
	if (cycle < 0) { print "no C="; errors++ }
	if (over != ids) { printf "%d ids, %d of them end\n", ids, over; errors++ }
	if (errors) exit 1
	if (say == "arrows") print arrows + 0
	else printf "%d %d %d %d\n", ids, retired, flushed, cycle - first
}
