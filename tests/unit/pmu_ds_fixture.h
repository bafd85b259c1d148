/* SPDX-License-Identifier: GPL-2.0-or-later
 * What the tests of DS area, PEBS, BTS and LBR share: a guest with memory and registers, and models of other shapes.
 */
#ifndef PMU_DS_FIXTURE_H
#define PMU_DS_FIXTURE_H
#include "pmu_fixture.h"

enum { DS_AREA = 0x1000, PEBS_BUFFER = 0x4000, BTS_BUFFER = 0x2000, GUEST_BYTES = 0x20000 };

struct guest {
	uint8_t memory[GUEST_BYTES];	/* linear addresses from 0 */
	uint64_t fault;			/* page that faults, 0 none */
	unsigned pmis, faults;
	struct spmu_pmi pmi;		/* the last one */
	void (*on_pmi)(struct guest *g, struct spmu *p, const struct spmu_pmi *pmi);
	uint8_t traced[8192];
	size_t traced_bytes;
	struct spmu_host host;
};

static inline bool guest_has(struct guest *g, uint64_t address, size_t n)
{
	bool has = address < GUEST_BYTES && n <= GUEST_BYTES - address && !(g->fault && address >> 12 <= g->fault >> 12 &&
		(address + n - 1) >> 12 >= g->fault >> 12);
	g->faults += !has;
	return has;
}

static inline int guest_read(void *context, uint64_t address, void *to, size_t n)
{
	struct guest *g = context;
	if (!guest_has(g, address, n))
		return 1;
	memcpy(to, g->memory + address, n);
	return 0;
}

static inline int guest_write(void *context, uint64_t address, const void *from, size_t n)
{
	struct guest *g = context;
	if (!guest_has(g, address, n))
		return 1;
	memcpy(g->memory + address, from, n);
	return 0;
}

/* Registers that tell which instruction and which side: RAX is its address and 1 behind it, register n is n << 8. */
static inline int guest_registers(void *context, const struct spmu_batch *b, uint32_t record, bool before, struct spmu_registers *out)
{
	(void)context;
	memset(out, 0, sizeof *out);
	out->rflags = 0x246;
	out->rip = b->records[record].ip + (before ? 0 : 4);
	for (unsigned i = 0; i < 16; i++) {
		out->gpr[i] = i << 8;
		out->xmm[i][0] = 0x1000 + i;
		out->xmm[i][1] = 0x2000 + i;
	}
	out->gpr[0] = b->records[record].ip | (before ? 0 : 1);
	return 0;
}

static inline void guest_pmi(void *context, struct spmu *p, const struct spmu_pmi *pmi, const struct spmu_batch *b)
{
	struct guest *g = context;
	(void)b;
	g->pmis++;
	g->pmi = *pmi;
	spmu_apic_write(p, SPMU_APIC_LVT_PC, 0x400);
	if (g->on_pmi)
		g->on_pmi(g, p, pmi);
}

static inline void guest_output(void *context, const void *record, size_t bytes)
{
	struct guest *g = context;
	if (bytes <= sizeof g->traced - g->traced_bytes)
		memcpy(g->traced + g->traced_bytes, record, bytes);
	g->traced_bytes += bytes;
}

static inline struct guest *guest_new(void)
{
	struct guest *g = calloc(1, sizeof *g);
	g->host = (struct spmu_host){ .context = g, .pmi = guest_pmi, .read_memory = guest_read, .write_memory = guest_write };
	return g;
}

static inline uint64_t guest_get(const struct guest *g, uint64_t address, unsigned n)
{
	uint64_t v = 0;
	assert_true(address + n <= GUEST_BYTES);
	memcpy(&v, g->memory + address, n);
	return v;
}

static inline uint64_t guest_u64(const struct guest *g, uint64_t address)
{
	return guest_get(g, address, 8);
}

static inline void guest_put(struct guest *g, uint64_t address, uint64_t v, unsigned n)
{
	assert_true(address + n <= GUEST_BYTES);
	memcpy(g->memory + address, &v, n);
}

/* The management area: `records` of `size` bytes in each buffer, threshold behind the `at`-th. */
static inline void guest_pebs(struct guest *g, unsigned size, unsigned records, unsigned at)
{
	guest_put(g, DS_AREA + 0x20, PEBS_BUFFER, 8);
	guest_put(g, DS_AREA + 0x28, PEBS_BUFFER, 8);
	guest_put(g, DS_AREA + 0x30, PEBS_BUFFER + size * records, 8);
	guest_put(g, DS_AREA + 0x38, PEBS_BUFFER + size * at, 8);
}

static inline void guest_bts(struct guest *g, unsigned size, unsigned records, unsigned at)
{
	guest_put(g, DS_AREA + 0x00, BTS_BUFFER, 8);
	guest_put(g, DS_AREA + 0x08, BTS_BUFFER, 8);
	guest_put(g, DS_AREA + 0x10, BTS_BUFFER + size * records, 8);
	guest_put(g, DS_AREA + 0x18, BTS_BUFFER + size * at, 8);
}

static inline unsigned guest_records(const struct guest *g, unsigned size)
{
	return (unsigned)(guest_u64(g, DS_AREA + 0x28) - PEBS_BUFFER) / size;
}

/* A table with other capabilities. */
static inline struct spmu_model *model_like(const char *name, uint64_t capabilities)
{
	struct spmu_model *m = fixture_model(name);
	m->capabilities = capabilities;
	return m;
}

static inline void put_msr(struct spmu *p, uint32_t msr, uint64_t value)
{
	int outcome = spmu_wrmsr(p, msr, value);
	if (outcome != SPMU_OK)
		fail_msg("WRMSR %x, %llx: %d", msr, (unsigned long long)value, outcome);
}

/* n instructions of 4 bytes from ip on, one a cycle. */
static inline void stream_straight(struct stream *s, unsigned n, uint64_t ip, uint64_t retire)
{
	for (unsigned i = 0; i < n; i++)
		stream_inst(s, ip + 4 * i, 0, 0, retire + i);
}

static inline struct spmu_record *stream_branch(struct stream *s, uint64_t ip, uint64_t to, uint64_t is, uint64_t did, uint64_t retire)
{
	struct spmu_record *r = stream_inst(s, ip, SPMU_IS(BRANCH) | is, SPMU_DID(TAKEN) | did, retire);
	r->addr = to;
	return r;
}
#endif
