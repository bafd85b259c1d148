# SPDX-License-Identifier: GPL-2.0-or-later
# Reads lines of gem5's O3PipeView, and checks what its writer (gem5, src/cpu/o3/dyn_inst.cc, DynInst::~DynInst) and
# its reader (util/o3-pipeview.py, process_trace) say: seven lines for a uop, in this order, ticks that do not decrease,
# 0 for what was not reached, and a squashed uop's retire is 0. Konata takes a uop with any 0 for squashed.
# Prints a line for each error, at most 20, and at the end "rows retired flushed" if there was none.
BEGIN {
	FS = ":"; split("fetch decode rename dispatch issue complete retire", stage, " ")
	next_stage = 1; errors = 0
}
function wrong(why) { if (++errors <= 20) printf "line %d: %s: %s\n", NR, why, $0 }
function number(text) { return text ~ /^[0-9]+$/ }
$1 != "O3PipeView" { wrong("no O3PipeView"); next }
$2 != stage[next_stage] { wrong("expected " stage[next_stage]) }
!number($3) || $3 % 1000 { wrong("a tick that is no whole cycle") }
$2 == "fetch" {
	rows++
	if (NF < 7 || $4 !~ /^0x[0-9a-f]+$/ || !number($5) || !number($6)) wrong("fields of fetch")
	if ($6 + 0 != rows) wrong("sequence numbers count up from 1")
	if ($3 + 0 == 0) wrong("it was never fetched")
	if ($3 + 0 < fetched) wrong("fetched before the one in front of it")
	if ($5 + 0 && $5 + 0 <= uop) wrong("the uop numbers of an instruction go up")
	uop = $5 + 0; fetched = $3 + 0; tick = $3 + 0; missed = 0; next_stage = 2; next
}
{
	if ($2 == "retire" ? NF != 5 || $4 != "store" || !number($5) : NF != 3) wrong("fields of " $2)
	if ($3 + 0 == 0) missed = 1
	else if (missed) wrong("reached, behind a stage that was not")
	else if ($3 + 0 < tick) wrong("ticks decrease")
	else tick = $3 + 0
	next_stage = next_stage % 7 + 1
	if ($2 == "retire") {
		if ($3 + 0) retired++; else flushed++
	}
}
END {
	if (next_stage != 1) { print "the last uop has no retire"; errors++ }
	if (errors) exit 1
	printf "%d %d %d\n", rows, retired, flushed
}
