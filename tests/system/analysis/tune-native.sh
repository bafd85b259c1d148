#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# softpmu tune --native and run --native: the settings of the machine are listed; a setting that certainly gains is
# found, kept and applied again; the machine is restored whichever process is killed. The machine's registers are files
# here, and the settings decide how long the program runs or whether it fails, so noise of the host does not matter.
. "$TOP/tests/lib.sh"
export SOFTPMU_STORE="$work/store" SOFTPMU_NATIVE_ROOT="$work/root"
unset GLIBC_TUNABLES
mkdir -p root/dev/cpu/0 root/dev/cpu/1 root/proc/sys/kernel/random root/proc/sys/vm root/sys/fs/resctrl/info \
	root/sys/kernel/mm/transparent_hugepage root/run \
	root/sys/devices/system/node
printf 'vendor_id\t: GenuineIntel\ncpu family\t: 6\nmodel\t\t: 85\n' >root/proc/cpuinfo
echo 11111111-2222 >root/proc/sys/kernel/random/boot_id
echo 'always [madvise] never' >root/sys/kernel/mm/transparent_hugepage/enabled
echo 0 >root/sys/devices/system/node/has_memory
echo 'L3:0=ff' >root/sys/fs/resctrl/schemata
# 1A4H is at byte 420
reset() { for c in 0 1; do { head -c 420 /dev/zero; printf '\040\0\0\0\0\0\0\0'; } >root/dev/cpu/$c/msr; done; }
msr() { od -An -tu1 -j420 -N1 "root/dev/cpu/$1/msr" | tr -d ' '; }
machine() { echo "$(msr 0) $(msr 1) $(cat root/sys/fs/resctrl/schemata)"; }
reset
usual=$(machine)
is() { [ "$(machine)" = "$1" ]; }

# The settings that the machine has, and why it lacks others.
"$SOFTPMU" tune --native --list -- sh >list 2>err
check "--list has registers, caches and tunables" grep \
	-q 'prefetch.l2_streamer=off prefetch.l2_adjacent=off prefetch.l1d_next_line=off prefetch.l1d_ip=off' list
check "--list distinguishes settings of the machine and of the process" sh \
	-c "grep -q '^ *machine  *l3.ways=half' list && grep -q '^ *process  *glibc.malloc.arena_max=1' list"
check "--list says why a setting is not available" grep -q 'numa: memory is all in one node' list
"$SOFTPMU" tune --native --list -j -- sh >list.json 2>>err
check "--list -j has settings and missing knobs" python3 -c '
import json; d = json.load(open("list.json"))
assert any(s["set"] == ["l3.ways=half"] and s["of"] == "machine" for s in d["settings"]) and \
    any(a["knob"] == "numa" for a in d["absent"])'
rm root/dev/cpu/1/msr
"$SOFTPMU" tune --native --list -- sh >list 2>>err
check "a register that one processor lacks is not available" grep -q 'prefetch.*: .*/dev/cpu/1/msr: No such file' list
reset

# A program that one setting makes fast and another makes fail, and that prints its settings.
cat >program <<'END'
#!/bin/sh
case $GLIBC_TUNABLES in
*tcache_count=0*) exit 3 ;;
*tcache_count=127*) n=0 ;;
*) n=15000 ;;
esac
while [ $n -gt 0 ]; do n=$((n - 1)); done
echo "${GLIBC_TUNABLES:-nothing}"
END
chmod +x program
"$SOFTPMU" tune --native --only glibc.malloc.tcache --blocks 10 -- ./program >tune 2>err || cat err
check "a setting that gains is found" grep -q ' gain  *glibc.malloc.tcache_count=127$' tune
check "a setting that makes the program fail is excluded" grep \
	-q 'failed  *glibc.malloc.tcache_count=0: exit status 3 instead of exit status 0' tune
check "the gain is confirmed by fresh runs" grep -q 'fresh runs: .* in 10 blocks, p 0.00.*: confirmed' tune
check "the setting is kept" sh -c '"$SOFTPMU" tune list | grep -q "native .*program: glibc.malloc.tcache_count=127"'
"$SOFTPMU" run --native -- ./program >out 2>err
check "run --native applies the kept setting" [ "$(cat out)" = glibc.malloc.tcache_count=127 ]
check "run --native names the setting" grep -q 'program runs with glibc.malloc.tcache_count=127 (cpu time -' err
sed 's/tcache_count=127/arena_max=1/; s/=0\*/=7*/' program >other; chmod +x other
"$SOFTPMU" run --native -- ./other >out 2>err
check "another program runs without the setting" sh \
	-c 'grep -q nothing out && grep -q "no settings of this machine are kept for ./other" err'
"$SOFTPMU" tune --native --only glibc.malloc.arena --blocks 10 -- ./other >tune 2>err || cat err
for p in program other program; do "$SOFTPMU" run --native -q -- ./$p; done >out 2>err
check "A, B, A: each run has its own setting" \
	[ "$(tr '\n' ' ' <out)" \
	= 'glibc.malloc.tcache_count=127 glibc.malloc.arena_max=1 glibc.malloc.tcache_count=127 ' ]
check "-q prints nothing" [ ! -s err ]
"$SOFTPMU" tune --native --null --only glibc.malloc.tcache --blocks 10 -j -- ./other >null.json 2>err
check "--null sets nothing and keeps nothing" python3 -c '
import json; d = json.load(open("null.json"))
assert d["null"] and len(d["settings"]) == 2 and all(s["verdict"] != "failed" and abs(s["cpu"]["saved"]) \
    < 0.9 for s in d["settings"])'
check "--null leaves the profile unchanged" [ "$("$SOFTPMU" run --native -q -- ./other)" = glibc.malloc.arena_max=1 ]

# The machine is restored when the program ends, and the exit status is the program's.
"$SOFTPMU" run --native --setting prefetch.l2_adjacent=off --setting l3.ways=half -- \
	sh -c 'od -An -tu1 -j420 -N1 root/dev/cpu/1/msr; cat root/sys/fs/resctrl/schemata
		grep -l . root/sys/fs/resctrl/softpmu.*/tasks; exit 7' >out 2>err
check "the exit status is the program's" [ $? = 7 ]
check "the program runs with the requested settings" [ "$(tr -d ' ' <out | sed 's/softpmu[.].*/GROUP/' |
	tr '\n' ' ')" = '34 L3:0=f root/sys/fs/resctrl/GROUP ' ]
check "the machine is restored when the program ends" is "$usual"

start() { # WHAT: starts a program with settings; its PID is in $pid, softpmu's in $own
	"$SOFTPMU" run --native --setting prefetch.l2_adjacent=off --setting l3.ways=half -- sh \
		-c 'echo $$ >pid; exec sleep 100' 2>err & own=$!
	wait_until test -s pid
	pid=$(cat pid); rm pid
	check "the machine is set while $1" is "34 34 L3:0=f"
}
start "a program runs that gets a signal"
kill -TERM $own
wait $own
check "the signal is passed on" [ $? = 143 ]
check "the machine is restored after a signal" is "$usual"

start "softpmu is killed"
kill -KILL $own
wait $own 2>/dev/null
check "the guard restores the machine" wait_until is "$usual"
check "the program runs on" kill -0 "$pid"
kill -KILL "$pid"

start "softpmu and its guard are killed"
for f in /proc/[0-9]*/stat; do
	{ read -r child _ _ parent _ <"$f"; } 2>/dev/null || continue
	[ "$parent" = $own ] && [ "$child" != "$pid" ] && kill -KILL "$child"
done
kill -KILL $own
wait $own 2>/dev/null
wait_until gone $own
check "the machine keeps the settings" is "34 34 L3:0=f"
kill -KILL "$pid"
"$SOFTPMU" run --native -- true >out 2>err
check "the next start of softpmu restores the machine" is "$usual"
check "the next start says what it restored" grep -q 'put back 4 values of the machine' err

# A search that a signal ends restores the machine, too.
"$SOFTPMU" tune --native --only l3 -- sleep 1 >out 2>err & own=$!
divided() { test -d root/sys/fs/resctrl/softpmu.*; }
wait_until divided
kill -TERM $own
wait $own
check "a search ends with the signal's status" [ $? = 143 ]
check "an ended search has restored the machine" is "$usual"
check "an ended search says that it was interrupted" grep -q interrupted err

refuse "a command without a program" "no program given" "$SOFTPMU" tune --native
refuse "an unknown option" "nearest: --process" "$SOFTPMU" tune --native --proces -- true
refuse "an unknown measure" "not cpu or wall" "$SOFTPMU" tune --native --measure x -- true
refuse "a program that does not exist" "no-such" "$SOFTPMU" tune --native -- ./no-such
refuse "a program that a signal kills" "ends by signal 9" "$SOFTPMU" tune --native -- sh -c 'kill -9 $$'
refuse "an unknown knob" "no knob 'x'" "$SOFTPMU" run --native --setting x=1 -- true
refuse "an unknown value" "thp has values off" "$SOFTPMU" run --native --setting thp=1 -- true
refuse "a setting that the machine rejects" "cpu=8191" "$SOFTPMU" run --native -q --setting cpu=8191 -- true
refuse "a setting that this machine does not have" \
	"no such setting on this machine" "$SOFTPMU" tune --native --only nonsense -- true
exit $failed
