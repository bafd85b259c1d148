#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# `softpmu report --html`: the page holds every number of `report --json`, needs nothing but itself, and no name in
# the profile can become markup.  `record --html` keeps counts over time, whose sums are those of `stat`.
. "$TOP/tests/lib.sh"
need python3

# The program's name is hostile: it must stay text.
hostile='<!--<script>x'
cp "$PROGRAMS/inlined" "$hostile" || exit 1
"$SOFTPMU" record -q -g -c 1999 -e cycles:u,instructions:u --save-stream stream -o a.data -- "./$hostile" >out 2>err \
	</dev/null || { cat err; exit 1; }
"$SOFTPMU" record -q -c 2999 -o b.data --replay stream >out 2>err || { cat err; exit 1; }
"$SOFTPMU" report --json a.data >a.json
"$SOFTPMU" report --json b.data >b.json

cat >check.py <<'END'
import html.parser, json, sys

class Page(html.parser.HTMLParser):
    """Collects the tags and the data, and says what would make a browser ask for a file."""
    void = {"meta", "br", "input", "link", "img"}
    def __init__(self):
        super().__init__()
        self.open, self.outside, self.data, self.scripts, self.bad = [], [], "", 0, []
    def handle_starttag(self, tag, attrs):
        attrs = dict(attrs)
        if tag in ("link", "img", "iframe", "object", "embed", "base") or "src" in attrs or "href" in attrs:
            self.outside.append((tag, attrs))
        if tag not in self.void:
            self.open.append((tag, attrs.get("id")))
            self.scripts += tag == "script"
    def handle_endtag(self, tag):
        if not self.open or self.open.pop()[0] != tag:
            self.bad.append(tag)
    def handle_data(self, text):
        if self.open and self.open[-1] == ("script", "data"):
            self.data += text

def load(path):
    text = open(path, encoding="utf-8").read()
    page = Page()
    page.feed(text)
    page.close()
    assert not page.bad and not page.open, ("tags that do not match", page.bad, page.open)
    assert not page.outside, ("outside references", page.outside)
    assert "default-src 'none'" in text and "@@" not in text.replace(page.data, "")
    assert "<" not in page.data, "a < in the data"
    for word in ("http:", "https:", "eval(", "innerHTML", "XMLHttpRequest", "fetch(", "@import", "url("):
        assert word not in text.replace(page.data, ""), word
    return json.loads(page.data)

def sums(run, event):
    """(object, function) -> (self, total, samples), as profile.js adds them up"""
    s, f, p = run["strings"], run["functions"], run["profile"]
    parent, function = p["stacks"]["parent"], p["stacks"]["function"]
    n, weight = len(event["stack"]), event["weight"]
    name = lambda i: (s[f["object"][i]].rsplit("/", 1)[-1], s[f["name"][i]])
    out = {}
    for i in range(n):
        w = weight if isinstance(weight, int) else weight[i]
        node, leaf, seen = event["stack"][i] + 1, None, set()
        while node:
            k = function[node - 1]
            if leaf is None and not f["inlined"][k]:
                leaf = k
            seen.add((name(k), f["address"][k], f["inlined"][k]))
            node = parent[node - 1]
        for key, _, _ in seen:
            a, b, c = out.get(key, (0, 0, 0))
            out[key] = (a, b + w, c)
        a, b, c = out[name(leaf)]
        out[name(leaf)] = (a + w, b, c + 1)
    return out

def compare(run, report):
    assert run["profile"]["lost"] == report["lost"]
    assert [e["name"] for e in run["profile"]["events"]] == [e["event"] for e in report["events"]]
    for mine, its in zip(run["profile"]["events"], report["events"]):
        assert mine["samples"] == its["samples"] > 0 and mine["period"] == its["period"]
        assert all(len(mine[c]) == mine["samples"] for c in ("time", "thread", "stack"))
        want = {}
        for e in its["entries"]:
            name = e["symbol"] if not e["symbol"].startswith("0x") else ""
            a, b, c = want.get((e["dso"], name), (0, 0, 0))
            want[e["dso"], name] = (a + e["period"], b + e.get("children", e["period"]), c + e["samples"])
        have = sums(run, mine)
        assert set(have) == set(want), set(have) ^ set(want)
        for key in want:
            if key[1]:    # addresses without a symbol are entries of their own in the report
                assert have[key] == want[key], (key, have[key], want[key])
            else:
                assert have[key][0] == want[key][0] and have[key][2] == want[key][2], key

data = load(sys.argv[1])
assert data["format"] == 1 and len(data["runs"]) == len(sys.argv) - 2
for run, report in zip(data["runs"], sys.argv[2:]):
    compare(run, json.load(open(report)))
print("a page of", len(data["runs"]), "runs")
END

check "a page is written" "$SOFTPMU" report --html a.html a.data
check "the page has every number of report --json, and nothing from outside" python3 check.py a.html a.json
has "the program's name is in the data, escaped" 'u003c!--\\u003cscript>x' a.html
hasnt "and nowhere as markup" '<!--<script>x' a.html
check "a page compares two files" "$SOFTPMU" report --html ab.html --compare b.data a.data
check "it has both" python3 check.py ab.html a.json b.json
"$SOFTPMU" report --html - a.data >standard.html
same_files "- is standard output" a.html standard.html
"$SOFTPMU" report --html again.html a.data
same_files "a page repeats" a.html again.html

# record --html, of a stream: its counts over time add up to what stat counts, and report reads the file as ever.
check "record --html writes a page" "$SOFTPMU" record -q --html r.html -o r.data --replay stream
"$SOFTPMU" report --json r.data >r.json
check "it has every number of report --json" python3 check.py r.html r.json
"$SOFTPMU" report --cycles exact --json r.data >exact.json
"$SOFTPMU" stat -j -e cycles:u,instructions:u,branches:u,branch-misses:u --replay stream >stat.out 2>stat.json
cat >sums.py <<'END'
import json, re, sys
text = open("r.html", encoding="utf-8").read()
run = json.loads(re.search(r'<script id="data"[^>]*>(.*?)</script>', text, re.S).group(1))["runs"][0]
t, x = run["timeline"], run["exact"]
total = {c: sum(sum(th["values"][k]) for th in t["threads"]) for k, c in enumerate(t["columns"])}
stat = {}
for line in open("stat.json"):
    if line.startswith("{") and "event" in line:
        one = json.loads(line)
        stat[one["event"]] = float(one["counter-value"])
for event, column in ("cycles:u", "cycles"), ("instructions:u", "instructions"), ("branches:u", "branches"), \
        ("branch-misses:u", "mispredicts"):
    assert stat[event] == total[column] > 0, (event, stat[event], total[column])
assert sum(v for c, v in total.items() if "." in c) == t["width"] * total["cycles"], "slots"
assert max(max(th["values"][0]) for th in t["threads"]) <= t["cycles"] and t["intervals"] <= 1024
exact = json.load(open("exact.json"))
assert x["cycles"] == exact["cycles"] == total["cycles"]
by = {c["name"]: sum(c["cycles"]) for c in x["causes"]}
assert by == exact["causes"], (by, exact["causes"])
assert sum(x["instructions"]) == total["instructions"]
END
check "counts over time add up to those of stat, slots to the width, causes to those of the exact profile" \
	python3 sums.py || cat stat.json
head -c 100000 r.data >cut.data
"$SOFTPMU" report --html cut.html cut.data >out 2>err; code=$?
[ $code -lt 2 ] && ok "a file that was cut is no trouble" || bad "a file that was cut: exit $code" err
refuse "--html and -o -" "does not go with -o -" "$SOFTPMU" record --html p.html -o - --replay stream

refuse "a folder that is not there" "cannot write" "$SOFTPMU" report --html none/a.html a.data
refuse "a file that is not there" "none.data" "$SOFTPMU" report --html x.html --compare none.data a.data
cp a.data same.data
refuse "the page over its own recording" "would overwrite" "$SOFTPMU" report --html same.data same.data
cmp -s a.data same.data && ok "the recording is untouched" || bad "the recording is gone"
refuse "--compare alone" "goes with --html" "$SOFTPMU" report --compare b.data a.data
[ ! -e x.html ] && ok "a refused page leaves no file" || bad "a refused page leaves no file"
exit $failed
