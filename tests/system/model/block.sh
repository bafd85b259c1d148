#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# softpmu block from the command line: text, JSON and CSV output; code from options, files, standard input and ELF
# files; bad input is refused in one line.
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

# The same code, given in every possible way, has the same result.
block --asm 'add rax, rbx; imul rcx, rax' -j; mv out want
block --hex '48 01 d8 480FAFC8' -j && cmp -s out want && ok "--hex gives what --asm gives" || bad "--hex" out
printf '# a comment; foo\nadd rax, rbx\n\timul rcx, rax // another\n' >in.s
block in.s -j && cmp -s out want && ok "a file gives what --asm gives" || bad "a file" out
"$SOFTPMU" block --core skylake -j <in.s >out 2>err && cmp -s out want && ok "standard input gives what --asm gives" ||
	bad "standard input" out
printf '.globl f\nf: nop\nadd %%rbx, %%rax\nimul %%rax, %%rcx\nret\n' >code.s && as -o code.o code.s &&
	ld -shared -o code.so code.o
at=$(readelf -sW code.so | awk '$8 == "f" { print $2; exit }')
from=$(printf %x $((0x$at + 1))); to=$(printf %x $((0x$at + 8)))
block --elf code.so --range "$from-$to" -j && cmp -s out want && ok "code of a library gives what --asm gives" ||
	bad "code of a library" out
block --elf code.o --range 1-8 -j && cmp -s out want && ok "code of an object file gives what --asm gives" ||
	bad "code of an object file" out
block --elf code.o --range 1-8 -j; mv out first; block --elf code.o --range 1-8 -j && cmp -s out first &&
	ok "two runs print the same" || bad "two runs differ" out

# Loops.
block --loop --asm 'l: add rax, rbx; dec rcx; jnz l' -j && [ "$(json cycles_per_iteration)" = 1 ] &&
	! grep -q '"notes": \["' out &&
	ok "--loop adds nothing to a loop that ends with its own branch" || bad "a loop with its own branch" out
block --loop --asm 'add rax, r15' && grep -q 'note: .*dec r14; jnz closes' out && grep -q 'dec *r14.*# added' out &&
	ok "--loop adds a loop branch, with a register that the block does not use" || bad "an added loop branch" out
block --loop --32 --asm 'add eax, ebx' && grep -q 'dec *edi.*# added' out &&
	ok "--loop --32 adds a 32-bit loop branch" || bad "32-bit code" out
block --timeline --asm 'add rax, rbx' && grep -q '^\[2,0\].*D.*R' out &&
	ok "--timeline shows dispatch and retirement" || bad "timeline" out
block --asm 'vaddps ymm0, ymm1, [rsi]' --set ports.count=99 && bad "--set out of range" ||
	ok "--set refuses a value out of range"
block --asm 'add rax, rbx; add rcx, rdx; add rsi, rdi; add r8, r9' --set alloc.width=1 -j &&
	[ "$(json cycles_per_iteration)" = 4 ] &&
	ok "--set changes the result" || bad "--set changes nothing" out

# --lines: one block per line; every line has its row, even when other lines are invalid.
printf '%s\n' 'add rax, rbx' 'foo' 'jmp .Lnowhere' '' '.rept 9; nop; .endr' 'mov rax, [rbx' '/* x' 'call printf' \
	'l: nop; jmp l' \
	'l: imul rax, rbx; jz l' 'l: imul rcx, rax; jz l' >lines
block --lines lines; code=$?
[ $code = 1 ] && [ "$(wc -l <out)" = 11 ] && [ "$(wc -l <err)" = 1 ] &&
	[ "$(sed -n 1p out)" = '1.0000,1,1,1,dependency,' ] &&
	[ "$(cut -c1 out | tr -d '\n')" = '1,,,,,,,,33' ] && sed -n 2p out | grep -q 'no such instruction' &&
	sed -n 3p out | grep -q 'undefined symbol' && sed -n 5p out | grep -q 'directive .rept' &&
	ok "--lines reports each error in the row of its line" || bad "--lines" out
i=0; while [ $i -lt 300 ]; do echo 'add rax, [rsi+8]; vaddps ymm0, ymm1, ymm2'; echo 'imul rax, rbx'; i=$((i + 1))
done >lines
block --lines lines && [ "$(sort -u out | wc -l)" = 2 ] && [ "$(wc -l <out)" = 600 ] &&
	ok "--lines: no line's result depends on other lines" || bad "--lines depend" out

refuse_block() {	# CLAIM PATTERN OPTION...: refused, and nothing is printed to standard output
	claim=$1 pattern=$2; shift 2
	refuse "$claim" "$pattern" "$SOFTPMU" block "$@"
	same "$claim: no output" "$(cat out)" ""
}
refuse_block "an unknown instruction is shown" "'foo rax': no such instruction$" --asm 'nop; foo rax'
printf 'nop\nnop\nbar rax\n' >in2.s
refuse_block "an unknown instruction, with its line" "line 3: 'bar rax': no such instruction" in2.s
refuse_block "a block without instructions" "no instructions" --asm ' ; '
refuse_block "an empty standard input" "no instructions"
refuse_block "bytes that are not hexadecimal" "xy" --hex '48 xy'
refuse_block "an instruction that is cut off" "offset 3: not a valid instruction: 48 01" --hex '48 01 d8 48 01'
refuse_block "a file that does not exist" "nowhere" ./nowhere
refuse_block "a file that is not ELF" "not an ELF file" --elf lines --range 0-4
refuse_block "a range outside of the file" "the file has no code at" --elf code.so --range 99999990-999999a0
refuse_block "a range without an end" "range" --elf code.so --range 20
refuse_block "an upside-down range" "range" --elf code.so --range 20-10
refuse_block "--elf without --range" "--range" --elf code.so
refuse_block "two blocks in one command" "one block at a time" --asm nop --hex 90
refuse_block "an unknown core" "nearest: skylake" --core skylak --asm nop
refuse_block "an unknown option" "nearest: --timeline" --timelin --asm nop
refuse_block "a jump out of the block" "leaves the block" --hex 'eb 70'
refuse_block "a jump into the middle of an instruction" "leaves the block" --hex 'eb 01 48 01 d8'
refuse_block "an indirect jump" "its target is not known" --asm 'jmp rax'
refuse_block "a return" "leaves the block" --asm 'ret'
refuse_block "a system call" "leaves the block" --asm 'syscall'
refuse_block "a REP instruction" "RCX" --asm 'rep movsb'
refuse_block "an endless jump" "more than" --asm 'nop; l: jmp l'
refuse_block "more than 1024 instructions" \
	"instructions" --asm "$(i=0; while [ $i -lt 1100 ]; do printf 'nop;'; i=$((i + 1)); done)"
refuse_block "an assembler's directive" "directive .incbin" --asm '.incbin /dev/zero'
! PATH=/nowhere "$SOFTPMU" block --asm nop >out 2>err && grep -q binutils err &&
	ok "a missing assembler is reported with its package" ||
	bad "a missing assembler" out
[ -n "$(ls tmp)" ] && bad "temporary files are left behind" out
exit $failed
