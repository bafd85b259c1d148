/* SPDX-License-Identifier: GPL-2.0-or-later
 * Machine code of the microbenchmarks.  Private to calibrate_*.c.
 * The code is a function run(rdi = rounds, rsi = memory, rdx = argument).  It returns where its chase stopped, if
 * it is a chase. */
#ifndef ANALYSIS_CALIBRATE_CODE_H
#define ANALYSIS_CALIBRATE_CODE_H
#include "analysis/calibrate/calibrate.h"

enum { CAL_CODE_BYTES = 1 << 18 };
enum cal_memory { CAL_NO_MEMORY, CAL_LINES, CAL_RING, CAL_RING_STRIDE, CAL_RING_PAGES, CAL_TWO_RINGS };
struct cal_shape {
	uint32_t ops;			/* operations a round */
	enum cal_memory memory;
	uint64_t bytes;			/* size of the buffer; CAL_RING_PAGES: number of pages */
	bool huge;			/* in 2 MB pages */
	uint64_t argument;		/* rdx */
};

/* Writes the code to `at` (room for CAL_CODE_BYTES); returns the bytes written. */
size_t cal_make(uint8_t *at, const struct cal_probe *p, struct cal_shape *shape);
#endif
