/* SPDX-License-Identifier: GPL-2.0-or-later
 * What the tests of the core begin with: a core over a mocked memory, a block at 0x1000, and counts of what came out. */
#ifndef CORE_FIXTURE_H
#define CORE_FIXTURE_H
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <cmocka.h>
#include "core_mock.h"

#define ALU 0x63	/* the ports of a simple operation */

/* settings: as bench_start's; k, unless NULL, is an empty block at 0x1000 then. */
static inline void fixture_start(struct bench *b, struct code *k, const char *settings)
{
	assert_int_equal(bench_start(b, settings), 0);
	if (k)
		code_start(k, 0x1000);
}

/* Uops that came out with a bit of `is`, or of `did`. */
static inline unsigned out_count_is(uint64_t bit)
{
	unsigned n = 0;
	for (unsigned i = 0; i < out.uops; i++)
		n += (out.uop[i].is & bit) != 0;
	return n;
}

static inline unsigned out_count_did(uint64_t bit)
{
	unsigned n = 0;
	for (unsigned i = 0; i < out.uops; i++)
		n += (out.uop[i].did & bit) != 0;
	return n;
}
#endif
