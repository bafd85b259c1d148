/* SPDX-License-Identifier: GPL-2.0-or-later
 * What the tests of NetBurst's PMU share: tables (also with one thread, or of another model), programming by name.
 */
#ifndef NETBURST_FIXTURE_H
#define NETBURST_FIXTURE_H
#include "pmu_fixture.h"
#include <unistd.h>

#define NB_MASK ((UINT64_C(1) << 40) - 1)
#define NB_COUNTER(n) (MSR_BPU_COUNTER0 + (n))
#define NB_CCCR(n) (MSR_BPU_CCCR0 + (n))
enum { ALL_CLASSES = SPMU_ESCR_T0_USR | SPMU_ESCR_T0_OS | SPMU_ESCR_T1_USR | SPMU_ESCR_T1_OS, T0 = SPMU_ESCR_T0_USR | SPMU_ESCR_T0_OS };

/* data/events/netburst.tsv with the line `shape` (a row, or a shape line) in place of the one that begins with the same word. */
static inline struct spmu_model *netburst_model(const char *shape)
{
	char path[512], copy[] = "/tmp/softpmu-netburst-XXXXXX", line[4096], text[300] = "";
	const char *top = getenv("TOP");
	struct spmu_model *m = NULL;
	snprintf(path, sizeof path, "%s/data/events/netburst.tsv", top ? top : ".");
	FILE *in = fopen(path, "r");
	int fd = mkstemp(copy);
	FILE *out = fd < 0 ? NULL : fdopen(fd, "w");
	assert_true(in && out);
	while (fgets(line, sizeof line, in))
		fprintf(out, "%s\n", !strncmp(line, shape, strcspn(shape, " \t")) ? shape : (line[strcspn(line, "\n")] = 0, line));
	fclose(in);
	fclose(out);
	int error = spmu_model_load(&m, copy, text, sizeof text);
	unlink(copy);
	if (error)
		fail_msg("%s", text);
	return m;
}

static inline struct spmu *netburst_pmu(const struct spmu_model *m, const struct spmu_host *host)
{
	struct spmu *p = NULL;
	assert_int_equal(spmu_create(&p, m, host), SPMU_OK);
	assert_int_equal(spmu_apic_write(p, SPMU_APIC_LVT_PC, 0x400), SPMU_OK);
	return p;
}

static inline void nb_write(struct spmu *p, uint32_t msr, uint64_t value)
{
	if (spmu_wrmsr(p, msr, value) != SPMU_OK)
		fail_msg("WRMSR %x, %llx refused", msr, (unsigned long long)value);
}

/* The ESCR image of an event: its mask, `who` (and tag fields). */
static inline uint32_t nb_escr(const struct spmu_event *e, uint32_t who)
{
	return SPMU_ESCR_EVENT(e->event) | SPMU_ESCR_MASK(e->umask) | who;
}

/* Programs counter n with an event and enables it: the ESCR on its side, then the CCCR. */
static inline void nb_program(struct spmu *p, unsigned n, const char *name, uint32_t who, uint32_t cccr)
{
	const struct spmu_event *e = fixture_event(p->model, name);
	uint32_t escr = spmu_netburst_escr(p->model, n, e->escr_select);
	assert_true(e->pmc_mask >> n & 1);
	nb_write(p, escr, nb_escr(e, who));
	nb_write(p, NB_CCCR(n), SPMU_CCCR_ENABLE | SPMU_CCCR_SELECT(e->escr_select) | SPMU_CCCR_ACTIVE(3) | cccr);
}

static inline uint64_t nb_count(const struct spmu *p, unsigned n)
{
	return fixture_read(p, NB_COUNTER(n));
}

static inline void stream_cycles(struct stream *s, unsigned thread, unsigned cpl, uint64_t begin, uint64_t end)
{
	stream_signal(s, SPMU_SIG_CYCLES, begin, end, 1);
	s->r[s->n - 1].hw_thread = (uint8_t)thread;
	s->r[s->n - 1].cpl = (uint8_t)cpl;
}

/* A squashed uop that left the core at `cycle` (PMU_NEVER: its record does not say). */
static inline struct spmu_record *stream_squashed(struct stream *s, uint64_t is, uint64_t cycle)
{
	struct spmu_record *r = stream_inst(s, 0x9000, is, 0, cycle == PMU_NEVER ? 5 : cycle);
	r->did &= ~SPMU_DID(RETIRED);
	s->at[s->n - 1][5] = cycle;
	return r;
}
#endif
