/* SPDX-License-Identifier: GPL-2.0-or-later
 * crowd N CHILDREN [ask]: three threads that share a mutex and, at the same time, child processes that use their
 * PMU (softpmu/client.h); with `ask` the process of the threads does, too. Every thread writes its own memory, and
 * all meet N / 500 times. Prints the sum of their work. */
#include <softpmu/client.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

enum { THREADS = 3, CHILDREN = 8, REQUESTS = 200, MEET = 500, BYTES = 256 << 10, LINE = 64 };
static int n;
static long total;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static unsigned char memory[THREADS][BYTES];

static void *work(void *argument)
{
	long id = (long)argument;
	for (int i = 0; i < n; i++) {
		memory[id][(unsigned)i * LINE % BYTES]++;
		if (i % MEET)
			continue;
		pthread_mutex_lock(&mutex);
		total += i;
		pthread_mutex_unlock(&mutex);
	}
	return NULL;
}

static void ask(int requests)
{
	uint64_t value;
	for (int i = 0; i < requests; i++) {
		(void)spmu_client_rdmsr(0xc1, &value);
		for (volatile int wait = 0; wait < n / 300; wait++)
			;
	}
}

int main(int argc, char **argv)
{
	int children = argc > 2 ? atoi(argv[2]) : 0, status, failed = 0;
	pthread_t thread[THREADS];
	pid_t child[CHILDREN];
	n = argc > 1 ? atoi(argv[1]) : 0;
	if (children > CHILDREN)
		return 2;
	for (int i = 0; i < children; i++)
		if (!(child[i] = fork())) {
			ask(REQUESTS);
			_exit(0);
		}
	for (long i = 0; i < THREADS; i++)
		if (pthread_create(&thread[i], NULL, work, (void *)i))
			return 1;
	if (argc > 3)
		ask(REQUESTS / 2);
	for (int i = 0; i < THREADS; i++)
		pthread_join(thread[i], NULL);
	for (int i = 0; i < children; i++)
		failed |= waitpid(child[i], &status, 0) != child[i] || status;
	printf("%ld\n", total);
	return failed;
}
