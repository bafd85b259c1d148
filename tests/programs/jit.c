/* SPDX-License-Identifier: GPL-2.0-or-later
 * A JIT: writes two functions into executable memory, names them in /tmp/perf-PID.map, runs them, rewrites one. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/* mov $count,%ecx; 1: add $step,%eax; dec %ecx; jnz 1b; ret */
static void emit(uint8_t *p, uint32_t count, uint8_t step)
{
	const uint8_t code[] = { 0xb9, 0, 0, 0, 0, 0x83, 0xc0, step, 0xff, 0xc9, 0x75, 0xf9, 0xc3 };
	memcpy(p, code, sizeof code);
	memcpy(p + 1, &count, 4);
}

static int call(const uint8_t *p)
{
	int result;
	__asm__ volatile("xor %%eax,%%eax\n\tcall *%1" : "=&a"(result) : "r"(p) : "rcx", "cc", "memory");
	return result;
}

int main(void)
{
	uint8_t *page = mmap(NULL, 4096, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	char name[64];
	if (page == MAP_FAILED)
		return 1;
	snprintf(name, sizeof name, "/tmp/perf-%d.map", (int)getpid());
	FILE *f = fopen(name, "w");
	if (!f)
		return 1;
	fprintf(f, "%lx %x jit_big_loop\n%lx %x jit_small_loop\n", (unsigned long)page, 16, (unsigned long)(page + 16),
		16);
	fclose(f);
	emit(page, 3000000, 1);
	emit(page + 16, 300000, 2);
	int a = call(page), b = call(page + 16);
	emit(page + 16, 300000, 3);
	int c = call(page + 16);
	printf("%d %d %d\n", a, b, c);
	if (!getenv("KEEP_MAP"))
		unlink(name);
	return 0;
}
