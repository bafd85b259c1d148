#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# trace --timeline: threads, regions, phases and counters over modelled time, for Perfetto. A reader
# (tests/readers/trace-events.jq) checks every rule of the format's description; times and counts are those of stat.
. "$TOP/tests/lib.sh"
need jq
sound() {	# CLAIM FILE
	if jq -r -f "$TOP/tests/readers/trace-events.jq" "$2" >said && [ ! -s said ]; then ok "$1"
	else bad "$1" said; fi
}
timeline() {	# FILE OPTIONS...
	file=$1; shift
	"$SOFTPMU" trace -q --timeline "$file" "$@" >out 2>err || bad "softpmu trace --timeline $file $*" err
}
# The time of the slices with this name, in ns.
time_of() { jq --arg n "$2" '[.traceEvents[] | select(.name == $n) | if .ph == "E" then .ts elif .ph == "B" then -.ts
	else empty end] | add * 1000 | round' "$1"; }

# Threads.
bare_stream sharing.trace sharing atomic 2000 3 >/dev/null
timeline threads.json --replay sharing.trace
sound "threads: the file keeps the format's rules" threads.json
same "each thread has a track" "$(jq '[.traceEvents[] | select(.ph == "M" and .name == "thread_name" and
	.tid < 1000000000)] | length' threads.json)" 3
ns() { jq --argjson c "${2:-0}" '$c * 1000 / .otherData["cycles in a microsecond"] | round' "$1"; }	# FILE CYCLES
cycles=$("$SOFTPMU" stat -x, -e cycles --replay sharing.trace 2>&1 | cut -d, -f1)
within "the threads run for the cycles of stat ($cycles)" "$(time_of threads.json runs)" \
	"$(ns threads.json "$cycles")" 0.1
same "the waiting thread stands still in between" "$(jq '[.traceEvents[] | select(.name == "runs" and .ph == "B")] |
	group_by(.tid)[0] | length >= 2' threads.json)" true
timeline again.json --replay sharing.trace
same_files "the same stream gives the same file" threads.json again.json
timeline smt.json --replay sharing.trace --smt
sound "hardware threads: the file keeps the format's rules" smt.json
same "hardware threads of a core have no slots" \
	"$(jq '[.traceEvents[] | select(.name | startswith("slots"))] | length' \
	smt.json)" 0

# Phases, and counters of a single thread.
bare_stream phases.trace phases 2
timeline phases.json --replay phases.trace
sound "phases: the file keeps the format's rules" phases.json
same "the phases of the program come again" "$(jq '[.traceEvents[] | select(.cat == "phase" and .ph == "B") | .name] |
	group_by(.) | map(length) | max >= 2' phases.json)" true
counts=$("$SOFTPMU" stat -x, -e cycles,instructions --replay phases.trace 2>&1 | cut -d, -f1 | tr '\n' ' ')
ipc=$(echo "$counts" | awk '{ print $2 / $1 }')
within "the mean IPC of the intervals is stat's ($ipc)" "$(jq '[.traceEvents[] | select(.name | startswith("IPC")) |
	.args.IPC] | add / length' phases.json)" "$ipc" 1
same "slots add up to 100 %" "$(jq '[.traceEvents[] | select(.name | startswith("slots")) | .args | add |
	. > 99.9 and . < 100.1] | all' phases.json)" true
holds "the back end holds this program up, which waits for memory" "$(jq '[.traceEvents[] |
	select(.name | startswith("slots")) | .args["back-end bound"]] | add / length' phases.json) > 80"

# Regions.
bare_stream client.trace client regions 1000 >/dev/null
timeline regions.json --replay client.trace
sound "regions: the file keeps the format's rules" regions.json
same "each region that begins has a slice" \
	"$(jq -r '[.traceEvents[] | select(.cat == "region" and .ph == "B") | .name] |
	group_by(.) | map("\(.[0]) \(length)") | join(", ")' regions.json)" "loop 6, outer 2"
same "slices of a region lie in that around it" \
	"$(jq -r '[.traceEvents[] | select(.cat == "region") | .ph] | join("")' \
	regions.json)" BEBEBEBBEBBEEBEE
cycles=$("$SOFTPMU" stat --per-region -x, -e cycles --replay client.trace 2>&1 >/dev/null |
	awk -F, '$1 == "loop" { print $3 }')
within "a region takes the cycles of stat --per-region ($cycles)" "$(time_of regions.json loop)" \
	"$(ns regions.json "$cycles")" 1
timeline older.json --core prescott --replay client.trace
sound "NetBurst: the file keeps the format's rules" older.json
timeline live.json -o live.trace -- "$PROGRAMS/work" 20
timeline replayed.json --replay live.trace
check "-o saves the stream, whose timeline is the same" sh -c 'jq "del(.otherData)" live.json >a
	jq "del(.otherData)" replayed.json | cmp -s a -'

# The reader finds what is wrong.
spoiled() {	# CLAIM, jq's program
	jq -c "$2" regions.json >spoiled.json
	jq -r -f "$TOP/tests/readers/trace-events.jq" spoiled.json >said 2>&1
	if [ -s said ]; then ok "the reader notices $1: $(head -n 1 said)"; else bad "the reader does not notice $1"; fi
}
spoiled "a slice that does not end" '(.traceEvents | map(.ph == "E") | index(true)) as $i | del(.traceEvents[$i])'
spoiled "a slice that never began" '(.traceEvents | map(.ph == "B") | index(true)) as $i | del(.traceEvents[$i])'
spoiled "slices that overlap" '(.traceEvents | map(.ph == "E") | rindex(true)) as $i | .traceEvents[$i].name = "x"'
spoiled "time that goes back" '(.traceEvents | map(.ph == "E") | index(true)) as $i | .traceEvents[$i].ts = 0'
spoiled "a counter without figures" '(.traceEvents | map(.ph == "C") | index(true)) as $i | .traceEvents[$i].args = {}'
spoiled "a track without a name" '.traceEvents |= map(select(.ph != "M"))'

refuse "a pipeline as well" "give one of them" "$SOFTPMU" trace --pipeline a --timeline b --replay client.trace
refuse "a full disk" "cannot write" "$SOFTPMU" trace --timeline /dev/full --replay client.trace
refuse "a folder that is not there" "cannot create" "$SOFTPMU" trace --timeline no/x --replay client.trace
exit $failed
