/* SPDX-License-Identifier: GPL-2.0-or-later
 * topdown --sample: precise samples of the event that the bottleneck names, of the same run's stream, and its hottest instructions. */
#ifndef CLI_TOPDOWN_SAMPLE_H
#define CLI_TOPDOWN_SAMPLE_H
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

struct topdown_sample {
	const char *event;	/* "MEM_LOAD_RETIRED.L2_HIT:pp" */
	uint64_t count;		/* of it in the run, so that the period gives enough samples of a short run, too; 0: not known */
	char *const *words;	/* options of the run */
	unsigned count_words;
	const char *stream;	/* of the run */
	const char *file;	/* perf.data to write */
};
/* Prints to `out`.  0, or -1 after one printed line. */
int topdown_sample(FILE *out, const struct topdown_sample *s);
/* A new folder for a stream, in $TMPDIR or /tmp, into path; false after one line. */
bool topdown_sample_folder(char *path, unsigned bytes);
void topdown_sample_remove(const char *folder, const char *stream);
#endif
