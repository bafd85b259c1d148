#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Bad input is refused in one clear line with an exit status that is not 0; partial results are kept.
. "$TOP/tests/lib.sh"
refuse "a program that does not exist" "not found\|no such" "$SOFTPMU" stat -- ./nowhere
touch plain; refuse "a file that is not executable" "permission\|not executable" "$SOFTPMU" stat -- ./plain
refuse "a directory" "directory" "$SOFTPMU" stat -- /tmp
while read -r wrong right; do
	refuse "an unknown event" "nearest: $right" "$SOFTPMU" stat -e "$wrong" -- true
done <<'E'
cycels cycles
cyles cycles
cycle cycles
instrs instructions
L1-dcache-load-mises L1-dcache-load-misses
mem_inst_retired.all_load MEM_INST_RETIRED[.]ALL_LOADS
mem_inst_retired:all_lods MEM_INST_RETIRED[.]ALL_LOADS
MEM_LOAD_RETIRED.L1_MIS MEM_LOAD_RETIRED[.]L1_MISS
E
refuse "unknown core" "nearest: golden-cove, golden-cove-client$" "$SOFTPMU" stat --core goldencove -- true
refuse "unknown core" "nearest: skylake$" "$SOFTPMU" stat --core sky-lake -- true
refuse "a core that resembles no known one" \
	"golden-cove, golden-cove-client.* skylake" "$SOFTPMU" stat --core zzzz -- true
refuse "unknown field" "nearest: rob[.]size, smt[.]rob$" "$SOFTPMU" stat --set robb=3 -- true
refuse "unknown field" "nearest: rob[.]size$" "$SOFTPMU" stat --set rob.entries=3 -- true
refuse "a field that resembles no known one" "softpmu cores" "$SOFTPMU" stat --set xyzzy=3 -- true
refuse "an event of ring 0" "user" "$SOFTPMU" record -e cycles:k -- true
refuse "attaching to a process" "attach" "$SOFTPMU" stat -p 1
refuse "an output file that cannot be written" "nowhere" "$SOFTPMU" stat -o /nowhere/x -- true
refuse "a perf.data that cannot be written" "nowhere" "$SOFTPMU" record -o /nowhere/x -- true
refuse "stat without a program" "program" "$SOFTPMU" stat
for c in stt stats sta; do refuse "an unknown command" "'$c'; nearest: stat (" "$SOFTPMU" "$c"; done
refuse "an unknown option" "option --nonsense (" "$SOFTPMU" stat --nonsense -- true
refuse "a misspelt option of stat" "--folow; nearest: --follow (" "$SOFTPMU" stat --folow -- true
refuse "a misspelt option of record" "nearest: --call-graph (" "$SOFTPMU" record --call-grpah=fp -- true
refuse "a misspelt option of report" "nearest: --percent-limit (" "$SOFTPMU" report --precent-limit 3
refuse "report of a file that does not exist" "nothing.data" "$SOFTPMU" report -i nothing.data
head -c 200 /dev/urandom >junk.data; refuse "report of random bytes" "perf" "$SOFTPMU" report -i junk.data
if [ -u /usr/bin/passwd ]; then refuse "a set-uid program" "set-\?uid" "$SOFTPMU" stat -- /usr/bin/passwd --help; fi
printf '\177ELF\2\1\1\0\0\0\0\0\0\0\0\0\2\0\267\0' >arm; head -c 100 /dev/zero >>arm; chmod +x arm
refuse "a program for another architecture" "x86" "$SOFTPMU" stat -- ./arm
if [ -w /dev/full ]; then refuse "output to a full disk" "space" "$SOFTPMU" stat -o /dev/full -- true; fi

# AVX-512: the error names it.
cat >avx512.S <<'S'
	.globl _start
_start:	vpaddd %zmm1, %zmm2, %zmm3
	mov $60, %eax
	xor %edi, %edi
	syscall
S
if gcc -nostdlib -static -o avx512 avx512.S 2>/dev/null; then
	"$SOFTPMU" stat -- ./avx512 >out 2>err
	code=$?
	{ [ $code != 0 ] && grep -q 'AVX-512' err; } && ok "AVX-512: $(grep AVX-512 err)" ||
		{ bad "AVX-512: exit $code" err; }
fi

# The tracer is killed during the run: the counts so far are printed, and the exit status is not 0.
rm -f out	# else wait_until could see the last program's output before the shell empties the file
"$SOFTPMU" stat -x, -e instructions -o counts -- "$PROGRAMS/dies" loop >out 2>err &
pid=$!
wait_until said working out	# printed after a million rounds
child=$(ps -o pid= --ppid $pid | head -n 1)
kill -s KILL "$child"; wait $pid; code=$?
n=$(awk -F, '/instructions/ { print $1 }' counts)
{ [ $code != 0 ] && [ "${n:-0}" -gt 1000000 ]; } &&
	ok "after the tracer is killed the counts are printed: $n instructions, $(cat err)" ||
	{ bad "killed tracer: exit $code, '$n'" err; }

# Ctrl-C ends the program, and stat and record still write their output.
for c in "stat -x, -e instructions" "record -c 10007"; do
	rm -f out
	# shellcheck disable=SC2086
	setsid env --default-signal=INT "$SOFTPMU" $c -o result -- "$PROGRAMS/dies" loop >out 2>err &
	pid=$!
	wait_until said working out
	kill -s INT -- -$pid; wait $pid; code=$?
	{ [ $code != 0 ] && [ -s result ]; } && ok "Ctrl-C in $c leaves its output: exit $code" ||
		{ bad "Ctrl-C in $c: exit $code" err; }
done
perf report --stdio -i result 2>&1 | grep -q main || bad "perf cannot read what Ctrl-C left"
exit $failed
