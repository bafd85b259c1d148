/* SPDX-License-Identifier: GPL-2.0-or-later
 * Faults that a handler survives, in a block's middle, and signals that come from outside; prints how many of each.
 *   trace_signals faults   SIGSEGV by a load, by a store, by a misaligned SSE operand, SIGFPE by a division, SIGTRAP,
 *                          SIGILL by an instruction that exists and by one that does not
 *   trace_signals alarms   an interval timer, on an alternate stack
 */
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/time.h>

static volatile sig_atomic_t seen[65];
static sigjmp_buf back;
static char *page;

static void on_fault(int signo)
{
	seen[signo]++;
	if (signo != SIGTRAP)
		siglongjmp(back, 1);
}

static void on_alarm(int signo, siginfo_t *info, void *context)
{
	(void)info, (void)context;
	seen[signo]++;
}

/* A page that appears when it is touched: the faulting instruction is executed again. */
static void on_first_touch(int signo, siginfo_t *info, void *context)
{
	(void)context;
	seen[signo]++;
	if (mprotect(page, 4096, PROT_READ | PROT_WRITE) || info->si_addr != page + 8)
		_Exit(1);
}

static void faults(void)
{
	static char room[64] __attribute__((aligned(16)));
	int handled[] = { SIGSEGV, SIGFPE, SIGTRAP, SIGILL };

	for (unsigned i = 0; i < sizeof handled / sizeof *handled; i++)
		signal(handled[i], on_fault);
	for (volatile int i = 0; i < 100; i++) {
		if (!sigsetjmp(back, 1))
			__asm__ volatile("nop; mov (%0), %%eax; mov 8, %%eax; mov (%0), %%eax" : : "r"(room) : "eax",
				"memory");
		if (!sigsetjmp(back, 1))
			__asm__ volatile("mov %%eax, (%0); mov %%eax, 8" : : "r"(room) : "eax", "memory");
		if (!sigsetjmp(back, 1))
			__asm__ volatile("movups 1(%0), %%xmm0; movaps 1(%0), %%xmm0" : : "r"(room) : "xmm0");
		if (!sigsetjmp(back, 1))
			__asm__ volatile("xor %%ecx, %%ecx; div %%ecx" : : : "eax", "ecx", "edx", "cc");
		__asm__ volatile("nop; int3; nop");
		if (!sigsetjmp(back, 1))
			__asm__ volatile("nop; ud2");
		if (!sigsetjmp(back, 1))	/* vpaddd %zmm0, %zmm1, %zmm2 */
			__asm__ volatile("nop; .byte 0x62, 0xf1, 0x75, 0x48, 0xfe, 0xd0");
	}
	struct sigaction touch = { .sa_sigaction = on_first_touch, .sa_flags = SA_SIGINFO };
	sigaction(SIGSEGV, &touch, NULL);
	page = mmap(NULL, 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	page[8] = 1;
	printf("segv %d fpe %d trap %d ill %d touched %d\n",
	       seen[SIGSEGV], seen[SIGFPE], seen[SIGTRAP], seen[SIGILL] >= 100, page[8]);
}

static void alarms(void)
{
	static char stack[65536];
	stack_t alt = { .ss_sp = stack, .ss_size = sizeof stack };
	struct sigaction act = { .sa_sigaction = on_alarm, .sa_flags = SA_SIGINFO | SA_ONSTACK | SA_RESTART };
	struct itimerval t = { { 0, 1000 }, { 0, 1000 } };
	volatile unsigned work = 0;

	sigaltstack(&alt, NULL);
	sigaction(SIGALRM, &act, NULL);
	setitimer(ITIMER_REAL, &t, NULL);
	while (seen[SIGALRM] < 50)
		work++;
	printf("alarms\n");
}

int main(int argc, char **argv)
{
	if (argc > 1 && !strcmp(argv[1], "faults"))
		faults();
	else
		alarms();
	return 0;
}
