# SPDX-License-Identifier: GPL-2.0-or-later
# Reads JSON in the Trace Event Format, and prints a line for each rule that it breaks: the format's document
# (catapult/docs/trace-event-format.md of Chromium names it), "JSON Object Format", "Duration Events", "Counter Events",
# "Metadata Events"; Perfetto, docs/faq.md: slices of a thread nest perfectly.
# Prints nothing for a sound file: jq -r -f trace-events.jq FILE
def whole: type == "number" and . == floor;
def bad($why): "\($why): \(tojson)";
(select(.displayTimeUnit != "ms" and .displayTimeUnit != "ns") | "displayTimeUnit"),
(select(.traceEvents | type != "array" or length == 0) | "no traceEvents"),
(.traceEvents[]
	| (select(.ph | IN("B", "E", "C", "M") | not) | bad("a kind that is not used")),
	(select((.pid | whole and . >= 0) and (.tid | whole and . >= 0 and . < 4294967296) | not) | bad("pid or tid")),
	(select(.name | type != "string" or . == "") | bad("no name")),
	(select(.ph != "M" and (.ts | type != "number" or . < 0)) | bad("ts")),
	(select(.ph == "C" and (.args | type != "object" or length == 0 or any(.[]; type != "number")))
		| bad("counter")),
	(select(.ph == "M" and (if .name == "thread_sort_index" then .args.sort_index | whole
		elif .name == "process_name" or .name == "thread_name" then .args.name | type == "string"
		else false end | not)) | bad("metadata"))),
# slices: in order of time, each E ends the last open B, which has its name
(.traceEvents | map(select(.ph == "B" or .ph == "E")) | group_by([.pid, .tid])[]
	| reduce .[] as $e ({ open: [], ts: 0, bad: [] };
		(if $e.ts < .ts then .bad += ["time goes back: \($e | tojson)"] else . end) | .ts = $e.ts
		| if $e.ph == "B" then .open += [$e.name]
		elif (.open | length) == 0 then .bad += ["E without B: \($e | tojson)"]
		elif .open[-1] != $e.name then .bad += ["slices do not nest: \($e | tojson)"]
		else .open |= .[:-1] end)
	| .bad[], (select(.open | length > 0) | "slices that do not end: \(.open | tojson)")),
# counters: in order of time, with the same series
(.traceEvents | map(select(.ph == "C")) | group_by([.pid, .name])[]
	| (. as $c | first(range(1; length) | select($c[.].ts <= $c[. - 1].ts) | $c[.]
		| bad("a counter's time goes back")) // empty),
	(select((map(.args | keys) | unique | length) != 1) | .[0] | bad("a counter's series change"))),
# names of tracks: once each
(.traceEvents | map(select(.ph == "M" and .name == "thread_name")) | group_by([.pid, .tid])[] | select(length > 1)
	| .[0] | bad("a thread has two names")),
((.traceEvents | map(select(.ph == "M" and .name == "thread_name") | [.pid, .tid]) | unique) as $named
	| .traceEvents | map(select(.ph != "M") | [.pid, .tid]) | unique[] | select(IN($named[]) | not)
	| bad("a track without a name"))
