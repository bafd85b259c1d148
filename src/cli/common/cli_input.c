/* SPDX-License-Identifier: GPL-2.0-or-later
 * How much of its input a running program has read (cli_input.h).  Source: proc(5), "/proc/pid/fdinfo/".
 *
 * Left out: files that are mapped, pipes, and programs that read all of their input before they work on it; also
 * small files, such as the libraries of which the loader has read the first bytes.
 */
#include "cli/common/cli_input.h"
#include <dirent.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <sys/stat.h>

enum { SMALLEST = 256 << 10 };	/* bytes: what is smaller was read in a moment */

/* Where an open file is read.  False: it is not known, or the file can be written, too. */
static bool position(pid_t pid, const char *number, double *at)
{
	char path[64], line[128];
	unsigned flags = O_WRONLY;
	*at = -1;
	snprintf(path, sizeof path, "/proc/%d/fdinfo/%.20s", (int)pid, number);
	FILE *f = fopen(path, "re");
	if (!f)
		return false;
	while (fgets(line, sizeof line, f)) {
		long long pos;
		sscanf(line, "flags: %o", &flags);
		if (sscanf(line, "pos: %lld", &pos) == 1)
			*at = (double)pos;
	}
	fclose(f);
	return (flags & O_ACCMODE) == O_RDONLY && *at > 0;
}

double cli_input_share(pid_t pid)
{
	char path[64];
	double largest = SMALLEST, share = -1;
	snprintf(path, sizeof path, "/proc/%d/fd", (int)pid);
	DIR *d = opendir(path);
	for (const struct dirent *e; d && (e = readdir(d));) {
		struct stat st;
		double at;
		/* (the name is a number, or "." or "..", which are no regular files) */
		if (fstatat(dirfd(d), e->d_name, &st, 0) || !S_ISREG(st.st_mode) || (double)st.st_size <= largest ||
			!position(pid, e->d_name, &at) || at >= (double)st.st_size)
			continue;
		largest = (double)st.st_size;
		share = at / largest;
	}
	if (d)
		closedir(d);
	return share;
}
