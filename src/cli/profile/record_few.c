/* SPDX-License-Identifier: GPL-2.0-or-later
 * Advice on few samples (record_few.h). */
#include "cli/profile/record_few.h"
#include <stdbool.h>
#include <stdio.h>

static bool is_prime(uint64_t n)
{
	for (uint64_t d = 3; d * d <= n; d += 2)
		if (n % d == 0)
			return false;
	return n % 2 || n == 2;
}

uint64_t record_enough_period(uint64_t count)
{
	uint64_t period = count / RECORD_ENOUGH;
	if (period < 2)
		return 1;
	while (!is_prime(period))
		period++;
	return period;
}

void record_few_text(const char *event, uint64_t samples, uint64_t count, uint64_t frequency, char *text, size_t bytes)
{
	text[0] = 0;
	if (samples >= RECORD_FEW || samples >= count)
		return;
	int n = samples ? snprintf(text, bytes, "only %llu sample%s of %s; ", (unsigned long long)samples,
		samples == 1 ? "" : "s", event) : snprintf(text, bytes, "no sample of %s; ", event);
	if (n < 0 || (size_t)n >= bytes)
		return;
	if (frequency && samples)
		snprintf(text + n, bytes - (size_t)n, "-F %llu would take about 1000",
			(unsigned long long)(frequency * RECORD_ENOUGH / samples));
	else if (count < 2 * RECORD_ENOUGH)
		snprintf(text + n, bytes - (size_t)n, "-c 1 would take all %llu", (unsigned long long)count);
	else
		snprintf(text + n, bytes - (size_t)n, "-c %llu would take about 1000",
			(unsigned long long)record_enough_period(count));
}
