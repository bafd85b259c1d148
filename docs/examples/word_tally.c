/* Four threads count the words and lines of a text, each in a part of its own.  Their counters lie side by side in one
 * cache line; with -DAPART each has a line for itself. */
#include <pthread.h>
#include <stdio.h>

enum { THREADS = 4, PART = 20000 };

#ifdef APART
#define LINE __attribute__((aligned(64)))
#else
#define LINE
#endif
static struct tally { int words, lines; } LINE tally[THREADS] __attribute__((aligned(64)));
static char text[THREADS][PART];

__attribute__((noinline)) static void count(const char *t, struct tally *to)
{
	for (int i = 1; i < PART; i++) {
		to->words += t[i] <= ' ' && t[i - 1] > ' ';
		to->lines += t[i] == '\n';
	}
}

static void *work(void *thread)
{
	count(text[(long)thread], &tally[(long)thread]);
	return NULL;
}

int main(void)
{
	pthread_t thread[THREADS];
	int words = 0, lines = 0;

	for (int i = 0; i < THREADS * PART; i++)
		text[i / PART][i % PART] = i % 71 == 70 ? '\n' : i % 6 == 5 ? ' ' : 'a' + i % 26;
	for (long i = 0; i < THREADS; i++)
		pthread_create(&thread[i], NULL, work, (void *)i);
	for (int i = 0; i < THREADS; i++) {
		pthread_join(thread[i], NULL);
		words += tally[i].words;
		lines += tally[i].lines;
	}
	printf("%d words, %d lines\n", words, lines);
	return 0;
}
