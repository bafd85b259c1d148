/* SPDX-License-Identifier: GPL-2.0-or-later
 * Uncore PMUs of a run (uncore_events.h): one set of copies for each process, because each process has a
 * machine of its own.  Plays the kernel's driver: writes control registers of the boxes, reads counters.  Left
 * out: multiplexing, overflow interrupts.
 */
#include "session/events/uncore_events.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

struct job { const struct uncore_event *e; unsigned copy, counter; };	/* e NULL: not an uncore event */
struct machine {
	uint32_t process;
	struct spmu_uncore **pmu;	/* [copies] */
	uint64_t *last, *sum;		/* [events]: the last value of counters that may wrap within a run */
};
struct source { const struct run_thread *run; size_t machine; int *source; /* [copies] */ };

struct uncore_session {
	const struct spmu_uncore_model *model;
	struct spmu_uncore_host host;
	struct job *job;
	size_t jobs;
	unsigned copies;
	struct machine *machine;
	size_t machines;
	struct source *source;
	size_t sources;
};

static const struct spmu_uncore_unit *unit_of(const struct uncore_session *u, const struct job *j)
{
	return spmu_uncore_unit(u->model, j->e->unit);
}

static unsigned boxes_of(const struct uncore_session *u, const struct job *j)
{
	switch (unit_of(u, j)->boxes) {
	case SPMU_BOX_SLICE: return u->host.slices;
	case SPMU_BOX_CHANNEL: return u->host.channels;
	case SPMU_BOX_CONTROLLER: return (u->host.channels + 1) / 2;
	default: return 1;
	}
}

static bool of_box(const struct job *j, unsigned box)
{
	return j->e->box < 0 || (unsigned)j->e->box == box;
}

static bool is_clock(const struct uncore_session *u, const struct job *j)
{
	return !strcmp(unit_of(u, j)->name, "clock");
}

/* ---- registers ------------------------------------------------------------------------------------------ */

static int enable(struct uncore_session *u, struct spmu_uncore *p, const struct job *j)
{
	const struct spmu_uncore_unit *unit = unit_of(u, j);
	uint64_t control = j->e->control | SPMU_UNC_EN;
	int rc = SPMU_OK;
	if (is_clock(u, j))
		return spmu_uncore_wrmsr(p, MSR_UNC_PERF_FIXED_CTRL, SPMU_UNC_EN);
	if (!unit->programmable)
		return SPMU_OK;
	for (unsigned b = 0; b < boxes_of(u, j) && !rc; b++) {
		if (!of_box(j, b))
			continue;
		if (unit->boxes == SPMU_BOX_CHANNEL)
			rc = spmu_uncore_mmio_write(p, b / 2,
				MMIO_UNC_IMC_0_CTL0 + b % 2 * MMIO_UNC_IMC_STRIDE + 4 * j->counter, 4, control);
		else if (unit->boxes == SPMU_BOX_PACKAGE)
			rc = spmu_uncore_wrmsr(p, MSR_UNC_ARB_PERFEVTSEL0 + j->counter, control);
		else
			rc = spmu_uncore_wrmsr(p,
				(spmu_uncore_server(u->model) ? MSR_UNC_CHA_0_CTL0 : MSR_UNC_CBO_0_PERFEVTSEL0) +
					16 * b + j->counter,
				control);
	}
	return rc;
}

/* The offset of a free-running counter. */
static uint32_t free_offset(const struct uncore_session *u, unsigned counter)
{
	static const uint32_t client[] = { MMIO_UNC_DATA_READS, MMIO_UNC_DATA_WRITES, MMIO_UNC_GT_REQUESTS,
		MMIO_UNC_IA_REQUESTS, MMIO_UNC_IO_REQUESTS };
	static const uint32_t server[] = { MMIO_UNC_IMC_FREE_READ, MMIO_UNC_IMC_FREE_WRITE, MMIO_UNC_IMC_FREE_DCLK };
	return spmu_uncore_server(u->model) ? server[counter % 3] : client[counter % 5];
}

static uint64_t read_box(const struct uncore_session *u, const struct spmu_uncore *p, const struct job *j, unsigned b)
{
	const struct spmu_uncore_unit *unit = unit_of(u, j);
	bool server = spmu_uncore_server(u->model);
	uint64_t v = 0;
	if (is_clock(u, j))
		spmu_uncore_rdmsr(p, MSR_UNC_PERF_FIXED_CTR, &v);
	else if (!unit->programmable)
		spmu_uncore_mmio_read(p, b, free_offset(u, j->counter), server ? 8 : 4, &v);
	else if (unit->boxes == SPMU_BOX_CHANNEL)
		spmu_uncore_mmio_read(p, b / 2, MMIO_UNC_IMC_0_CTR0 + b % 2 * MMIO_UNC_IMC_STRIDE + 8 * j->counter, 8,
			&v);
	else if (unit->boxes == SPMU_BOX_PACKAGE)
		spmu_uncore_rdmsr(p, MSR_UNC_ARB_PERFCTR0 + j->counter, &v);
	else
		spmu_uncore_rdmsr(p, (server ? MSR_UNC_CHA_0_CTR0 : MSR_UNC_CBO_0_PERFCTR0) + 16 * b + j->counter, &v);
	return v;
}

static uint64_t read_all(const struct uncore_session *u, const struct machine *m, const struct job *j)
{
	uint64_t sum = 0;
	for (unsigned b = 0; b < boxes_of(u, j); b++)
		if (of_box(j, b))
			sum += read_box(u, m->pmu[j->copy], j, b);
	return sum;
}

/* 32-bit counters wrap after 256 GB. */
static bool narrow(const struct uncore_session *u, const struct job *j)
{
	return unit_of(u, j)->bits == 32;
}

static uint64_t counted(const struct uncore_session *u, const struct machine *m, size_t i)
{
	uint64_t v = read_all(u, m, u->job + i);
	return narrow(u, u->job + i) ? m->sum[i] + (uint32_t)(v - m->last[i]) : v;
}

/* ---- machines ------------------------------------------------------------------------------------------- */

static void machine_free(struct uncore_session *u, struct machine *m)
{
	for (unsigned k = 0; m->pmu && k < u->copies; k++)
		spmu_uncore_destroy(m->pmu[k]);
	free(m->pmu);
	free(m->last);
	free(m->sum);
}

static int machine_new(struct uncore_session *u, struct machine *m, uint32_t process, struct err *err)
{
	*m = (struct machine){ .process = process, .pmu = calloc(u->copies, sizeof *m->pmu),
		.last = calloc(u->jobs, sizeof *m->last),
		.sum = calloc(u->jobs, sizeof *m->sum) };
	int rc = m->pmu && m->last && m->sum ? SPMU_OK : SPMU_ENOMEM;
	for (unsigned k = 0; k < u->copies && !rc; k++) {
		rc = spmu_uncore_create(&m->pmu[k], u->model, &u->host);
		/* try both global registers; a machine has one of them */
		if (!rc && !spmu_uncore_server(u->model))
			rc = spmu_uncore_wrmsr(m->pmu[k], MSR_UNC_PERF_GLOBAL_CTRL, SPMU_UNC_GLOBAL_EN | 15) == SPMU_OK
				? SPMU_OK
				: spmu_uncore_wrmsr(m->pmu[k], MSR_UNC_PERF_GLOBAL_CTRL_SKL, SPMU_UNC_GLOBAL_EN | 31);
	}
	for (size_t i = 0; i < u->jobs && !rc; i++)
		if (u->job[i].e)
			rc = enable(u, m->pmu[u->job[i].copy], &u->job[i]);
	if (!rc)
		return 0;
	machine_free(u, m);
	return rc == SPMU_ENOMEM ? err_set(err, ERR_NOMEM, "out of memory for an uncore PMU") :
		err_set(err, ERR_UNSUPPORTED, "the uncore PMU refuses its registers (%d)", rc);
}

int uncore_session_start(struct uncore_session *u, const struct run_thread *t, struct err *err)
{
	size_t k = 0;
	while (k < u->machines && u->machine[k].process != t->process)
		k++;
	if (k == u->machines) {
		struct machine *grown = realloc(u->machine, (k + 1) * sizeof *grown);
		if (!grown)
			return err_set(err, ERR_NOMEM, "out of memory");
		u->machine = grown;
		int rc = machine_new(u, &u->machine[k], t->process, err);
		if (rc)
			return rc;
		u->machines++;
	}
	struct source *grown = realloc(u->source, (u->sources + 1) * sizeof *grown);
	int *number = calloc(u->copies, sizeof *number);
	if (grown)
		u->source = grown;
	if (!grown || !number) {
		free(number);
		return err_set(err, ERR_NOMEM, "out of memory");
	}
	u->source[u->sources++] = (struct source){ t, k, number };
	for (unsigned c = 0; c < u->copies; c++)
		if ((number[c] = spmu_uncore_attach(u->machine[k].pmu[c], t->cpu)) < 0)
			return err_set(err, ERR_NOMEM, "out of memory for a core of the uncore PMU");
	return 0;
}

static struct source *source_of(const struct uncore_session *u, const struct run_thread *t)
{
	for (size_t i = u->sources; i > 0; i--)
		if (u->source[i - 1].run == t)
			return &u->source[i - 1];
	return NULL;
}

void uncore_session_end(struct uncore_session *u, const struct run_thread *t)
{
	struct source *s = source_of(u, t);
	if (!s)
		return;
	for (unsigned c = 0; c < u->copies; c++)
		spmu_uncore_detach(u->machine[s->machine].pmu[c], s->source[c]);
	free(s->source);
	*s = u->source[--u->sources];
}

void uncore_session_batch(struct uncore_session *u, const struct run_thread *t, const struct spmu_batch *b)
{
	struct source *s = source_of(u, t);
	if (!s)
		return;
	struct machine *m = &u->machine[s->machine];
	for (unsigned c = 0; c < u->copies; c++)
		spmu_uncore_consume(m->pmu[c], s->source[c], b);
	for (size_t i = 0; i < u->jobs; i++)
		if (u->job[i].e && narrow(u, &u->job[i])) {
			uint64_t v = read_all(u, m, &u->job[i]);
			m->sum[i] += (uint32_t)(v - m->last[i]);
			m->last[i] = v;
		}
}

uint64_t uncore_session_count(const struct uncore_session *u, size_t event)
{
	uint64_t sum = 0;
	for (size_t k = 0; k < u->machines; k++)
		sum += counted(u, &u->machine[k], event);
	return sum;
}

uint64_t uncore_session_process_count(const struct uncore_session *u, uint32_t process, size_t event)
{
	for (size_t k = 0; k < u->machines; k++)
		if (u->machine[k].process == process)
			return counted(u, &u->machine[k], event);
	return 0;
}

void uncore_session_wanted(const struct uncore_session *u, uint64_t set[2])
{
	for (size_t i = 0; i < u->jobs; i++) {
		uint64_t one[2];
		bool modelled;
		if (!u->job[i].e)
			continue;
		uint64_t control = u->job[i].e->control;
		uint32_t umask = (uint32_t)(control >> 8 & 0xff) | (uint32_t)(control >> 32) << 8;
		spmu_uncore_detects(u->model, u->job[i].e->unit, control & 0xff, umask, &modelled, one);
		set[0] |= one[0];
		set[1] |= one[1];
	}
}

/* ---- creation ------------------------------------------------------------------------------------------- */

/* First fit: the same counter in all boxes of the unit, in the first copy where it is free. */
static int assign(struct uncore_session *u, struct err *err)
{
	uint8_t (*used)[16] = calloc(u->jobs ? u->jobs : 1, sizeof *used);	/* [copy][unit] */
	if (!used)
		return err_set(err, ERR_NOMEM, "out of memory");
	for (size_t i = 0; i < u->jobs; i++) {
		struct job *j = &u->job[i];
		if (!j->e)
			continue;
		unsigned free_ones = j->e->counters, copy = 0;
		if (unit_of(u, j)->programmable) {
			while (!(free_ones = j->e->counters & ~used[copy][j->e->unit]))
				copy++;
			used[copy][j->e->unit] |= (uint8_t)(free_ones & -free_ones);
		}
		j->copy = copy;
		j->counter = (unsigned)__builtin_ctz(free_ones);
		u->copies = copy + 1 > u->copies ? copy + 1 : u->copies;
	}
	free(used);
	return 0;
}

int uncore_session_create(struct uncore_session **out, const struct core_config *core,
	const struct uncore_event *const *event, size_t events, struct err *err)
{
	struct uncore_session *u = calloc(1, sizeof *u);
	if (!u)
		return err_set(err, ERR_NOMEM, "out of memory");
	u->host = (struct spmu_uncore_host){ .slices = core->l3_slices, .channels = core->dram_channels,
		.core_hz = (uint64_t)llround(core->frequency_ghz * 1e9) };
	u->jobs = events;
	u->job = calloc(events ? events : 1, sizeof *u->job);
	int rc = u->job ? 0 : err_set(err, ERR_NOMEM, "out of memory");
	for (size_t i = 0; i < events && !rc; i++)
		if (event[i] && event[i]->model) {
			u->job[i].e = event[i];
			u->model = event[i]->model;
		}
	if (!rc)
		rc = assign(u, err);
	struct machine trial;	/* a trial, so that what the registers refuse is refused before the program starts */
	if (!rc && u->copies && !(rc = machine_new(u, &trial, 0, err)))
		machine_free(u, &trial);
	if (rc) {
		uncore_session_destroy(u);
		return rc;
	}
	*out = u;
	return 0;
}

void uncore_session_destroy(struct uncore_session *u)
{
	if (!u)
		return;
	for (size_t i = 0; i < u->machines; i++)
		machine_free(u, &u->machine[i]);
	for (size_t i = 0; i < u->sources; i++)
		free(u->source[i].source);
	free(u->machine);
	free(u->source);
	free(u->job);
	free(u);
}
