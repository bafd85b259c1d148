/* SPDX-License-Identifier: GPL-2.0-or-later
 * The ROM that starts a Linux kernel which lies in memory already: from the reset vector to protected mode, for a
 * 64-bit kernel to long mode, then to the kernel's entry, as Linux's Documentation/arch/x86/boot.rst has it ("32-bit
 * boot protocol", "64-bit boot protocol").  Where that is and what it needs is in the table at START, which the host
 * writes (src/cli/machine/guest_setup.h).
 *
 * 4 KB which end at 4 GB.
 */
	.set ROM, 0xfffff000
	.set START, 0x7000		/* struct guest_start */
	.set ENTRY, START + 0
	.set PARAMETERS, START + 4
	.set TABLES, START + 8		/* page tables; 0 for a 32-bit kernel */
	.set STACK, 0x7000

	.section .text
	.code32
rom:
protected:
	mov $0x18, %eax
	mov %eax, %ds
	mov %eax, %es
	mov %eax, %fs
	mov %eax, %gs
	mov %eax, %ss
	mov $STACK, %esp
	mov PARAMETERS, %esi
	mov ENTRY, %edx
	xor %ebx, %ebx
	xor %ebp, %ebp
	xor %edi, %edi
	mov TABLES, %eax
	test %eax, %eax
	jnz long
	jmp *%edx
long:
	mov %eax, %cr3
	mov %cr4, %eax
	or $0x20, %eax				/* PAE */
	mov %eax, %cr4
	mov $0xc0000080, %ecx
	mov %edx, %ebp
	rdmsr
	or $0x100, %eax				/* LME */
	wrmsr
	mov %ebp, %edx
	mov %cr0, %eax
	or $0x80000000, %eax			/* PG */
	mov %eax, %cr0
	ljmp $0x20, $1f - rom + ROM
	.code64
1:	mov %edx, %edx
	mov %esi, %esi
	xor %ebp, %ebp
	jmp *%rdx

	.balign 8
table:	/* __BOOT_CS is 10H and __BOOT_DS is 18H; 20H: 64-bit code */
	.quad 0, 0
	.quad 0x00cf9b000000ffff, 0x00cf93000000ffff
	.quad 0x00af9b000000ffff
pointer:
	.word . - table - 1
	.long table - rom + ROM

	.code16
real:
	cli
	lgdtl %cs:(pointer - rom + 0xf000)
	mov %cr0, %eax
	or $1, %al
	mov %eax, %cr0
	ljmpl $0x10, $protected - rom + ROM

	.org 0xff0
	.byte 0xe9				/* the reset vector: a jump to `real` */
	.word real - rom - 0xff3
	.org 0x1000
