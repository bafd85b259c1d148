/* SPDX-License-Identifier: BSD-2-Clause
 * Save and restore: the whole state of a PMU as a block of bytes.
 *
 * A block has a version and its length, says which model and host it belongs to, and ends with a checksum of all bytes
 * before it and a mark.  The mark's last byte is not 0, so a block that was cut and filled up with zeros is not whole.
 * The checksum of 64 bits finds every change within one word of 8 bytes, and other damage but for about one case in
 * 2^64.  It does not protect against a forger, so the registers of a block are checked as WRMSR checks them, too.  No
 * address of this process is in a block.
 */
#include "ds/ds.h"
#include "pmu_internal.h"
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

struct saved_counter { uint64_t value, remainder, armed_from; uint8_t armed, previous; };
struct saved {
	char magic[8];
	uint32_t version, bytes;
	uint64_t model;			/* pmu_model_identity */
	uint32_t family, counters, lvt;
	uint32_t cpuid[4];
	uint8_t cr4_pce, siblings, on;
	union pmu_registers registers;
	struct pmu_ds_state ds;
	struct pmu_pushout_state pushout;
	struct saved_counter counter[PMU_MAX_COUNTERS];
};
/* Behind it: the other threads' registers (pmu_threads_save), and this. */
struct tail {
	uint64_t checksum;		/* of all before it */
	char end[8];
};
static const char saved_magic[8] = "SPMUsave", saved_end[8] = "SPMUdone";
enum { SAVED_VERSION = 4 };
_Static_assert(sizeof(struct saved) % sizeof(uint64_t) == 0, "the checksum covers whole words");
_Static_assert(sizeof(struct pmu_logical) % sizeof(uint64_t) == 0, "here, too");
_Static_assert(sizeof(struct tail) == 2 * sizeof(uint64_t), "nothing follows the mark");

/* Mixes one word into a hash.  Both steps are invertible, so two hashes that differ in one word differ. */
static uint64_t mix(uint64_t hash, uint64_t word)
{
	hash = (hash ^ word) * UINT64_C(0x9e3779b97f4a7c15);	/* 2^64 / golden ratio */
	return hash ^ hash >> 32;
}

/* The checksum of this many bytes. */
static uint64_t checksum(const void *block, size_t bytes)
{
	uint64_t hash = bytes;
	for (size_t i = 0; i < bytes; i += sizeof(uint64_t)) {
		uint64_t word;
		memcpy(&word, (const char *)block + i, sizeof word);
		hash = mix(hash, word);
	}
	return hash;
}

uint64_t pmu_model_identity(const struct spmu_model *m)
{
	const uint64_t shape[] = { m->family->public, m->counters, m->capabilities, m->version, m->gp, m->fixed,
		m->slots, m->tsc_num, m->tsc_den, m->any_thread, m->features, m->model, m->threads, m->cpuid[0],
		m->cpuid[1], m->cpuid[2], m->cpuid[3] };
	uint64_t hash = m->rows;
	for (const char *c = pmu_offcore_name(m->offcore); *c; c++)
		hash = mix(hash, (uint8_t)*c);
	for (size_t i = 0; i < sizeof shape / sizeof *shape; i++)
		hash = mix(hash, shape[i]);
	for (size_t i = 0; i < m->rows; i++) {
		const struct spmu_event *e = &m->row[i].public;
		for (const char *c = e->name; *c; c++)
			hash = mix(hash, (uint8_t)*c);
		hash = mix(hash, e->event | (uint64_t)e->umask << 8 | (uint64_t)e->cmask << 24 |
			(uint64_t)e->escr_select << 32 | (uint64_t)(uint8_t)e->fixed << 40 | (uint64_t)e->inv << 48 |
			(uint64_t)e->edge << 49 | (uint64_t)e->any << 50);
		hash = mix(hash, e->pmc_mask);
	}
	return hash;
}

void pmu_save_seal(const struct spmu *p, void *block)
{
	const size_t bytes = spmu_state_bytes(p) - sizeof(struct tail);
	const uint64_t sum = checksum(block, bytes);
	memcpy((char *)block + bytes + offsetof(struct tail, checksum), &sum, sizeof sum);
}

size_t spmu_state_bytes(const struct spmu *p)
{
	return sizeof(struct saved) + pmu_threads_bytes(p) + sizeof(struct tail);
}

void spmu_save(struct spmu *p, void *out)
{
	const size_t bytes = spmu_state_bytes(p);
	struct saved *s = calloc(1, bytes);
	memset(out, 0, bytes);	/* spmu_restore refuses this, in case memory runs out now */
	if (!s)
		return;
	pmu_settle(p);
	unsigned was = pmu_on(p, 0);
	memcpy(s->magic, saved_magic, sizeof s->magic);
	s->version = SAVED_VERSION;
	s->bytes = (uint32_t)bytes;
	s->model = p->model->identity;
	s->family = p->model->family->public;
	s->counters = p->model->counters;
	memcpy(s->cpuid, p->model->cpuid, sizeof s->cpuid);
	s->lvt = p->lvt;
	s->cr4_pce = p->cr4_pce;
	s->siblings = p->host.siblings;
	s->on = (uint8_t)was;
	s->registers = p->registers;
	s->ds = p->ds;
	pmu_pushout_save(p, &s->pushout);
	for (unsigned i = 0; i < p->model->counters; i++) {
		const struct pmu_counter *c = &p->counter[i];
		s->counter[i].value = c->value;
		s->counter[i].remainder = c->remainder;
		s->counter[i].armed_from = c->armed_from;
		s->counter[i].armed = c->armed;
		s->counter[i].previous = c->previous;
	}
	pmu_threads_save(p, s + 1);
	memcpy((char *)s + bytes - sizeof saved_end, saved_end, sizeof saved_end);
	pmu_save_seal(p, s);
	memcpy(out, s, bytes);
	free(s);
	pmu_on(p, was);
}

/* The part of a restore that may have to be undone. */
static void put_state(struct spmu *p, const struct saved *s)
{
	pmu_on(p, 0);
	p->registers = s->registers;
	p->ds = s->ds;
	pmu_threads_put(p, s + 1);
	p->lvt = s->lvt & PMU_LVT_WRITABLE;
	p->cr4_pce = s->cr4_pce & 1;
}

/* The block is whole and belongs to such a PMU. */
static bool fits(const struct spmu *p, const struct saved *s)
{
	const size_t bytes = spmu_state_bytes(p) - sizeof(struct tail);
	struct tail t;
	memcpy(&t, (const char *)s + bytes, sizeof t);
	return t.checksum == checksum(s, bytes) && !memcmp(t.end, saved_end, sizeof t.end) &&
		s->model == p->model->identity && s->family == p->model->family->public &&
		s->counters == p->model->counters && s->siblings == p->host.siblings &&
		s->ds.lbr.style == p->ds.lbr.style && !memcmp(s->cpuid, p->model->cpuid, sizeof s->cpuid) &&
		pmu_pushout_valid(p, &s->pushout) && pmu_threads_fit(p, s + 1);
}

/* Puts the registers of `s` into the PMU. */
static int put_registers(struct spmu *p, const struct saved *s)
{
	put_state(p, s);
	int error = p->model->family->restored(p);
	if (!error)
		error = pmu_threads_restored(p);
	if (!error)
		error = pmu_pushout_restore(p, &s->pushout);
	return error ? error : pmu_plan(p);
}

int spmu_restore_bytes(struct spmu *p, const void *in, size_t bytes)
{
	const size_t whole = spmu_state_bytes(p);
	const unsigned was = p->on;
	struct saved *s = calloc(1, whole), *old = malloc(whole);
	int error = s && old ? SPMU_OK : SPMU_ENOMEM;
	/* its beginning says how long it is, and whether the rest may be read */
	const size_t head = offsetof(struct saved, model);
	if (!error) {
		memcpy(s, in, bytes < head ? bytes : head);
		if (bytes != whole || memcmp(s->magic, saved_magic, sizeof s->magic) ||
			s->version != SAVED_VERSION || s->bytes != whole)
			error = SPMU_EINPUT;
	}
	if (!error) {
		memcpy(s, in, whole);
		if (!fits(p, s))
			error = SPMU_EINPUT;
	}
	if (!error) {
		spmu_save(p, old);
		error = put_registers(p, s);
		if (error) {
			put_state(p, old);
			p->model->family->restored(p);
			pmu_threads_restored(p);
			pmu_pushout_restore(p, &old->pushout);
			pmu_plan(p);	/* cannot fail: this plan's memory is still there */
		}
	}
	if (!error && p->threads > 1)
		pmu_settle(p);		/* what was known before went into the old values */
	for (unsigned i = 0; !error && i < p->model->counters; i++) {
		struct pmu_counter *c = &p->counter[i];
		pmu_write_counter(p, i, s->counter[i].value);
		c->remainder = c->expr && c->expr->terms ? s->counter[i].remainder % c->expr->term[0].den : 0;
		c->armed_from = s->counter[i].armed_from;
		c->armed = s->counter[i].armed & 1;
		c->previous = s->counter[i].previous & 1;
	}
	pmu_on(p, error ? was : s->on);
	free(s);
	free(old);
	return error;
}

int spmu_restore(struct spmu *p, const void *in)
{
	return spmu_restore_bytes(p, in, spmu_state_bytes(p));
}
