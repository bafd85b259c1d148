/* SPDX-License-Identifier: GPL-2.0-or-later
 * Faults in the middle of a block, repaired by a handler that steps over the faulting instruction; no C
 * library, so that every instruction can be counted by hand (tests/system/tracer/tracer-count.sh does: 18 to
 * set up, 20 rounds of 15, 4 to end).
 */
	.globl _start
	.set SIGSEGV, 11
	.set SA_SIGINFO_RESTORER, 0x04000004
	.set CONTEXT_RIP, 40 + 16 * 8		/* of ucontext: 40 bytes, then RIP as the 17th register */
	.text
_start:
	lea handler(%rip), %rax
	mov %rax, act(%rip)
	movq $SA_SIGINFO_RESTORER, act+8(%rip)
	lea restorer(%rip), %rax
	mov %rax, act+16(%rip)
	mov $13, %eax				# rt_sigaction
	mov $SIGSEGV, %edi
	lea act(%rip), %rsi
	xor %edx, %edx
	mov $8, %r10d
	syscall
	mov $20, %ebx
	lea data(%rip), %r12
	xor %ebp, %ebp
	nop
	nop
	nop
	jmp round
round:					# 15: seven, the handler and its return eight; none for the fault
	incl data(%rip)
	mov (%r12), %r13
	add %r13, %rbp
	nop
	mov 8, %eax				# faults each time: 7 bytes
	nop
	dec %ebx
	jnz round
	mov $60, %eax
	xor %edi, %edi
	nop
	syscall
handler:
	mov CONTEXT_RIP(%rdx), %rax
	add $7, %rax
	mov %rax, CONTEXT_RIP(%rdx)
	nop
	nop
	ret
restorer:
	mov $15, %eax				# rt_sigreturn
	syscall
	.data
	.balign 16
act:	.fill 32
data:	.quad 0
	.section .note.GNU-stack, "", @progbits
