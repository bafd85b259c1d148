/* SPDX-License-Identifier: GPL-2.0-or-later
 * A program that loads a new build of its shared object while it runs: reload LIBRARY GENERATIONS ROUNDS.
 *
 * Between two rounds no call into the library is under way and nothing points into it, so a new one may take its place.
 * The builder puts the new file into place by rename(2).  So the file is always complete, and has an inode of its own:
 * dlopen takes it for another library.  The program ends after ROUNDS rounds with build number GENERATIONS.
 * See docs/measured/tune-software.md. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <time.h>

typedef uint64_t work_function(uint64_t seed);
static struct { void *handle; work_function *work; ino_t inode; } library;

static double cpu_seconds(void)
{
	struct timespec t;
	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* A safe point: loads the file if it is new.  1: it was new; 0: it was not; -1: it is no library with work(). */
static int swap(const char *path)
{
	struct stat st;
	if (stat(path, &st))
		return library.handle ? 0 : -1;
	if (library.handle && st.st_ino == library.inode)
		return 0;
	void *handle = dlopen(path, RTLD_NOW | RTLD_LOCAL);
	work_function *work = handle ? (work_function *)dlsym(handle, "work") : NULL;
	if (!work) {
		library.inode = st.st_ino;	/* not tried again */
		fprintf(stderr, "%s\n", dlerror());
		if (handle)
			dlclose(handle);
		return -1;	/* the old one goes on */
	}
	if (library.handle)
		dlclose(library.handle);
	library.handle = handle;
	library.work = work;
	library.inode = st.st_ino;
	return 1;
}

static void report(long generation, long done, double began, uint64_t sum)
{
	printf("build %ld: %ld rounds, %.1f us of CPU each, sum %llx\n", generation, done,
	       1e6 * (cpu_seconds() - began) / (double)done, (unsigned long long)sum);
}

int main(int argc, char **argv)
{
	if (argc != 4)
		return 2;
	const long generations = atol(argv[2]), rounds = atol(argv[3]);
	uint64_t sum = 0;
	double began = 0;
	long generation = 0, done = 0;
	while (generation < generations || done < rounds) {
		const int new = swap(argv[1]);
		if (new < 0 && !library.handle)
			return 1;
		if (new > 0 || done == rounds) {	/* a new build, or time to report on the old one */
			if (done)
				report(generation, done, began, sum);
			fflush(stdout);
			generation += new > 0;
			done = 0;
			sum = 0;
			began = cpu_seconds();
		}
		sum += library.work((uint64_t)(done++ % 16));
	}
	report(generation, done, began, sum);
	return 0;
}
