/* SPDX-License-Identifier: GPL-2.0-or-later
 * Fuzzer for the uncore PMU under any writes and any batches, and for the parser of its tables. The first byte chooses
 * between the text of a table, and operations on one of the tables. No counter may exceed its width, and a value that
 * was read must be writable again. */
#include "softpmu/uncore.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "data_dir.h"

struct input { const uint8_t *at, *end; };

static uint64_t take(struct input *in, unsigned bytes)
{
	uint64_t v = 0;
	for (unsigned i = 0; i < bytes && in->at < in->end; i++)
		v |= (uint64_t)*in->at++ << 8 * i;
	return v;
}

static void table(const uint8_t *data, size_t size)
{
	char path[] = "/tmp/softpmu-fuzz-uncore-XXXXXX", text[300];
	struct spmu_uncore_model *m;
	int fd = mkstemp(path);
	if (fd < 0)
		return;
	if (write(fd, data, size) == (ssize_t)size && spmu_uncore_load(&m, path, text, sizeof text) == SPMU_OK)
		spmu_uncore_free(m);
	close(fd);
	unlink(path);
}

static void on_pmi(void *context, struct spmu_uncore *u, uint64_t cores)
{
	struct input *in = context;
	(void)cores;
	if (in->at < in->end && *in->at & 1)	/* the handler writes, too */
		spmu_uncore_wrmsr(u, spmu_uncore_rdmsr(u, 0x2000, &(uint64_t){ 0 }) ? 0x391 : 0x2ff0,
			take(in, 4) & 0xe000000f);
}

static void batch(struct spmu_uncore *u, int source, struct input *in)
{
	struct spmu_record r[8] = { 0 };
	struct spmu_batch b = { .base_cycle = take(in, 2), .count = take(in, 1) % 9, .is_last = take(in, 1) & 1,
		.records = r };
	for (uint32_t i = 0; i < b.count; i++) {
		r[i].kind = take(in, 1) & 1 ? SPMU_REC_SIGNAL : SPMU_REC_UOP;
		r[i].signal = SPMU_SIG_UNC_READ - 4 + (uint32_t)take(in, 1) % 24;
		r[i].did = take(in, 2);
		r[i].begin = (uint32_t)take(in, 2);
		r[i].end = (uint32_t)take(in, 2);
		r[i].unit = (uint32_t)take(in, 1);
		r[i].found = (uint32_t)take(in, 1) % 12;
	}
	b.watermark = take(in, 2);
	if (take(in, 1) == 7)
		b.watermark = b.base_cycle = take(in, 8);
	spmu_uncore_consume(u, source, &b);
}

static struct spmu_uncore_model *model[3];

/* The tables are loaded here, so that loading does not count towards the second that an input may take. */
int LLVMFuzzerInitialize(int *argc, char ***argv)
{
	static const char *const name[] = { "skylake", "ivy-bridge", "golden-cove" };
	(void)argc, (void)argv;
	for (unsigned i = 0; i < 3; i++) {
		char path[512], text[300];
		snprintf(path, sizeof path, "%s/events/uncore-%s.tsv", data_dir(), name[i]);
		if (spmu_uncore_load(&model[i], path, text, sizeof text))
			abort();
	}
	return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct input in = { data, data + size };
	unsigned which = (unsigned)take(&in, 1) % 5;
	if (which > 2) {
		table(in.at, (size_t)(in.end - in.at));
		return 0;
	}
	struct spmu_uncore_host h = { .context = &in, .slices = 1 + (uint32_t)take(&in, 1) % 64,
		.channels = 1 + (uint32_t)take(&in, 1) % 16,
		.core_hz = 1 + take(&in, 4), .pmi = on_pmi };
	struct spmu_uncore *u;
	if (spmu_uncore_create(&u, model[which], &h))
		return 0;
	static const uint32_t base[] = { 0x391, 0x3b0, 0x700, 0xe01, 0x2000, 0x2ff0 };
	spmu_uncore_attach(u, 0);
	while (in.at < in.end) {
		uint8_t op = (uint8_t)take(&in, 1);
		uint32_t address = base[op >> 3 & 7 ? (op >> 3 & 7) % 6 : 0] + (uint32_t)take(&in, 1);
		uint64_t value;
		switch (op & 7) {
		case 0: case 1: spmu_uncore_wrmsr(u, address, take(&in, 8)); break;
		case 2:
			if (!spmu_uncore_rdmsr(u, address, &value) && value >> 60)
				abort();
			break;
		case 3: spmu_uncore_mmio_write(u, address & 7, 0x22800 + (uint32_t)take(&in, 1), op & 64 ? 4 : 8,
			take(&in, 8)); break;
		case 4: spmu_uncore_mmio_read(u, address & 7, op & 64 ? 0x5040 + address % 64 : 0x2280 + address % 64,
			1u << (op >> 5 & 3), &value); break;
		case 5: batch(u, (int)take(&in, 1) % 4 - 1, &in); break;
		case 6: if (op & 64) spmu_uncore_attach(u, op); else spmu_uncore_detach(u, (int)take(&in, 1) % 4);
			break;
		default: batch(u, 0, &in); break;
		}
	}
	spmu_uncore_destroy(u);
	return 0;
}
