/* SPDX-License-Identifier: GPL-2.0-or-later
 * Things that a program can do to itself and that a tracer can get wrong.  Argument:
 *   alias    code written through one mapping of a file and executed in another, made before and behind the other
 *   private  code of a file mapped privately, writable and executable, and rewritten there
 *   exec     starts itself by /proc/self/exe, then a program that has no path but a descriptor
 *   name     its name, read from the kernel in three ways
 *   killed   kills a child of its own, and works on
 *   nobody   becomes another user and starts a program; 9 if it may not
 *   clone    a child that shares memory and is no thread
 *   random   prints the 16 random bytes that a program is given at its start, twice, the second time after an exec
 *   crowd N  N threads that live at the same time; prints how many could be created */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

static void write_code(uint8_t *at, uint32_t value)
{
	const uint8_t code[] = { 0xb8, 0, 0, 0, 0, 0xc3 };	/* mov $value,%eax; ret */
	memcpy(at, code, sizeof code);
	memcpy(at + 1, &value, 4);
}

static uint32_t call(const uint8_t *at)
{
	uint32_t result;
	__asm__ volatile("call *%1" : "=a"(result) : "r"(at) : "cc", "memory");
	return result;
}

static uint8_t *map(int file, int prot, int flags)
{
	uint8_t *at = mmap(NULL, 4096, prot, flags, file, 0);
	if (at == MAP_FAILED)
		exit(1);
	return at;
}

static uint32_t sum(uint8_t *where, const uint8_t *code)
{
	uint32_t total = 0;
	for (uint32_t i = 0; i < 100; i++) {
		write_code(where, i);
		total += call(code);
	}
	return total;
}

static int code_of_files(int alias)
{
	int file = memfd_create("code", 0);
	if (file < 0 || ftruncate(file, 4096))
		return 1;
	if (!alias) {
		uint8_t *both = map(file, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE);
		printf("%u\n", sum(both, both));
		return 0;
	}
	const uint8_t first[] = { 0xb8, 7, 0, 0, 0, 0xc3 };
	if (write(file, first, sizeof first) != sizeof first)
		return 1;
	uint8_t *code = map(file, PROT_READ | PROT_EXEC, MAP_SHARED);
	uint32_t before = call(code);
	uint8_t *data = map(file, PROT_READ | PROT_WRITE, MAP_SHARED);
	printf("%u %u\n", before, sum(data, code));
	return 0;
}

static int start(const char *path, int file, char *const argv[])
{
	int status;
	pid_t pid = fork();
	if (pid == 0) {
		if (path)
			execve(path, argv, environ);
		else
			fexecve(file, argv, environ);
		printf("errno %d\n", errno);
		_exit(1);
	}
	return waitpid(pid, &status, 0) == pid ? status : -1;
}

static int start_itself(void)
{
	char by_pid[32], piece[65536], *again[] = { "itself", "name", NULL }, *echo[] = { "echo", "no path", NULL };
	ssize_t n;
	setvbuf(stdout, NULL, _IONBF, 0);
	printf("%d\n", start("/proc/self/exe", -1, again));
	snprintf(by_pid, sizeof by_pid, "/proc/%d/exe", (int)getpid());
	printf("%d\n", access(by_pid, X_OK));
	int from = open("/bin/echo", O_RDONLY), to = memfd_create("echo", 0);
	while ((n = read(from, piece, sizeof piece)) > 0)
		if (write(to, piece, (size_t)n) != n)
			return 1;
	printf("%d\n", start(NULL, to, echo));
	printf("%d\n", WEXITSTATUS(start("/proc/self/exe/none", -1, again)));
	execve("/proc/self/exe", again, environ);
	return 1;
}

static int names(char **argv)
{
	char text[4096] = "", name[17] = "";
	FILE *f = fopen("/proc/self/comm", "r");
	ssize_t n = readlink("/proc/self/exe", text, sizeof text - 1);
	if (!f || n < 0 || prctl(PR_GET_NAME, name))
		return 1;
	text[n] = 0;	/* Valgrind 3.24 has let the kernel write the tracer's own, longer path there before */
	/* A program started by /proc/self/exe is called "exe" by the kernel; the tracer has the path it found there. */
	const char *file = strrchr(text, '/') + 1;
	printf("%s %s %d\n", argv[0], text, strncmp(name, file, 15) == 0 || strcmp(name, "exe") == 0);
	if (!fgets(text, sizeof text, f))
		return 1;
	text[strcspn(text, "\n")] = 0;
	printf("%d\n", strcmp(text, name));
	return 0;
}

static int kill_child(void)
{
	int status;
	pid_t pid = fork();
	if (pid == 0)
		for (;;)
			;
	usleep(100000);
	if (kill(pid, SIGKILL) || waitpid(pid, &status, 0) != pid)
		return 1;
	for (volatile int i = 0; i < 100000; i++)
		;
	printf("%d\n", WTERMSIG(status));
	return 6;
}

static int nobody(void)
{
	int status;
	if (setresgid(65534, 65534, 65534) || setresuid(65534, 65534, 65534))
		return 9;
	pid_t pid = fork();
	if (pid == 0) {
		execl("/bin/true", "true", NULL);
		_exit(77);
	}
	return waitpid(pid, &status, 0) == pid ? WEXITSTATUS(status) : 1;
}

static int three(void *unused)
{
	(void)unused;
	return 3;
}

static int clone_child(void)
{
	static char stack[65536];
	int status;
	pid_t pid = clone(three, stack + sizeof stack, CLONE_VM | SIGCHLD, NULL);
	if (pid < 0 || waitpid(pid, &status, 0) != pid)
		return 1;
	printf("%d\n", WEXITSTATUS(status));
	return 0;
}

static pthread_barrier_t all;

static void *wait_for_all(void *unused)
{
	pthread_barrier_wait(&all);
	return unused;
}

static int crowd(unsigned n)
{
	pthread_t thread;
	pthread_attr_t small;
	pthread_attr_init(&small);
	pthread_attr_setstacksize(&small, 65536);
	pthread_barrier_init(&all, NULL, n + 1);
	for (unsigned i = 0; i < n; i++)
		if (pthread_create(&thread, &small, wait_for_all, NULL)) {
			printf("%u threads\n", i);
			return 3;
		}
	pthread_barrier_wait(&all);
	printf("all\n");
	return 0;
}

static int random_bytes(char **argv)
{
	const unsigned char *bytes = (const unsigned char *)getauxval(AT_RANDOM);

	for (int i = 0; i < 16; i++)
		printf("%02x", bytes[i]);
	puts("");
	fflush(stdout);
	return argv[2] ? execl("/proc/self/exe", "again", "random", NULL) : 0;
}

int main(int argc, char **argv)
{
	if (argc < 2)
		return 2;
	if (!strcmp(argv[1], "alias") || !strcmp(argv[1], "private"))
		return code_of_files(argv[1][0] == 'a');
	if (!strcmp(argv[1], "exec"))
		return start_itself();
	if (!strcmp(argv[1], "name"))
		return names(argv);
	if (!strcmp(argv[1], "killed"))
		return kill_child();
	if (!strcmp(argv[1], "nobody"))
		return nobody();
	if (!strcmp(argv[1], "clone"))
		return clone_child();
	if (!strcmp(argv[1], "random"))
		return random_bytes(argv);
	return argc > 2 ? crowd((unsigned)atoi(argv[2])) : 2;
}
