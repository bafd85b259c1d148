#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Messages that a new user needs most: each says what happened, where, and what to write instead.
. "$TOP/tests/lib.sh"

for command in stat record topdown cost; do
	refuse "$command: a program that does not exist" "program not found in PATH$" \
		"$SOFTPMU" "$command" no-such-program
done
for command in stat record topdown msr; do
	refuse "$command: a core of which only the PMU is modelled" \
		"--pmu haswell gives it to the nearest core, skylake$" "$SOFTPMU" "$command" --core haswell true
done
refuse "a metric that does not exist" "nearest: IPC$" "$SOFTPMU" stat -M IPX true
refuse "a metric that is like none" "'softpmu list metrics' lists those it has$" "$SOFTPMU" stat -M zzzzzz true
refuse "a core that does not exist" "nearest: golden-cove, golden-cove-client$" "$SOFTPMU" stat --core goldencove true

cat >killed.c <<'C'
int main(void) { __builtin_trap(); }
C
${CC:-gcc} -o killed killed.c || exit 1
for command in stat record topdown; do
	"$SOFTPMU" "$command" ./killed >out 2>err; same "$command: a program that a signal ended: the status" $? 132
	has "$command: and the words, as a shell says them" '^softpmu: ./killed: Illegal instruction$' err
done
"$SOFTPMU" cost ./killed >out 2>err
same "cost, which replays the run, says it once" "$(grep -c 'Illegal instruction' err)" 1
"$SOFTPMU" stat -e cycles sh -c 'exit 4' 2>err; same "a program that fails: the status" $? 4
hasnt "and no word about a signal" "softpmu:" err

"$SOFTPMU" stat -I 1000 -e cycles true 2>err || failed=1
has "a run that is shorter than an interval" 'intervals are of modelled time, and the run ended within the first' err
"$SOFTPMU" stat -I 0.01 -e cycles true 2>err || failed=1
hasnt "and one that is longer" 'intervals are of modelled time' err
"$SOFTPMU" stat --region x true 2>err || failed=1
has "a region in a program that marks none" 'it marked none (softpmu/client.h)$' err
for command in stat record; do
	"$SOFTPMU" $command --region x "$PROGRAMS/client" >out 2>err || failed=1
	has "$command: a region that never occurs: those that did" \
		"nothing was [a-z]*; it entered nowhere, loop, outer" err
done
refuse "an operand that is no register" "'add rax, rbz': undefined symbol 'rbz'$" \
	"$SOFTPMU" block --asm 'nop; add rax, rbz; nop'
refuse "a value that does not fit" "'mov al, 300': 0x12c shortened to 0x2c$" "$SOFTPMU" block --asm 'mov al, 300'
refuse "an instruction that does not exist" "'frob rax': no such instruction$" \
	"$SOFTPMU" block --asm 'nop; frob rax ;nop'
refuse "an operand that is not complete" "'add rax, \\[rbx': bad expression$" \
	"$SOFTPMU" block --asm 'nop; add rax, [rbx'
exit $failed
