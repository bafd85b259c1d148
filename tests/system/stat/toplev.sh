#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# toplev of pmu-tools can use softpmu instead of perf (PERF=softpmu). Debian 12 does not package toplev, so this test
# repeats its probes and its command lines, with a terminal as the output descriptor, and parses the output as toplev
# does. Requests that softpmu does not support are refused with their names. Source of the command lines: pmu-tools,
# toplev.py, PerfFeatures, perf_args, do_execute.
. "$TOP/tests/lib.sh"
command -v python3 >/dev/null || skip "python3 is not installed"
export SOFTPMU
reps="$PROGRAMS/reps"

# Probes: toplev looks only at the exit status.
"$SOFTPMU" stat --log-fd 3 "$reps" 3>/dev/null >/dev/null 2>&1 && ok "probe: --log-fd" || bad "probe: --log-fd"
"$SOFTPMU" list duration_time | grep -q duration_time && ok "probe: duration_time" || bad "probe: duration_time"
"$SOFTPMU" stat -e '{branches,branches,branches,branches}:e' "$reps" >/dev/null 2>&1 && ok "probe: exclusive groups" ||
	bad "probe: exclusive groups"
"$SOFTPMU" --version | grep -q '^softpmu [0-9]' && ok "probe: --version" || bad "probe: --version"
refuses() {	# WORDS OPTION...
	words=$1; shift
	"$SOFTPMU" stat "$@" "$reps" >"$work/out" 2>&1 && bad "$*: not refused"
	grep -q -- "$words" "$work/out" && ok "refused by name: $*" || { bad "$*"; cat "$work/out"; }
}
refuses 'option -a: only the given program is traced' -e power/energy-cores/ -a
refuses 'option --percore-show-thread: no event counts by core' --percore-show-thread
"$SOFTPMU" stat -e '{cpu/event=0x2a,umask=1,offcore_rsp=0x8003c0001/,instructions}' "$reps" >/dev/null 2>&1 &&
	ok "probe: offcore_rsp=" || bad "probe: offcore_rsp="
refuses 'it names no supplier' -e '{cpu/event=0x2a,umask=1,offcore_rsp=0x123/,instructions}'
refuses 'option -A: ' -x\; -A -e cycles
uncounted 'another PMU' "'msr/tsc/': only the core's own PMU is modelled" "$SOFTPMU" stat -e msr/tsc/ "$reps"
"$SOFTPMU" stat -x, -e '{slots,topdown-retiring}' "$reps" >/dev/null 2>"$work/out"
[ "$(grep -c '^[1-9][0-9]*,,\(slots\|topdown-retiring\)' "$work/out")" -eq 2 ] &&
	ok "probe: slots and a metric in a group" || { bad "probe: slots and a metric in a group"; cat "$work/out"; }

"$SOFTPMU" stat -e instructions --set wrong_path=1 --save-stream "$work/stream" -- "$PROGRAMS/topdown" mispredict 500 \
	>/dev/null 2>&1
cat >"$work/toplev.py" <<'PY'
import os, pty, re, subprocess, sys, tempfile
softpmu, stream = os.environ["SOFTPMU"], sys.argv[1]
def plain(event): return re.sub(r":[ku]+", "", re.sub(r"/[ku]+", "/", event))
def measure(groups, rest, interval=None):
    flat = [e for g in groups for e in g]
    words = ",".join("{%s}" % ",".join(g) if len(g) > 1 else g[0] for g in groups)
    master, slave = pty.openpty()
    os.set_inheritable(slave, True)
    run = subprocess.Popen([softpmu, "stat", "-x;", "--log-fd", str(slave)] + (["-I", interval] if interval else []) \
        + ["-e", words] + rest,
        close_fds=False, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    os.close(slave)
    out, times, rows = os.fdopen(master, "r"), [], []
    try:
        for line in out:
            if line.startswith("#") or not line.strip(): continue
            line = line.rstrip()
            if interval:
                m = re.match(r"\s+([0-9.]{9,});(.*)", line)
                if not m: sys.exit("no time: " + line)
                if not times or times[-1] != m[1]: times.append(m[1]); rows.append([])
                line = m[2]
            elif not rows: rows.append([])
            field = [f for f in line.split(";") if f not in ("", "Joules", "ns")]
            rows[-1].append((plain(field[1]), field[0], float(field[3])))
    except OSError: pass	# the terminal's other end was closed
    says = run.stderr.read()
    if run.wait(): sys.exit("softpmu: " + says)
    for row in rows:	# each event in its place, spelled as it was given
        if [r[0] for r in row] != [plain(e) for e in flat]: sys.exit("events do not match: %s" % row)
        for r in row:
            if not re.match(r"\s*[0-9.]+", r[1]) or r[2] != 100: sys.exit("no count, or multiplexed: %s" % (r,))
    return [dict((r[0], float(r[1])) for r in row) for row in rows]
def level1(core):
    csv = subprocess.run([softpmu, "topdown", "--core", core, "-x,", "-l", "1", "--no-metrics", "--no-exact", \
        "--replay", stream], stderr=subprocess.PIPE, text=True).stderr
    return {f[1]: float(f[2]) for f in (l.split(",") for l in csv.splitlines())}
def ev(event, umask, more=""): return "cpu/event=0x%x,umask=0x%x%s/" % (event, umask, more)
bubbles, slots, issued = ev(0x9c, 1), ev(0xc2, 2), ev(0xe, 1)
for core, recovery, more in (("skylake", ev(0xd, 1), [ev(0xa3, 0x14, ",cmask=20"), ev(0xa6, 0x40), ev(0xc3, 1, \
    ",edge=1,cmask=1"), ev(0xc5, 0)]),
                   ("ivy-bridge", ev(0xd, 3, ",cmask=1"), [ev(0xa3, 6, ",cmask=6"), ev(0xa2, 8), ev(0xc3, 1, \
                       ",edge=1,cmask=1"), ev(0xc5, 0)])):
    rest = ["--core", core, "--replay", stream]
    (c,) = measure([[bubbles, "cycles"], [slots, issued, recovery, "cycles"], ["emulation-faults"], ["cycles", \
        "instructions"], more, ["duration_time"], ["dummy"]], rest)
    s = 4 * c["cycles"]
    want = {"Frontend_Bound": c[bubbles] / s, "Retiring": c[slots] / s}
    want["Bad_Speculation"] = (c[issued] - c[slots] + 4 * c[recovery]) / s
    for name, value in want.items():
        is_ = level1(core)[name]
        if abs(is_ - value) > 2e-6: sys.exit("%s: %s is %f, toplev's is %f" % (core, name, is_, value))
    parts = measure([[bubbles + "u", "cycles:u"], [slots + "u"]], rest, "0.002")
    if len(parts) < 3 or sum(p[bubbles] for p in parts) != c[bubbles] or sum(p["cycles"] for p in parts) != c["cycles"]:
        sys.exit("%s: %d intervals do not sum to the whole" % (core, len(parts)))
    print(core, "served,", len(parts), "intervals")
PY
python3 "$work/toplev.py" "$work/stream" >"$work/out" 2>&1 && ok "toplev's runs: $(tr '\n' ' ' <"$work/out")" ||
	{ bad "toplev's runs"; cat "$work/out"; }
# toplev's other options: --per-thread works; -o together with --log-fd is refused.
"$SOFTPMU" stat -x\; --per-thread -o "$work/threads" -e "{cpu/event=0xc2,umask=0x2/,cycles}" "$reps" >/dev/null 2>&1
grep -q '^reps-[0-9]*;[0-9]*;;cpu/event=0xc2,umask=0x2/u;[0-9]*;100.00;' "$work/threads" && ok "--per-thread" ||
	{ bad "--per-thread"; cat "$work/threads"; }
refuses '-o and --log-fd exclude each other' -x\; --log-fd 1 -o "$work/x" -e cycles
exit $failed
