#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# softpmu topdown on real programs (bzip2, xz, sqlite3, python3) with short inputs; `make topdown` uses those of the
# benchmarks. On each preset with a full tree, level 1 adds up to 100 %, by formula and exactly, no share is negative,
# and each node but a few has a formula's value, an exact share and the difference. The value of every
# formula is the one that python3 computes from stat's counts of the same stream.
. "$TOP/tests/lib.sh"
programs=
export LC_ALL=C PYTHONHASHSEED=0 SOFTPMU TOP
awk 'BEGIN { s = 42; for (i = 0; i < 100; i++) { s = (s * 69069 + 1) % 4294967296;
	printf "%d line %d of text, value %x\n", s % 1000, i, s } }' >"$work/text"
cat >"$work/query.sql" <<'SQL'
CREATE TABLE t(a INTEGER, b TEXT);
WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x+1 FROM n WHERE x<200) INSERT INTO t SELECT x*7919%200, 'row '||x FROM n;
SELECT a%97, count(*), max(b) FROM t GROUP BY a%97 ORDER BY 2 DESC LIMIT 3;
SQL
save() {	# NAME PROGRAM ARGUMENTS...
	name=$1; shift
	command -v "$1" >/dev/null || return 0
	"$SOFTPMU" stat --set wrong_path=1 -e instructions --save-stream "$work/$name" -- "$@" \
		>/dev/null 2>"$work/err" && programs="$programs $name" ||
		{ bad "stream of $name"; cat "$work/err"; }
}
save bzip2 bzip2 -c "$work/text"
save xz xz -0 -T1 -c "$work/text"
save sqlite3 sqlite3 :memory: ".read $work/query.sql"
save python3 /usr/bin/python3 -S -E -c 'print(sum(range(100)))'
[ -n "$programs" ] || skip "none of bzip2, xz, sqlite3, python3 is installed"

for core in skylake ivy-bridge golden-cove; do
	for p in $programs; do
		"$SOFTPMU" topdown --core $core --set wrong_path=1 --stop 700000 --no-metrics -x, --replay "$work/$p" \
			2>"$work/csv"
		awk -F, -v what="$core $p" '
			BEGIN {	# no event counts them, or only one that looks for assists; no cause of slots is theirs
				split("Serializing_Operation Memory_Fence Assist_Stalls Other_Serializing " \
					"Streaming_Stores Assists CISC", name, " ")
				for (i in name) formula_less[name[i]]
				split("Other_Mispredicts Decoder0_Alone Assists", name, " ")
				for (i in name) exact_less[name[i]]
			}
			$1 == 1 { formula += $3; exact += $4; n++ }
			($3 != "" && $3 < 0) || ($4 != "" && $4 < 0) { print "FAILED " what ": negative: " $0;
				wrong = 1 }
			$3 == "" && !($2 in formula_less) { print "FAILED " what ": no formula: " $0; wrong = 1 }
			!($2 in formula_less) && !($2 in exact_less) &&
				($4 == "" || ($3 - $4 - $5) ^ 2 > 1e-11) {
				print "FAILED " what ": no exact share or another difference: " $0; wrong = 1 }
			END { if (n != 4 || (formula - 1) ^ 2 > 1e-10 || (exact - 1) ^ 2 > 1e-10) {
				print "FAILED " what ": level 1 sums to " formula ", " exact; wrong = 1 }
				exit wrong }' "$work/csv" &&
					ok "$core $p: level 1 adds up to 100 %, no share is negative" || failed=1
	done
done

cat >"$work/evaluate.py" <<'PY'
# evaluate.py CORE STREAM: every formula of data/metrics/CORE.tsv on stat's counts against what topdown says.
import math, os, re, subprocess, sys
core, stream = sys.argv[1:]
softpmu = os.environ["SOFTPMU"]
def run(*words):
    return subprocess.run([softpmu, *words, "--replay", stream], stderr=subprocess.PIPE, stdout=subprocess.DEVNULL, text=True).stderr
events, called, known, rows = [], {}, {}, []
for line in open(os.environ["TOP"] + "/data/metrics/" + core + ".tsv"):
    word = line.split()
    if line.startswith("@event"): events.append(word[-1] if len(word) > 3 else word[1]); called[events[-1]] = word[1]
    elif line.startswith("@const"): known[word[1].upper()] = float(word[2])
    elif line.strip() and line[0] not in "#@": rows.append(line.rstrip("\n").split("\t"))
while True:	# what the model refuses it names; the rest is counted, all in one run
    text = run("stat", "--core", core, "-x;", "-e", ",".join(events))
    lost = [e for e in events if "ASSIST" in e and "trace --assists" in text] or [e for e in events if "'" + e + "'" in text or text.startswith("softpmu: " + e + " ") or text.startswith("softpmu: " + e + ":")]
    if not lost: break
    events.remove(lost[0])
for line in text.splitlines():
    field = line.split(";")
    if len(field) > 3: known[called[re.sub("/u$", "/", re.sub(":u$", "", field[2]))].upper()] = float(field[0])
if "DURATION_TIME" in known: known["DURATION_TIME"] *= 1e-9
said = {}
for line in run("topdown", "--core", core, "-x,").splitlines():
    field = line.split(",")
    said[field[1]] = float(field[2]) if field[2] else math.nan
helper = {"min": min, "max": max, "IF": lambda c, a, b: a if c else b, "ratio": lambda a, b: 0 if a == b == 0 else a / b}
checked = wrong = 0
for name, parent, unit, formula, *rest in rows:
    text = re.sub(r"[A-Za-z_][A-Za-z0-9_.]*", lambda m: {"if": "IF"}.get(m[0], m[0]) if m[0] in ("if", "min", "max", "ratio") else "v('%s')" % m[0], formula)
    try: value = eval(text, dict(helper, v=lambda n: known[n.upper()])) if formula != "-" else None
    except ZeroDivisionError: value = math.nan
    except KeyError: value = None
    if value is None:
        if not math.isnan(said.get(name, math.nan)): print("FAILED", core, name, "has a value, but stat cannot count it"); wrong += 1
        continue
    known[name.upper()] = value
    if parent == ":info" or (math.isnan(value) and math.isnan(said.get(name, math.nan))): continue
    checked += 1
    if not abs(said.get(name, math.nan) - value) <= 1e-6 + 1e-9 * abs(value): print("FAILED", core, name, said.get(name), "python says", value); wrong += 1
print(checked, "formulas")
sys.exit(wrong > 0 or checked < 30)
PY
# shellcheck disable=SC2086
set -- $programs
if command -v python3 >/dev/null; then
	for core in skylake ivy-bridge golden-cove; do
		python3 "$work/evaluate.py" $core "$work/$1" >"$work/out" &&
			ok "$core: $(cat "$work/out") have the values that python3 computes from stat's counts" ||
			{ bad "$core: formulas"; cat "$work/out"; }
	done
fi
exit $failed
