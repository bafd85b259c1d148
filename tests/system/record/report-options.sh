#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# `softpmu report` and `annotate`: sort keys, limits, source lines, JSON, JIT code, equal replays, and refusals.
. "$TOP/tests/lib.sh"
trap 'rm -rf "$work" ${jit:+/tmp/perf-$jit.map}' EXIT
jit=

"$SOFTPMU" record -q -g -c 4999 --save-stream stream -- "$PROGRAMS/work" 100000 >out 2>err </dev/null ||
	{ cat err; exit 1; }
"$SOFTPMU" report >out
has "report of call chains has a column of children" '^# Children      Self  Command  Shared Object' out
has "main's children include all that it calls" '^ *9[0-9]\.[0-9]*%  *[01]\.[0-9]*%  work     work .*\[.\] main$' out
has "report prints the call tree" '--[0-9.]*%--hot$' out
"$SOFTPMU" report --no-children -g none --percent-limit 5 >out
has "--no-children leaves the column out" '^# Overhead  Command' out
hasnt "-g none leaves the call trees out" '---' out
has "report shows the hot function" '\[.\] mix$' out
hasnt "--percent-limit 5 hides rows below 5 %" '^ *[0-4]\.[0-9]*%' out
"$SOFTPMU" report --no-children -g none --sort srcline >out
has "--sort srcline shows source lines" 'work\.c:1[1-3]$' out
"$SOFTPMU" report --no-children -g none --sort pid,tid,cpu -n >out
has "--sort pid,tid,cpu shows process, thread and CPU" '^ *100.00%  *[0-9][0-9]*  *[0-9]*:work  *[0-9]*:work  *000' out
"$SOFTPMU" report --json --no-children >out.json
if command -v python3 >/dev/null 2>&1; then
	python3 -c 'import json; e = json.load(open("out.json"))["events"][0]
assert e["event"] == "cycles:u" and e["samples"] > 100
assert sum(x["period"] for x in e["entries"]) == e["period"]
assert any(x["symbol"] == "mix" and x["overhead"] > 50 for x in e["entries"])' &&
		ok "the JSON output adds up and has the hot function" || bad "JSON"
fi
"$SOFTPMU" annotate mix >out
has "annotate shows source lines" ': 1[0-9][[:space:]]*x ^= x << 13;' out
has "annotate shows instructions" '^ *[0-9.]* : *[0-9a-f]*:   shl' out
"$SOFTPMU" annotate -s mix -l --no-source -M intel >out
has "annotate -M intel prints Intel syntax" '^ *[0-9.]* : *[0-9a-f]*:   shl    eax,0xd' out
"$SOFTPMU" annotate >out
has "annotate without a name shows the hot function" '<mix>:' out
[ "$(grep -m1 -n '<mix>:' out | cut -d: -f1)" -lt 6 ] && ok "annotate shows the hottest function first" ||
	bad "annotate: order"

# The same stream and the same command give the same bytes.
"$SOFTPMU" record -q -g -o replayed.data --replay stream && mv replayed.data first.data
"$SOFTPMU" record -q -g -o replayed.data --replay stream
cmp first.data replayed.data && ok "two replays write the same file" || bad "replays differ"

KEEP_MAP=1 "$SOFTPMU" record -q -c 5003 -o jit.data -- "$PROGRAMS/jit" >out 2>err </dev/null
"$SOFTPMU" report -i jit.data >out
jit=$(sed -n 's/.*\[JIT\] tid \([0-9]*\).*/\1/p' out | head -n 1)
has "report names JIT functions" '\[JIT\] tid [0-9]* .*\[.\] jit_big_loop$' out

"$SOFTPMU" report --sort overhead,symbol >out && "$SOFTPMU" report --sort symbol >plain && cmp -s out plain &&
	ok "overhead is a sort key, as in perf" ||
	bad "--sort overhead,symbol"
refuse "a file that does not exist" "No such file" "$SOFTPMU" report -i no-such-file
refuse "a file that is no perf.data" "not a perf.data" "$SOFTPMU" report -i "$PROGRAMS/work"
refuse "an unknown sort key" "flavour" "$SOFTPMU" report --sort comm,flavour
refuse "an unknown option" "--frobnicate" "$SOFTPMU" report --frobnicate
refuse "a limit that is no percentage" "percentage" "$SOFTPMU" report --percent-limit many
refuse "annotate of a symbol without samples" "no_such_function" "$SOFTPMU" annotate no_such_function
refuse "annotate of JIT code" "JIT" "$SOFTPMU" annotate -i jit.data jit_big_loop
head -c 3000 perf.data >cut.data
"$SOFTPMU" report -i cut.data >out 2>err || bad "cut file"
has "report of a truncated file says that it is cut short" "cut short" err
has "report of a truncated file shows the samples that are there" '\[.\]' out
exit $failed
