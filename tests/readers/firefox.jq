# SPDX-License-Identifier: GPL-2.0-or-later
# Reads a processed profile of the Firefox Profiler, version 58, and prints a line for each rule of its description that
# it breaks: https://github.com/firefox-devtools/profiler, src/types/profile.ts, docs-developer/CHANGELOG-formats.md.
# Prints nothing for a sound profile: jq -r -f firefox.jq FILE
def whole: type == "number" and . == floor;
def index_below($n): whole and . >= 0 and . < $n;
def null_or(f): . == null or f;
def text: type == "string";
# The table's columns, all of its length.
def table($name; $columns):
	if type != "object" then "\($name) is not there"
	elif (.length | whole | not) then "\($name) has no length"
	else . as $t | $columns[] as $c
		| if ($t[$c] | type) != "array" then "\($name).\($c) is not there"
		elif ($t[$c] | length) != $t.length then "\($name).\($c) has another length" else empty end
	end;
# The first row of a column for which f does not hold.
def each($name; f): . as $column | first(range(length) | . as $i | select($column[$i] | f | not)
	| "\($name)[\(.)] is \($column[$i])") // empty;
. as $p | (.libs | length) as $libs | (.shared.stringArray | length) as $strings
| (.shared.sources.length) as $sources | (.meta.categories) as $categories
| (if .meta.preprocessedProfileVersion != 58 then "another version" else empty end),
(.meta | (["interval", "startTime", "processType", "version"][] as $k
		| select(.[$k] | type != "number") | "meta.\($k)"),
	(select(.interval <= 0) | "meta.interval is not above 0"),
	(select(.product | text | not) | "meta.product"),
	(select(.stackwalk != 0 and .stackwalk != 1) | "meta.stackwalk"),
	(select(.markerSchema | type != "array") | "meta.markerSchema"),
	(select(any(.categories[]; .color == "grey") | not) | "no category is grey"),
	(select(all(.categories[]; (.name | text) and (.subcategories | length > 0)) | not) | "a category")),
(.libs[] | select(all(.arch, .name, .path, .debugName, .debugPath, .breakpadId; text) | not) | "a library"),
(.libs[] | select(.codeId | null_or(text) | not) | "codeId"),
(.shared.stringArray | each("stringArray"; text)),
(select((.shared.stringArray | unique | length) != $strings) | "a string comes twice"),
(.shared.sources | table("sources"; ["uuid", "filename"])),
(.shared.sources.filename | each("filename"; index_below($strings))),
(select(.threads | length == 0) | "no thread"),
(select(([.threads[] | [.pid, .tid]] | unique | length) != (.threads | length)) | "two threads have the same number"),
(.threads | to_entries[] | "threads[\(.key)]" as $at | .value
	| (select(.pid | text | not) | "\($at).pid"),
	(select(.tid | type != "number" and (text | not)) | "\($at).tid"),
	(select(.name | text | not) | "\($at).name"),
	(select(.isMainThread | type != "boolean") | "\($at).isMainThread"),
	(select(.processType | text | not) | "\($at).processType"),
	(["processStartupTime", "registerTime"][] as $k | select(.[$k] | type != "number") | "\($at).\($k)"),
	(["processShutdownTime", "unregisterTime"][] as $k
		| select(.[$k] | null_or(type == "number") | not) | "\($at).\($k)"),
	(select(.pausedRanges | type != "array") | "\($at).pausedRanges"),
	.frameTable.length as $frames | .funcTable.length as $funcs | .stackTable.length as $stacks
	| .resourceTable.length as $resources | .nativeSymbols.length as $symbols
	| (.samples | table("\($at).samples"; ["stack", "time", "weight"])),
	(.samples.stack | each("\($at).samples.stack"; null_or(index_below($stacks)))),
	(.samples.time | . as $t
		| first(range(1; length) | select($t[.] < $t[. - 1]) | "\($at): time goes back") // empty),
	(.samples.weight | each("\($at).samples.weight"; whole and . >= 0)),
	(select(.samples.weightType != "samples") | "\($at).samples.weightType"),
	(.markers | table("\($at).markers"; ["data", "name", "startTime", "endTime", "phase", "category"])),
	(.stackTable | table("\($at).stackTable"; ["frame", "prefix"])),
	(.stackTable.frame | each("\($at).stackTable.frame"; index_below($frames))),
	(.stackTable.prefix | . as $x | first(range(length)
		| . as $i | select($x[$i] | null_or(index_below($i)) | not)
		| "\($at).stackTable.prefix[\($i)] is \($x[$i])") // empty),
	(.frameTable | table("\($at).frameTable"; ["address", "inlineDepth", "category", "subcategory", "func",
		"nativeSymbol", "innerWindowID", "line", "column"])),
	(.frameTable.address | each("\($at).frameTable.address"; whole and . >= -1)),
	(.frameTable.inlineDepth | each("\($at).frameTable.inlineDepth"; whole and . >= 0)),
	(.frameTable.category | each("\($at).frameTable.category"; null_or(index_below($categories | length)))),
	(.frameTable | . as $f | first(range($frames) | select($f.category[.] != null and
		($f.subcategory[.] | index_below($categories[$f.category[.]].subcategories | length) | not))
		| "\($at).frameTable.subcategory") // empty),
	(.frameTable.func | each("\($at).frameTable.func"; index_below($funcs))),
	(.frameTable.nativeSymbol | each("\($at).frameTable.nativeSymbol"; null_or(index_below($symbols)))),
	(.frameTable.line, .frameTable.column | each("\($at).frameTable.line"; null_or(whole and . > 0))),
	(.funcTable | table("\($at).funcTable"; ["name", "isJS", "relevantForJS", "resource", "source", "lineNumber",
		"columnNumber"])),
	(.funcTable.name | each("\($at).funcTable.name"; index_below($strings))),
	(.funcTable.isJS, .funcTable.relevantForJS | each("\($at).funcTable.isJS"; type == "boolean")),
	(.funcTable.resource | each("\($at).funcTable.resource"; . == -1 or index_below($resources))),
	(.funcTable.source | each("\($at).funcTable.source"; null_or(index_below($sources)))),
	(.resourceTable | table("\($at).resourceTable"; ["lib", "name", "host", "type"])),
	(.resourceTable.lib | each("\($at).resourceTable.lib"; null_or(index_below($libs)))),
	(.resourceTable.name | each("\($at).resourceTable.name"; index_below($strings))),
	(.resourceTable.type | each("\($at).resourceTable.type"; . == 1)),
	(.nativeSymbols | table("\($at).nativeSymbols"; ["libIndex", "address", "name", "functionSize"])),
	(.nativeSymbols.libIndex | each("\($at).nativeSymbols.libIndex"; index_below($libs))),
	(.nativeSymbols.address | each("\($at).nativeSymbols.address"; whole and . >= 0)),
	(.nativeSymbols.name | each("\($at).nativeSymbols.name"; index_below($strings))),
	(.nativeSymbols.functionSize | each("\($at).nativeSymbols.functionSize"; null_or(whole and . >= 0))))
