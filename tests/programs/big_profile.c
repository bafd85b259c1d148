// SPDX-License-Identifier: GPL-2.0-or-later
/* big_profile ELF PERF_DATA FUNCTIONS SAMPLES: writes a profile of that program, as `softpmu record -g' would, with so
 * many samples of functions of 16 bytes each, which begin at the symbol f0.  Function n is called by function n / 7. */
#include "output/perfdata/perfdata.h"
#include "symbols/symbols.h"
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>

enum { BASE = 0x400000, BYTES = 16, PID = 1000 };

int main(int argc, char **argv)
{
	const struct perfdata_event event = { .name = "cycles:u", .config = 0, .period = 1009, .exclude_kernel = true };
	struct perfdata_options o = { .events = &event, .event_count = 1, .call_chains = true, .argc = argc,
		.argv = argv, .version = "test", .cpu_title = "test", .cpuid = "GenuineIntel,6,143,8" };
	struct perfdata_writer *w;
	uint64_t first, bytes, samples, state = 1;
	struct err err = { 0 };
	if (argc != 5 || !symbols_find_function(argv[1], "f0", &first))
		return 2;
	const uint64_t functions = strtoull(argv[3], NULL, 10), wanted = strtoull(argv[4], NULL, 10);
	o.path = argv[2];
	if (perfdata_create(&w, &o, &err)) {
		fprintf(stderr, "%s\n", err.text);
		return 1;
	}
	const struct perfdata_map map = { .pid = PID, .tid = PID, .addr = BASE, .bytes = first + functions * BYTES,
		.prot = PROT_READ | PROT_EXEC, .path = argv[1] };
	perfdata_comm(w, PID, PID, "big", true, 0);
	perfdata_mmap(w, &map, 0);
	for (uint64_t i = 0; i < wanted; i++) {
		uint64_t chain[16];
		size_t n = 0;
		state = state * 6364136223846793005 + 1442695040888963407;
		/* every function has samples; those with low numbers have more */
		uint64_t f = i < functions ? i : (state >> 33) % functions * ((state >> 20) % 1000) / 1000;
		for (; n < 16; f /= 7) {	/* a return address lies behind its call */
			chain[n] = BASE + first + f * BYTES + (n ? 3 : 0);
			n++;
			if (!f)
				break;
		}
		const struct perfdata_sample s = { .ip = chain[0], .time = 1000 + i * 337, .period = 1009, .pid = PID,
			.tid = PID, .chain = chain, .chain_length = n };
		perfdata_sample(w, &s);
	}
	if (perfdata_finish(w, &bytes, &samples, &err)) {
		fprintf(stderr, "%s\n", err.text);
		return 1;
	}
	return samples != wanted;
}
