#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Every command runs once on a small program under the address and undefined-behaviour sanitizers.  A plain build reads
# beyond an array, or a flag that nobody set, without a word.  `make check SAN=1` runs all tests so, and takes much
# longer.  The sanitized program is that of the fuzzers' build (tests/fuzz/fuzz.mk).
. "$TOP/tests/lib.sh"
san=$SOFTPMU
case $SOFTPMU in */build/san/softpmu) ;; *) san=$TOP/build/fuzz/softpmu ;; esac
[ -x "$san" ] || skip "build/fuzz/softpmu is not built (make fuzz)"
export ASAN_OPTIONS=detect_leaks=1

ran=" "
# run COMMAND ARGUMENT...: it ends with 0, and no sanitizer says anything.
run() {
	ran="$ran$1 "
	timeout 120 "$san" "$@" >out 2>err </dev/null
	code=$?
	if [ $code = 0 ] && ! grep -qE 'runtime error|Sanitizer' out err; then ok "softpmu $*"
	else bad "softpmu $*: exit $code" err; fi
}
run trace -o 64.trace -- true
! runs_32 || run trace -o 32.trace -- "$PROGRAMS/l1_miss"
run replay 64.trace
run stat --core golden-cove -d -- true
for core in $(if_32 prescott pentium3 pentium); do	# the other families of PMUs
	run stat --core "$core" -e cycles,instructions --replay 32.trace
done
run record -g -o true.data -- true
run report -i true.data --stdio
run annotate -i true.data
run export -f folded -i true.data -o true.folded
run mem record -o mem.data --replay 64.trace
run mem report -i mem.data --stdio
run topdown --replay 64.trace
run cost --replay 64.trace
run tune --no-profile --features l1d.size --replay 64.trace
run run -- true
run list
run block --asm 'add rax, rbx'
run cores golden-cove
run cpuid
run msr IA32_PERFEVTSEL0 0x4300c0
run calibrate --list
run gate --update -- true
run gate --explain --markdown gate.md --junit gate.xml -- true
printf 'program true true\nstream saved 64.trace\ncore skylake core2\nenergy\n' >two.plan
run sweep two.plan
run sweep report --html two.html two.plan
run callgrind --callgrind-out-file=true.out --cache-sim=yes --branch-sim=yes --dump-instr=yes -- true
run compare true.data true.data
head -c 65536 /dev/zero >zero.rom
run machine --show-config --rom zero.rom
for command in $("$san" help | sed -n 's/^  \([a-z][a-z]*\)   *[a-z].*/\1/p'); do
	case $ran in *" $command "*) ;; *) bad "$command, which the help names, is among them" ;; esac
done
exit $failed
