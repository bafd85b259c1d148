#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# softpmu block as a user meets it: text, JSON, CSV, assembly from everywhere, bad input in one line.
. "$TOP/tests/lib.sh"
need as
mkdir tmp && export TMPDIR="$work/tmp"
block() { "$SOFTPMU" block --core skylake "$@" >out 2>err </dev/null; }
json() { sed -n "s/.*\"$1\": \([-0-9.a-z\"]*\).*/\1/p" out | head -n 1; }

block --asm 'add rax, rbx; imul rcx, rax' && grep -q '^cycles per iteration *3[.]0000' out &&
	grep -q '^bottleneck *dependency' out &&
	grep -q '3 cycles  imul' out && ok "text: a chain of IMUL, 3 cycles" || bad "text" out
block --asm 'mov [rdi], rax; mov [rdi+8], rbx' --json && [ "$(json cycles_per_iteration)" = 2 ] &&
	[ "$(json uops)" = 4 ] &&
	[ "$(json uops_fused)" = 2 ] && ok "JSON: two stores, one a cycle" || bad "JSON" out
command -v python3 >/dev/null 2>&1 && { block -j --timeline --asm 'add rax, [rsi]; l: vaddps ymm0, ymm1, ymm2' &&
	python3 -c 'import json, sys; d = json.load(open("out"))
assert len(d["instruction"]) == 2 and d["timeline"]' &&
	ok "JSON parses" || bad "JSON parses" out; }

# The same code by every way in.
block --asm 'add rax, rbx; imul rcx, rax' -j; mv out want
block --hex '48 01 d8 480FAFC8' -j && cmp -s out want && ok "hex" || bad "hex" out
printf '# a comment; foo\nadd rax, rbx\n\timul rcx, rax // another\n' >in.s
block in.s -j && cmp -s out want && ok "a file" || bad "a file" out
"$SOFTPMU" block --core skylake -j <in.s >out 2>err && cmp -s out want && ok "standard input" ||
	bad "standard input" out
printf '.globl f\nf: nop\nadd %%rbx, %%rax\nimul %%rax, %%rcx\nret\n' >code.s && as -o code.o code.s &&
	ld -shared -o code.so code.o
at=$(readelf -sW code.so | awk '$8 == "f" { print $2; exit }')
from=$(printf %x $((0x$at + 1))); to=$(printf %x $((0x$at + 8)))
block --elf code.so --range "$from-$to" -j && cmp -s out want && ok "a library's code" || bad "a library's code" out
block --elf code.o --range 1-8 -j && cmp -s out want && ok "an object's code" || bad "an object's code" out
block --elf code.o --range 1-8 -j; mv out first; block --elf code.o --range 1-8 -j && cmp -s out first &&
	ok "twice the same" || bad "twice the same" out

# Loops.
block --loop --asm 'l: add rax, rbx; dec rcx; jnz l' -j && [ "$(json cycles_per_iteration)" = 1 ] &&
	! grep -q '"notes": \["' out &&
	ok "a loop that closes itself" || bad "a loop that closes itself" out
block --loop --asm 'add rax, r15' && grep -q 'note: .*dec r14; jnz closes' out && grep -q 'dec *r14.*# added' out &&
	ok "a loop that is closed, by a register it does not use" || bad "a loop that is closed" out
block --loop --32 --asm 'add eax, ebx' && grep -q 'dec *edi.*# added' out && ok "32-bit code" || bad "32-bit code" out
block --timeline --asm 'add rax, rbx' && grep -q '^\[2,0\].*D.*R' out && ok "timeline" || bad "timeline" out
block --asm 'vaddps ymm0, ymm1, [rsi]' --set ports.count=99 && bad "--set out of range" || ok "--set is checked"
block --asm 'add rax, rbx; add rcx, rdx; add rsi, rdi; add r8, r9' --set alloc.width=1 -j &&
	[ "$(json cycles_per_iteration)" = 4 ] &&
	ok "--set takes effect" || bad "--set takes effect" out

# A block a line: every line has its row, whatever the others are.
printf '%s\n' 'add rax, rbx' 'foo' 'jmp .Lnowhere' '' '.rept 9; nop; .endr' 'mov rax, [rbx' '/* x' 'call printf' \
	'l: nop; jmp l' \
	'l: imul rax, rbx; jz l' 'l: imul rcx, rax; jz l' >lines
block --lines lines; code=$?
[ $code = 1 ] && [ "$(wc -l <out)" = 11 ] && [ "$(wc -l <err)" = 1 ] &&
	[ "$(sed -n 1p out)" = '1.0000,1,1,1,dependency,' ] &&
	[ "$(cut -c1 out | tr -d '\n')" = '1,,,,,,,,33' ] && sed -n 2p out | grep -q 'no such instruction' &&
	sed -n 3p out | grep -q 'undefined symbol' && sed -n 5p out | grep -q 'directive .rept' &&
	ok "--lines, errors in their rows" || bad "--lines" out
i=0; while [ $i -lt 300 ]; do echo 'add rax, [rsi+8]; vaddps ymm0, ymm1, ymm2'; echo 'imul rax, rbx'; i=$((i + 1))
done >lines
block --lines lines && [ "$(sort -u out | wc -l)" = 2 ] && [ "$(wc -l <out)" = 600 ] &&
	ok "--lines: no line depends on another" || bad "--lines depend" out

refuse_block() {	# CLAIM PATTERN OPTION...: nothing is printed to standard output either
	claim=$1 pattern=$2; shift 2
	refuse "$claim" "$pattern" "$SOFTPMU" block "$@"
	same "$claim: no output" "$(cat out)" ""
}
refuse_block "no such instruction" "no such instruction: .foo" --asm 'foo rax'
printf 'nop\nnop\nbar rax\n' >in2.s
refuse_block "line of an error" "line 3: no such instruction" in2.s
refuse_block "nothing" "no instructions" --asm ' ; '
refuse_block "an empty standard input" "no instructions"
refuse_block "not hexadecimal" "xy" --hex '48 xy'
refuse_block "cut off" "offset 3: not a valid instruction: 48 01" --hex '48 01 d8 48 01'
refuse_block "no such file" "nowhere" ./nowhere
refuse_block "not ELF" "not an ELF file" --elf lines --range 0-4
refuse_block "outside of the file" "the file has no code at" --elf code.so --range 99999990-999999a0
refuse_block "a range" "range" --elf code.so --range 20
refuse_block "an upside-down range" "range" --elf code.so --range 20-10
refuse_block "half a choice" "--range" --elf code.so
refuse_block "two blocks" "one block at a time" --asm nop --hex 90
refuse_block "unknown core" "nearest: skylake" --core skylak --asm nop
refuse_block "unknown option" "nearest: --timeline" --timelin --asm nop
refuse_block "a jump away" "leaves the block" --hex 'eb 70'
refuse_block "a jump within an instruction" "leaves the block" --hex 'eb 01 48 01 d8'
refuse_block "indirect" "its target is not known" --asm 'jmp rax'
refuse_block "return" "leaves the block" --asm 'ret'
refuse_block "a system call" "leaves the block" --asm 'syscall'
refuse_block "REP" "RCX" --asm 'rep movsb'
refuse_block "an endless jump" "more than" --asm 'nop; l: jmp l'
refuse_block "much code" "instructions" --asm "$(i=0; while [ $i -lt 1100 ]; do printf 'nop;'; i=$((i + 1)); done)"
refuse_block "an assembler's directive" "directive .incbin" --asm '.incbin /dev/zero'
! PATH=/nowhere "$SOFTPMU" block --asm nop >out 2>err && grep -q binutils err && ok "no assembler" ||
	bad "no assembler" out
[ -n "$(ls tmp)" ] && bad "directories are left behind" out
exit $failed
