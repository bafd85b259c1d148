#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# docs/json.md names every field that a command prints as JSON, with its type, and no other.
. "$TOP/tests/lib.sh"
need python3
cat >fields.py <<'P'
# fields.py PAGE SECTION [SUBSECTION]: reads JSON values from standard input; checks each against the page's table.
# SUBSECTION "-": the first field of each object is the name of its subsection.  Prints what is wrong, and keeps in the
# file "seen" which rows of the page occurred.  fields.py PAGE: prints the rows that no value had.
import json, re, sys
TABLES = ("instructions", "objects", "pages", "sets")

def rows(page):
    found, section, sub = {}, "", ""
    for line in open(page):
        if line.startswith("## "):
            section, sub = line[3:].strip(), ""
        elif line.startswith("### "):
            sub = line[4:].strip()
        m = re.match(r"\| `([^`]+)` \| ([a-z/]+) \|", line)
        if m:
            for table in TABLES if m[1].startswith("TABLE") else ("",):
                found.setdefault((section, sub), {})[m[1].replace("TABLE", table)] = m[2].split("/")
    return found

def kind(value):
    for type_, name in ((bool, "boolean"), (str, "string"), (dict, "object"), (list, "array"), (type(None), "null")):
        if isinstance(value, type_):
            return name
    return "number"

def walk(value, path, table, where):
    while ".calls[].calls[]" in path:	# the tree of callers repeats itself
        path = path.replace(".calls[].calls[]", ".calls[]")
    if path and not (path.endswith("[]") and isinstance(value, dict)) and path != "[]":
        if path not in table:
            print(f"{where}: the page does not name {path} ({kind(value)})")
        else:
            if kind(value) not in table[path]:
                print(f"{where}: {path} is {kind(value)}, the page says {'/'.join(table[path])}")
            seen.add(where + "|" + path)
    if isinstance(value, dict):
        for name, part in value.items():
            before = path + "." if path else ""
            named = before + name in table or before + "*" not in table
            walk(part, before + (name if named else "*"), table, where)
    elif isinstance(value, list):
        for part in value:
            walk(part, path + "[]", table, where)

def unique(pairs):
    if len(dict(pairs)) != len(pairs):
        raise ValueError("a field occurs twice: " + str(pairs)[:80])
    return dict(pairs)

page = rows(sys.argv[1])
seen = set(open("seen").read().split("\n")) if len(sys.argv) > 2 else set()
if len(sys.argv) == 2:
    seen = set(open("seen").read().split("\n"))
    for (section, sub), table in page.items():
        for row in table:
            # these need a setting that helps on this host, or one that cannot be set
            if section == "tune --native" and re.match(r"fresh|tried\[|chosen\[|settings\[\]\.why", row):
                continue
            # these need a program whose phases want different settings, or a search for energy
            if section in ("tune list", "tune show") and re.match(r"phases\[|.*energy-nj", row):
                continue
            if f"{section} {sub}|{row}" not in seen:
                print(f"{section} {sub}: no run had {row}")
    sys.exit()
section, sub = sys.argv[2], sys.argv[3] if len(sys.argv) > 3 else ""
text, at, values = sys.stdin.read(), 0, 0
decoder = json.JSONDecoder(object_pairs_hook=unique,
                           parse_constant=lambda word: (_ for _ in ()).throw(ValueError(word)))
while True:
    at += len(text[at:]) - len(text[at:].lstrip())
    if at >= len(text):
        break
    try:
        value, at = decoder.raw_decode(text, at)
    except ValueError as error:
        print(f"{section}: no JSON: {error}: {text[at:at + 60]!r}")
        break
    values += 1
    part = next(iter(value)) if sub == "-" else sub
    if (section, part) not in page:
        print(f"{section}: the page has no part '{part}'")
        continue
    walk(value, "", page[section, part], f"{section} {part}")
if not values:
    print(f"{section} {sub}: nothing was printed")
open("seen", "w").write("\n".join(sorted(seen)))
P
: >seen
page=$TOP/docs/json.md
# fits FILE SECTION [SUBSECTION]: the file is JSON, and the page names its fields.
fits() {
	file=$1; shift
	python3 fields.py "$page" "$@" <"$file" >wrong 2>&1
	if [ -s wrong ]; then bad "$*: what the page names" wrong; else ok "$*: what the page names"; fi
}
# Each makes out.json: of a command that prints to a file, and of one that prints to standard output.
to_file() { command=$1; shift; "$SOFTPMU" "$command" -j -o out.json "$@" >/dev/null 2>err || bad "$command $*" err; }
to_out() { "$SOFTPMU" "$@" >out.json 2>err || bad "$*" err; }
export SOFTPMU_STORE="$work/store"
work_="$PROGRAMS/work"

for options in "-e cycles,instructions" "-r 2 -e cycles" "--per-thread -e cycles" "-I 0.02 -e cycles" \
	"--sample=4K,500,500 -e cycles" "-M IPC" "--core skylake -e assists.any"; do
	# shellcheck disable=SC2086	# options are words
	to_file stat $options "$work_" 2000
	fits out.json stat
done
to_file stat --per-region -e cycles "$PROGRAMS/client"
fits out.json stat
to_file stat --metric-only "$work_" 10
fits out.json stat metric-only
for options in "" "--per function" "--one-pmu" "-I 0.02"; do
	# shellcheck disable=SC2086
	to_file topdown $options "$work_" 10
	fits out.json topdown
done
for options in "--pairs --worse --better --histogram -e mispredict,l1_miss,btb_miss,page_walk" \
	"--graph --slack --by instruction -e l1_miss,mispredict" "--graph --pairs --better -e mispredict,l1_miss" \
	"--sample=4K,500,500 --no-total"; do
	# shellcheck disable=SC2086
	to_file cost $options "$work_" 2000
	fits out.json cost -
done
# what-ifs, and a total time that is withheld
gcc -O1 -g -o walk "$TOP/docs/examples/walk.c" && to_file cost --core golden-cove ./walk
fits out.json cost -
# machines that are eliminated, then a program that fails
for p in true echo pwd cat; do bare_stream $p.trace /bin/$p >/dev/null; echo "stream $p $p.trace"; done >sweep.plan
printf 'core skylake\nset rob.size 224 24\nfeature dsb.size full 1/16\nenergy\neliminate 50 3\n' >>sweep.plan
"$SOFTPMU" sweep -q sweep.plan || bad "sweep"
to_out sweep report --json sweep.plan
fits out.json "sweep report"
head -c 3000 true.trace >cut.trace
printf 'stream cut cut.trace\ndraw 4 1\ndraw set rs.size 40..97\n' >>sweep.plan
"$SOFTPMU" sweep -q sweep.plan 2>/dev/null
to_out sweep report --json sweep.plan
fits out.json "sweep report"
"$SOFTPMU" gate --update --baseline whole.json "$work_" 10 >/dev/null 2>err || bad "gate --update" err
"$SOFTPMU" gate --update --baseline regions.json --regions "$PROGRAMS/client" >/dev/null 2>err ||
	bad "gate --regions" err
fits whole.json gate
fits regions.json gate
has "gate counts the entries of regions" '^        "entries": [1-9]' regions.json

to_file tune --features prefetch.l2_adjacent,prefetch.l2_depth --fresh "$PROGRAMS/churn"
fits out.json tune -
"$SOFTPMU" tune apply --feature l1d.size=1/2 "$work_" >/dev/null 2>err || bad "tune apply" err
to_out tune list -j
fits out.json "tune list"
for program in "$PROGRAMS/churn" "$work_"; do
	to_out tune show -j "$program"
	fits out.json "tune show"
done

for variant in "random-branch bad" "compile-flags bad"; do
	# shellcheck disable=SC2086
	"$SOFTPMU" tune --software -j -o out.json -- "$PROGRAMS/advice" $variant >/dev/null 2>&1 ||
		bad "tune --software $variant"
	fits out.json "tune --software"
done
# code that is inlined from headers of the system
c++ -std=c++17 -O2 -g -o ledger "$TOP/experiments/real/ledger.cc" || failed=1
"$SOFTPMU" tune --software -j -o out.json -- ./ledger 4000 2 >/dev/null 2>&1 || bad "tune --software ledger"
fits out.json "tune --software"
to_out tune --native --null --only glibc.malloc.tcache --process --blocks 10 --no-keep -j -- "$work_" 10
sed -n '/^{"machine"/p' out.json >native.json
fits native.json "tune --native"
"$SOFTPMU" record -q -g -c 997 -o chains.data "$work_" 300 >/dev/null || failed=1
"$SOFTPMU" record -q -b -c 9973 -o branches.data "$work_" 300 >/dev/null || failed=1
"$SOFTPMU" record -q --exact -o exact.data "$work_" 10 >/dev/null || failed=1
"$SOFTPMU" mem record -q -o mem.data "$work_" 10 >/dev/null || failed=1
to_out report --json -i chains.data
fits out.json report
to_out report --json -i branches.data -s symbol_from,symbol_to
fits out.json report
to_out report --json -i exact.data
fits out.json report exact
to_out mem report --json -i mem.data
fits out.json "mem report"

to_out list -j
fits out.json list
to_out cores -j
fits out.json cores
to_out cores golden-cove -j
fits out.json cores core
to_out cores skylake -j --features
fits out.json cores features
to_out cores -j --coverage "$PROGRAMS/denormals" core2
fits out.json cores coverage
to_out cpuid -j
fits out.json cpuid
to_out msr -j
fits out.json msr
to_out msr -j 0x186 0x4300c0
fits out.json msr value
to_out msr -j -e cycles,branch-misses:p -c 1000
fits out.json msr event
to_out block -j --asm 'imul rax, rbx; add rax, rbx'
fits out.json block

python3 fields.py "$page" >missing
if [ -s missing ]; then bad "every field of the page occurs" missing; else ok "every field of the page occurs"; fi
# The check itself: a field that the page does not name, and one of another type.
printf '{"core": 1, "colour": "red"}' | python3 fields.py "$page" cpuid >wrong
same "a field that is not named, and a wrong type, are found" "$(grep -c 'core is number\|not name colour' wrong)" 2
printf '{"core": nan}' | python3 fields.py "$page" cpuid >wrong
has "what is no JSON is found" 'no JSON' wrong
for command in $("$SOFTPMU" help | sed -n 's/^  \([a-z]*\) .*/\1/p'); do
	"$SOFTPMU" "$command" --help 2>/dev/null | grep -q -- '--json' || continue
	has "$command --json is on the page" "^## \(mem \)*$command\$" "$page"
done
exit $failed
