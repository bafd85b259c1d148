/* SPDX-License-Identifier: BSD-2-Clause */
#include "pmu_text.h"
#include <ctype.h>
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

int pmu_text_problem(char *text, size_t bytes, int error, const char *format, ...)
{
	va_list args;
	va_start(args, format);
	if (bytes)
		vsnprintf(text, bytes, format, args);
	va_end(args);
	return error;
}

bool pmu_text_number(const char *s, int base, uint64_t limit, uint64_t *out)
{
	char *end;
	if (!isxdigit((unsigned char)*s))
		return false;
	errno = 0;
	unsigned long long v = strtoull(s, &end, base);
	if (*end || errno || v > limit)
		return false;
	*out = v;
	return true;
}
