/* SPDX-License-Identifier: GPL-2.0-or-later
 * Runs a block on a core until its timing repeats.
 *
 * The region (all copies, or one iteration of a loop) is run over and over; each such pass's end is kept.  The
 * run is steady when the last passes repeat exactly with some period, over more instructions than the machine
 * has in flight; then the cycles of one period are exact.  A run that does not repeat within RUN_INSNS
 * instructions is averaged over part of its second half.  Each block gets a machine of its own, so that its
 * figures do not depend on earlier runs.
 */
#include "analysis/block/block_private.h"
#include "core/core.h"
#include "stream/format.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CODE_BASE UINT64_C(0x400000)
enum {
	/* instructions of a decoded block, if an iteration is shorter: the core is fastest on these */
	CHUNK_INSNS = 48,
	CHUNK_MAX = 250,	/* otherwise; a block description numbers its instructions in a byte */
	RUN_INSNS = 40000, PASSES = 4096,
	SURE_INSNS = 2048,	/* must repeat for that long: four times the largest reorder buffer */
	PERIOD_MAX = 64,	/* passes */
	SAMPLES = 100000,
};

struct block_engine {
	struct core_config core;
	struct isa *isa;
};

struct chunk { struct iblock *b; uint64_t *slots; uint64_t next; uint32_t first; };

struct run {
	struct block_engine *e;
	const struct path *p;
	int word_bytes;
	unsigned copies;
	unsigned total;			/* instructions of the region */
	struct chunk *chunk;
	unsigned chunks;
	struct machine *m;
	struct core *c;
	uint64_t pass[PASSES + 1];	/* when each ended */
	unsigned passes;
	/* collecting */
	bool collect;
	struct samples s;
	uint64_t iteration;		/* of the next record */
	uint32_t step;			/* of the last record */
	uint16_t nth;
};

static int no_memory(struct err *err)
{
	return err_set(err, ERR_NOMEM, "out of memory for the block");
}

int block_engine_create(struct block_engine **out, const struct core_config *core, const char *data_dir,
	struct err *err)
{
	char path[4096];
	struct block_engine *e = calloc(1, sizeof *e);
	*out = NULL;
	if (!e)
		return no_memory(err);
	e->core = *core;
	snprintf(path, sizeof path, "%s/uops/%s.tsv", data_dir, core->uops);
	int rc = core_config_check(core, err);
	if (!rc)
		rc = isa_create(&e->isa, path, err);
	if (!rc) {
		struct isa_options o;
		core_isa_options(core, &o);
		isa_configure(e->isa, &o);
	}
	if (rc) {
		block_engine_destroy(e);
		return rc;
	}
	*out = e;
	return 0;
}

void block_engine_destroy(struct block_engine *e)
{
	if (!e)
		return;
	isa_destroy(e->isa);
	free(e);
}

/* ---- the region ---- */

static uint64_t step_address(const struct run *r, unsigned index)
{
	return CODE_BASE + index / r->p->steps * r->p->bytes + r->p->step[index % r->p->steps].offset;
}

/* Decodes instructions [from, to) of the region as one block. */
static int make_chunk(struct run *r, struct chunk *k, unsigned from, unsigned to, struct err *err)
{
	const struct path *p = r->p;
	unsigned insns = to - from, slots = 0;
	for (unsigned i = from; i < to; i++)
		slots += p->step[i % p->steps].accesses;
	size_t bytes = sizeof(struct st_block_def) + insns * sizeof(struct st_insn_def) +
		slots * sizeof(struct st_slot) + sizeof(struct st_exit_def);
	struct st_block_def *def = calloc(1, bytes);
	k->slots = calloc(slots + 1, sizeof *k->slots);
	if (!def || !k->slots) {
		free(def);
		return no_memory(err);
	}
	*def = (struct st_block_def){ .id = from, .insns = (uint16_t)insns, .slots = (uint16_t)slots, .exits = 1 };
	struct st_insn_def *insn = (struct st_insn_def *)(def + 1);
	struct st_slot *slot = (struct st_slot *)(insn + insns);
	struct st_exit_def *exit = (struct st_exit_def *)(slot + slots);
	unsigned n = 0;
	for (unsigned i = from; i < to; i++) {
		const struct step *st = &p->step[i % p->steps];
		insn[i - from].addr = step_address(r, i);
		insn[i - from].len = st->len;
		memcpy(insn[i - from].bytes, st->bytes, 15);
		for (unsigned a = st->first_access; a < st->first_access + st->accesses; a++, n++) {
			slot[n] = (struct st_slot){
				.kind = p->access[a].kind, .insn = (uint8_t)(i - from), .size = p->access[a].size
			};
			k->slots[n] = path_address(p, &p->access[a], p->stack_net * (int64_t)(i / p->steps));
		}
	}
	*exit = (struct st_exit_def){ .insns = (uint16_t)insns, .slots = (uint16_t)slots, .jump = ST_JUMP_BORING };
	k->next = step_address(r, to == r->total ? 0 : to);
	k->first = from;
	int rc = isa_decode(r->e->isa, r->word_bytes, def, bytes, &k->b, err);
	free(def);
	return rc;
}

static bool is_jcc(const struct step *st)
{
	return (st->bytes[0] & 0xf0) == 0x70 || (st->bytes[0] == 0x0f && (st->bytes[1] & 0xf0) == 0x80);
}

static int make_region(struct run *r, const struct block_spec *spec, struct err *err)
{
	const struct path *p = r->p;
	unsigned per = p->steps <= CHUNK_INSNS ? CHUNK_INSNS / p->steps * p->steps
		: p->steps <= CHUNK_MAX        ? p->steps
					       : CHUNK_MAX;
	r->copies = spec->loop ? 1 : spec->copies;
	if (!r->copies) {
		unsigned by_insns = BLOCK_REGION_INSNS / p->steps;
		uint64_t by_bytes = BLOCK_REGION_BYTES / p->bytes;
		r->copies = by_bytes < by_insns ? (unsigned)by_bytes : by_insns;
		r->copies = r->copies ? r->copies : 1;
	}
	r->total = r->copies * p->steps;
	r->chunk = calloc(r->total / (per / 2 + 1) + 2, sizeof *r->chunk);
	if (!r->chunk)
		return no_memory(err);
	int rc = 0;
	for (unsigned from = 0, to; from < r->total && !rc; from = to) {
		to = from + per < r->total ? from + per : r->total;
		/* a conditional branch may fuse with the instruction before: they stay together */
		while (to < r->total && to > from + per / 2 + 1 && is_jcc(&p->step[to % p->steps]))
			to--;
		rc = make_chunk(r, &r->chunk[r->chunks++], from, to, err);
	}
	return rc;
}

/* ---- records of the steady state ---- */

static void take_record(struct run *r, const struct spmu_record *rec, uint64_t base)
{
	struct samples *s = &r->s;
	if (rec->kind == SPMU_REC_SIGNAL) {
		uint64_t n = rec->end - rec->begin;
		if (rec->signal < SPMU_SIG_COUNT)
			s->signal[rec->signal] += (n ? n : 1) * rec->did;
		return;
	}
	if (s->n == SAMPLES)
		return;
	/* the next instruction of the path that has uops and lies at this address */
	if (rec->is & SPMU_IS(INST_BEGIN)) {
		const struct path *p = r->p;
		uint32_t step = r->step;
		for (unsigned tries = 0; tries < p->steps; tries++) {
			step++;
			if (step == p->steps) {
				step = 0;
				r->iteration++;
			}
			if ((rec->ip - CODE_BASE) % p->bytes == p->step[step].offset)
				break;
		}
		r->step = step;
		r->nth = 0;
	}
	s->s[s->n++] = (struct sample){ .step = r->step,
		.iteration = (uint32_t)r->iteration, .nth = r->nth++, .port = rec->port,
		.first = rec->is & SPMU_IS(INST_BEGIN), .did = rec->did, .fetch = base + rec->fetch,
		.alloc = base + rec->alloc, .ready = base + rec->ready, .dispatch = base + rec->dispatch,
		.complete = base + rec->complete, .retire = base + rec->retire };
}

static struct spmu_record *take_batch(void *context, const struct spmu_batch *batch)
{
	struct run *r = context;
	for (uint32_t i = 0; r->collect && i < batch->count; i++)
		take_record(r, &batch->records[i], batch->base_cycle);
	return NULL;
}

/* ---- the run ---- */

static void one_pass(struct run *r)
{
	for (unsigned i = 0; i < r->chunks; i++) {
		struct chunk *k = &r->chunk[i];
		core_run_block(r->c, k->b, 0, k->b->insns, k->slots, k->next);
	}
}

/* Whether the last passes repeat with period q. */
static bool repeats(const struct run *r, unsigned q, unsigned over)
{
	const uint64_t *end = r->pass + r->passes;
	for (unsigned i = 0; i < over; i++)
		if (end[-(long)i] - end[-(long)i - 1] != end[-(long)i - (long)q] - end[-(long)i - (long)q - 1])
			return false;
	return true;
}

static unsigned period(const struct run *r)
{
	unsigned sure = SURE_INSNS / r->total + 2;
	for (unsigned q = 1; q <= PERIOD_MAX; q++) {
		unsigned over = sure > 3 * q ? sure : 3 * q;
		if (r->passes < over + q + 2)
			return 0;
		if (repeats(r, q, over))
			return q;
	}
	return 0;
}

/* The number of passes over which a run without a period is averaged.  They begin where the passes before are
 * like the last ones: anywhere else, the core is further ahead or behind, and a cycle too many or too few would
 * count (2.0003 for 2). */
static unsigned alike(const struct run *r)
{
	unsigned half = r->passes / 2;
	for (unsigned same = SURE_INSNS / r->total + 2; same; same /= 2)
		for (unsigned over = half; over > half / 2; over--)
			if (over + same <= r->passes && repeats(r, over, same))
				return over;
	return half;
}

static void lowest_terms(struct block_result *result)
{
	uint64_t a = result->cycles, b = result->iterations;
	while (b) {
		uint64_t rest = a % b;
		a = b;
		b = rest;
	}
	if (a > 1) {
		result->cycles /= a;
		result->iterations /= a;
	}
}

static int start(struct run *r, struct err *err)
{
	const struct core_wanted none = { .is = ~UINT64_C(0), .did = ~UINT64_C(0) };
	int rc = machine_create(&r->m, &r->e->core, err);
	if (!rc)
		rc = core_create(&r->c, r->m, take_batch, r, err);
	if (rc)
		return rc;
	core_want(r->c, &none);
	/* the first round fills the caches, the second finds every line, the predictors learn */
	for (unsigned round = 0; round < 3; round++)
		for (unsigned i = 0; i < r->chunks; i++) {
			struct chunk *k = &r->chunk[i];
			core_warm_block(r->c, k->b, 0, k->b->insns, k->slots, k->next);
		}
	return 0;
}

static unsigned settle(struct run *r, struct block_result *result)
{
	unsigned most = RUN_INSNS / r->total, q = 0, next = SURE_INSNS / r->total + 8;
	most = most < 64 ? 64 : most > PASSES ? PASSES : most;
	r->pass[0] = core_now(r->c);
	while (r->passes < most && !q) {
		one_pass(r);
		r->pass[++r->passes] = core_now(r->c);
		if (r->passes >= next) {
			q = period(r);
			next = r->passes + r->passes / 4 + 1;
		}
	}
	unsigned over = q ? q : alike(r);
	result->periodic = q != 0;
	result->cycles = r->pass[r->passes] - r->pass[r->passes - over];
	result->iterations = (uint64_t)over * r->copies;
	lowest_terms(result);
	return over;
}

/* Runs some more passes and keeps their records. */
static int gather(struct run *r, unsigned over, struct err *err)
{
	const struct core_wanted all = {
		.signal = { ~UINT64_C(0), ~UINT64_C(0) }, .is = ~UINT64_C(0), .did = ~UINT64_C(0)
	};
	unsigned uops = 0;
	for (unsigned i = 0; i < r->chunks; i++)
		uops += r->chunk[i].b->uops;
	uops = uops ? uops : 1;
	unsigned limit = SAMPLES / uops;
	over = over > limit ? limit : over;
	over = over ? over : 1;
	unsigned least = (600 + r->total - 1) / r->total;	/* a timeline needs some iterations */
	if (over < least)
		over *= (least + over - 1) / over;
	over = over > limit && limit ? limit : over;
	r->s.s = malloc(SAMPLES * sizeof *r->s.s);
	if (!r->s.s)
		return no_memory(err);
	core_flush(r->c, false);
	core_want(r->c, &all);
	r->collect = true;
	r->step = r->p->steps - 1;
	r->iteration = UINT64_MAX;	/* the first record begins iteration 0 */
	uint64_t from = core_now(r->c);
	for (unsigned i = 0; i < over; i++)
		one_pass(r);
	r->s.cycles = core_now(r->c) - from;
	r->s.iterations = over * r->copies;
	core_flush(r->c, false);
	return 0;
}

/* The uops of the first iteration. */
static int flatten(const struct run *r, struct flat *f, struct err *err)
{
	unsigned room = 0;
	for (unsigned i = 0; i < r->chunks; i++)
		room += r->chunk[i].b->uops;
	f->uop = calloc(room + 1, sizeof *f->uop);
	f->addr = calloc(room + 1, sizeof *f->addr);
	if (!f->uop || !f->addr)
		return no_memory(err);
	for (unsigned i = 0; i < r->chunks; i++) {
		const struct chunk *k = &r->chunk[i];
		for (unsigned u = 0; u < k->b->uops; u++) {
			if (k->first + k->b->uop[u].insn >= r->p->steps)
				return 0;
			f->uop[f->n] = k->b->uop[u];
			f->uop[f->n].insn = (uint16_t)(k->first + k->b->uop[u].insn);
			f->addr[f->n++] = k->b->uop[u].slot < k->b->slots ? k->slots[k->b->uop[u].slot] : ST_NOT_DONE;
		}
	}
	return 0;
}

static int describe(const struct run *r, const struct flat *f, const struct block_spec *spec,
	struct block_result *result, struct err *err)
{
	const struct path *p = r->p;
	for (unsigned i = 0; i < r->chunks; i++) {
		const struct chunk *k = &r->chunk[i];
		for (unsigned n = 0; n < k->b->insns && k->first + n < p->steps; n++) {
			result->unknown += (k->b->insn[n].flags & INSN_UNKNOWN) != 0;
			result->substitute += (k->b->insn[n].flags & INSN_SUBSTITUTE) != 0;
		}
	}
	for (unsigned u = 0; u < f->n; u++) {
		result->uops++;
		result->slots += (f->uop[u].flags & UOP_SLOT) != 0;
	}
	if (!spec->detail)
		return 0;
	result->insn = calloc(p->steps, sizeof *result->insn);
	if (!result->insn)
		return no_memory(err);
	for (unsigned i = 0; i < r->chunks; i++) {
		const struct chunk *k = &r->chunk[i];
		for (unsigned n = 0; n < k->b->insns && k->first + n < p->steps; n++) {
			const struct step *st = &p->step[k->first + n];
			const struct insn *in = &k->b->insn[n];
			struct block_insn *out = &result->insn[k->first + n];
			out->offset = st->offset;
			out->len = st->len;
			memcpy(out->bytes, st->bytes, sizeof out->bytes);
			out->appended = st->appended;
			out->fused = in->flags & INSN_FUSED_INTO_PREV;
			out->unknown = in->flags & INSN_UNKNOWN;
			out->substitute = in->flags & INSN_SUBSTITUTE;
			out->slots = in->issue_slots;
			out->uops = in->uops;
			if (isa_disassemble(st->bytes, st->len, st->offset, spec->word_bytes, false, out->text,
				    sizeof out->text) < 0)
				snprintf(out->text, sizeof out->text, "(bad)");
		}
	}
	return 0;
}

int block_run(struct block_engine *e, const struct block_spec *spec, struct block_result *result, struct err *err)
{
	struct path p;
	struct flat f = { 0 };
	memset(result, 0, sizeof *result);
	struct run *r = calloc(1, sizeof *r);
	if (!r)
		return no_memory(err);
	r->e = e;
	r->p = &p;
	r->word_bytes = spec->word_bytes;
	int rc = path_make(&p, spec, result, err);
	if (!rc)
		rc = make_region(r, spec, err);
	if (!rc)
		rc = start(r, err);
	if (!rc) {
		unsigned over = settle(r, result);
		result->insns = p.steps;
		result->copies = r->copies;
		rc = flatten(r, &f, err);
		if (!rc)
			rc = describe(r, &f, spec, result, err);
		if (!rc && spec->detail)
			rc = gather(r, over, err);
		if (!rc && spec->detail)
			rc = block_detail(&e->core, &p, &f, &r->s, result, err);
	}
	core_destroy(r->c);
	machine_destroy(r->m);
	for (unsigned i = 0; i < r->chunks; i++) {
		isa_block_free(r->chunk[i].b);
		free(r->chunk[i].slots);
	}
	free(r->chunk);
	free(r->s.s);
	free(r);
	free(f.uop);
	free(f.addr);
	path_release(&p);
	return rc;
}

void block_release(struct block_result *result)
{
	free(result->insn);
	free(result->chain);
	free(result->uop);
	memset(result, 0, sizeof *result);
}
