#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# `softpmu report` and `annotate`: keys, limits, source lines, JSON, JIT code, replays that repeat, and what is refused.
set -u
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work" ${jit:+/tmp/perf-$jit.map}' EXIT
cd "$work" || exit 1
failed=0 jit=
has() { if grep -q -- "$2" "$3"; then echo "ok $1"; else echo "FAILED $1: no '$2' in"; head -n 30 "$3"; failed=1; fi; }
hasnt() { if grep -q -- "$2" "$3"; then echo "FAILED $1: '$2' in"; head -n 30 "$3"; failed=1; else echo "ok $1"; fi; }
refuse() {	# NAME WORD command...
	name=$1 word=$2; shift 2
	"$SOFTPMU" "$@" >out 2>err </dev/null; code=$?
	if [ "$code" != 0 ] && [ "$(grep -c . err)" = 1 ] && grep -q -- "$word" err; then echo "ok $name"
	else echo "FAILED $name: exit $code, wanted one line with '$word'"; cat err; failed=1; fi
}

"$SOFTPMU" record -q -g -c 4999 --save-stream stream -- "$PROGRAMS/work" 100000 >out 2>err </dev/null || { cat err; exit 1; }
"$SOFTPMU" report >out
has "children column" '^# Children      Self  Command  Shared Object' out
has "main with all it calls" '^ *9[0-9]\.[0-9]*%  *[01]\.[0-9]*%  work     work .*\[.\] main$' out
has "call tree" '--[0-9.]*%--hot$' out
"$SOFTPMU" report --no-children -g none --percent-limit 5 >out
has "no children" '^# Overhead  Command' out
hasnt "no trees" '---' out
has "the hot function" '\[.\] mix$' out
hasnt "limit" '^ *[0-4]\.[0-9]*%' out
"$SOFTPMU" report --no-children -g none --sort srcline >out
has "source lines" 'work\.c:1[1-3]$' out
"$SOFTPMU" report --no-children -g none --sort pid,tid,cpu -n >out
has "process, thread, cpu" '^ *100.00%  *[0-9][0-9]*  *[0-9]*:work  *[0-9]*:work  *000' out
"$SOFTPMU" report --json --no-children >out.json
if command -v python3 >/dev/null 2>&1; then
	python3 -c 'import json; e = json.load(open("out.json"))["events"][0]
assert e["event"] == "cycles:u" and e["samples"] > 100
assert sum(x["period"] for x in e["entries"]) == e["period"]
assert any(x["symbol"] == "mix" and x["overhead"] > 50 for x in e["entries"])' && echo "ok JSON" || { echo "FAILED JSON"; failed=1; }
fi
"$SOFTPMU" annotate mix >out
has "annotate: source" ': 1[0-9][[:space:]]*x ^= x << 13;' out
has "annotate: instructions" '^ *[0-9.]* : *[0-9a-f]*:   shl' out
"$SOFTPMU" annotate -s mix -l --no-source -M intel >out
has "annotate: Intel syntax" '^ *[0-9.]* : *[0-9a-f]*:   shl    eax,0xd' out
"$SOFTPMU" annotate >out
has "annotate: hottest first" '<mix>:' out
[ "$(grep -m1 -n '<mix>:' out | cut -d: -f1)" -lt 6 ] && echo "ok annotate: mix leads" || { echo "FAILED annotate: order"; failed=1; }

# The same stream and the same command: the same bytes.
"$SOFTPMU" record -q -g -o replayed.data --replay stream && mv replayed.data first.data
"$SOFTPMU" record -q -g -o replayed.data --replay stream
cmp first.data replayed.data && echo "ok replays repeat" || { echo "FAILED replays differ"; failed=1; }

KEEP_MAP=1 "$SOFTPMU" record -q -c 5003 -o jit.data -- "$PROGRAMS/jit" >out 2>err </dev/null
"$SOFTPMU" report -i jit.data >out
jit=$(sed -n 's/.*\[JIT\] tid \([0-9]*\).*/\1/p' out | head -n 1)
has "JIT code has names" '\[JIT\] tid [0-9]* .*\[.\] jit_big_loop$' out

"$SOFTPMU" report --sort overhead,symbol >out && "$SOFTPMU" report --sort symbol >plain && cmp -s out plain && echo "ok overhead is a sort key, as in perf" ||
	{ echo "FAILED --sort overhead,symbol"; failed=1; }
refuse "no file" "No such file" report -i no-such-file
refuse "not a perf.data" "not a perf.data" report -i "$PROGRAMS/work"
refuse "unknown key" "flavour" report --sort comm,flavour
refuse "unknown option" "--frobnicate" report --frobnicate
refuse "a percentage" "percentage" report --percent-limit many
refuse "a symbol nobody hit" "no_such_function" annotate no_such_function
refuse "annotate JIT code" "JIT" annotate -i jit.data jit_big_loop
head -c 3000 perf.data >cut.data
"$SOFTPMU" report -i cut.data >out 2>err || { echo "FAILED cut file"; failed=1; }
has "a cut file: says so" "cut short" err
has "a cut file: what there is" '\[.\]' out
exit $failed
