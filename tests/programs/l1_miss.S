/* SPDX-License-Identifier: GPL-2.0-or-later
 * One load misses an 8 KB, 4-way first-level cache, among many that hit: eight locations 8 KB apart share a set.
 *
 * The experiment of B. Sprunt, "Pentium 4 Performance-Monitoring Features", IEEE Micro 22(4), 2002 (l1_miss).
 * 32-bit, no library. ROUNDS (-DROUNDS=N): passes over the eight locations, with a miss at each. Each location
 * holds its own address, so the loads of a round depend only on its pointer.
 */
#ifndef ROUNDS
#define ROUNDS 10000
#endif
#ifndef LOCATIONS
#define LOCATIONS 8
#endif
	.text
	.globl _start, the_load
_start:
	mov $location, %ebx		/* each location points to itself */
	mov $LOCATIONS, %ecx
1:	mov %ebx, (%ebx)
	add $8192, %ebx
	dec %ecx
	jnz 1b
	mov $ROUNDS, %edi
round:	mov $location, %ebx
	mov $LOCATIONS, %ecx
walk:	mov %ebx, %eax
the_load:
	mov (%eax), %eax
	.rept 100			/* loads that hit */
	mov near, %edx
	.endr
	add $8192, %ebx
	dec %ecx
	jnz walk
	dec %edi
	jnz round
	mov $1, %eax
	xor %ebx, %ebx
	int $0x80

	.bss
	.type near, @object
	.size near, 4096
	.type location, @object
	.size location, LOCATIONS * 8192
	.balign 4096
near:	.skip 4096
	.balign 8192
	.skip 1024
location:
	.skip LOCATIONS * 8192
	.section .note.GNU-stack, "", @progbits
