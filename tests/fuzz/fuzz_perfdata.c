/* SPDX-License-Identifier: GPL-2.0-or-later
 * libFuzzer harness for the perf.data reader and its users: profile, call trees, both reports.
 *
 *   clang -g -O1 -fsanitize=fuzzer,address,undefined -D_GNU_SOURCE -Iinclude -Isrc -o fuzz_perfdata
 *     tests/fuzz/fuzz_perfdata.c \
 *       src/output/[a-z]*.c src/isa/disasm/disasm.c src/util/err.c -lZydis -ldw -lelf -liberty && ./fuzz_perfdata
 *         -max_total_time=60
 *
 * The first byte chooses: even, the rest is a whole file; odd, it is the data section of a well-formed
 * file with two events and call chains, so that records are reached at once. Checked: no crash, no read outside
 * of the file (every text and chain is read), periods that add up. */
#include "output/annotate.h"
#include <linux/perf_event.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static uint8_t *forge(const uint8_t *data, size_t size, size_t *whole)
{
	struct perfdata_header h = { .size = sizeof h, .attr_size = 112 + 16 };
	size_t attrs = sizeof h + 16, start = attrs + 2 * 128;
	uint8_t *file = calloc(1, start + size);
	if (!file)
		abort();
	memcpy(h.magic, "PERFILE2", 8);
	h.attrs = (struct perfdata_section){ attrs, 2 * 128 };
	h.data = (struct perfdata_section){ start, size };
	memcpy(file, &h, sizeof h);
	for (unsigned i = 0; i < 2; i++) {
		struct perf_event_attr a = { .size = 112, .type = i, .sample_period = 7, .sample_id_all = 1,
			.sample_type =
			PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME |
				PERF_SAMPLE_PERIOD | PERF_SAMPLE_CALLCHAIN };
		uint64_t id = i + 1;
		struct perfdata_section ids = { sizeof h + 8 * i, 8 };
		memcpy(file + sizeof h + 8 * i, &id, 8);
		memcpy(file + attrs + 128 * i, &a, 112);
		memcpy(file + attrs + 128 * i + 112, &ids, 16);
	}
	memcpy(file + start, data, size);
	*whole = start + size;
	return file;
}

static void report(struct perfdata_file *f)
{
	struct profile_options o = { .key = { PROFILE_COMM, PROFILE_DSO, PROFILE_SYMBOL, PROFILE_TID }, .keys = 4,
		.chains = true, .trees = true,
		.children = true, .caller_first = true, .inlines = true };
	struct report_options r = { .file_name = "x", .print_chains = true, .counts = true, .totals = true,
		.threads = true };
	struct profile *p;
	char *text;
	size_t bytes;
	if (profile_load(&p, f, &o, NULL))
		return;
	for (size_t i = 0; i < p->events; i++) {
		uint64_t sum = 0;
		for (size_t k = 0; k < p->event[i].entries; k++)
			sum += p->event[i].entry[k].self;
		if (sum != p->event[i].period)
			abort();
	}
	FILE *to = open_memstream(&text, &bytes);
	if (!to)
		abort();
	report_stdio(to, p, &r);
	report_json(to, p, &r);
	r.hierarchy = true;
	report_stdio(to, p, &r);
	r.hierarchy = false;
	r.separator = ",";
	report_stdio(to, p, &r);
	fclose(to);
	free(text);
	profile_free(p);
	struct annotate *a;
	if (annotate_load(&a, f, NULL) == 0)
		annotate_free(a);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct perfdata_file *f;
	struct perfdata_record r;
	uint8_t id[PERFDATA_BUILD_ID_BYTES];
	if (!size)
		return 0;
	size_t bytes = size - 1;
	uint8_t *forged = data[0] & 1 ? forge(data + 1, size - 1, &bytes) : NULL;
	if (perfdata_open_memory(&f, forged ? forged : data + 1, bytes, NULL) == 0) {
		volatile uint64_t sum = 0;
		while (perfdata_next(f, &r)) {
			if (r.text)
				sum += strlen(r.text);
			for (size_t i = 0; i < r.chain_length; i++)
				sum += perfdata_chain_ip(&r, i);
			for (unsigned i = 0; i < r.build_id_bytes; i++)
				sum += r.build_id[i];
		}
		const void *body;
		size_t body_bytes;
		for (uint64_t at = 0; perfdata_next_tool(f, &at, &body, &body_bytes);)
			for (size_t i = 0; i < body_bytes; i++)
				sum += ((const uint8_t *)body)[i];
		for (size_t i = 0; perfdata_word(f, i) && i < 100; i++)
			sum += strlen(perfdata_word(f, i));
		for (unsigned i = PERFDATA_HOSTNAME; i <= PERFDATA_CPUID; i++)
			if (perfdata_feature_text(f, i))
				sum += strlen(perfdata_feature_text(f, i));
		(void)sum;
		perfdata_build_id(f, "/bin/x", id);
		report(f);
		perfdata_close(f);
	}
	free(forged);
	return 0;
}
