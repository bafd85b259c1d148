/* SPDX-License-Identifier: GPL-2.0-or-later
 * topdown --hottest: takes precise samples of the event that the bottleneck names, from the same run's stream,
 * and shows its hottest instructions. */
#ifndef CLI_TOPDOWN_SAMPLE_H
#define CLI_TOPDOWN_SAMPLE_H
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

struct topdown_sample {
	const char *event;	/* "MEM_LOAD_RETIRED.L2_HIT:pp" */
	/* of the event in the run, to choose a period that gives enough samples in a short run, too; 0: not known */
	uint64_t count;
	char *const *words;	/* options of the run */
	unsigned count_words;
	const char *stream;	/* of the run */
	const char *file;	/* the perf.data file to write */
};
/* Prints to `out`. 0, or -1 after one printed line. */
int topdown_sample(FILE *out, const struct topdown_sample *s);
/* Makes a new folder for a stream in $TMPDIR or /tmp; its name goes into path. false after one printed line. */
bool topdown_sample_folder(char *path, unsigned bytes);
void topdown_sample_remove(const char *folder, const char *stream);
#endif
