/* SPDX-License-Identifier: GPL-2.0-or-later
 * For tests of the pipeline at exact cycles: a memory system and a predictor that do what the test says, a builder of
 * decoded blocks, and a collector of records.  Included once by each test program; it defines memsys_* and bpred_*, so
 * that the library's own are not linked in.
 */
#ifndef CORE_MOCK_H
#define CORE_MOCK_H
#include "core/bpred.h"
#include "core/config.h"
#include "core/core.h"
#include "core/memsys.h"
#include <stdlib.h>
#include <string.h>

/* --- memory and prediction as told --- */
static struct {
	uint32_t load_latency, miss_latency, store_latency, store_miss_latency, fetch_miss;
	uint64_t miss_from, miss_to;	/* loads and stores of [miss_from, miss_to) miss */
	uint64_t miss_did;		/* what else such loads did */
	uint64_t code_line;		/* the next store to this line finds it in L1I */
	uint64_t fetch_miss_line;	/* this line's first fetch takes fetch_miss cycles */
	uint64_t bad_branch;		/* address of the branch that is mispredicted, */
	unsigned bad_times;		/* so often */
	uint64_t resteer_branch;
	unsigned loads, stores, fetches, translations, prefetches, warm_data, warm_fetch, branches, taken;
	uint64_t last_target, last_load_cycle, last_commit_cycle, last_fetch;
	unsigned last_store_size;
} mock;

static void mock_reset(void)
{
	memset(&mock, 0, sizeof mock);
	mock.load_latency = 4;
	mock.miss_latency = 200;
	mock.store_miss_latency = 200;
	mock.code_line = mock.fetch_miss_line = mock.bad_branch = mock.resteer_branch = ~UINT64_C(0);
}

struct memsys_shared { int unused; };
struct memsys { struct emitter *e; };

int memsys_shared_create(struct memsys_shared **out, const struct core_config *c, struct err *err)
{
	(void)c;
	*out = calloc(1, sizeof **out);
	return *out ? 0 : err_set(err, ERR_NOMEM, "out of memory");
}
void memsys_shared_destroy(struct memsys_shared *s) { free(s); }
void memsys_shared_map(struct memsys_shared *s, uint64_t addr, uint64_t bytes, bool huge) { (void)s, (void)addr, (void)bytes, (void)huge; }
int memsys_create(struct memsys **out, struct memsys_shared *s, const struct core_config *c, struct emitter *e, struct err *err)
{
	(void)s, (void)c;
	*out = calloc(1, sizeof **out);
	if (!*out)
		return err_set(err, ERR_NOMEM, "out of memory");
	(*out)->e = e;
	return 0;
}
void memsys_destroy(struct memsys *m) { free(m); }
void memsys_reset(struct memsys *m) { (void)m; }
void memsys_emitter(struct memsys *m, struct emitter *e) { m->e = e; }
static bool mock_misses(uint64_t addr) { return addr >= mock.miss_from && addr < mock.miss_to; }
bool memsys_translated(struct memsys *m, uint64_t addr) { (void)m, (void)addr; return true; }
void memsys_keep_tlb(struct memsys *m, bool keep) { (void)m, (void)keep; }
void memsys_load(struct memsys *m, uint64_t ip, uint64_t addr, uint32_t size, uint64_t cycle, bool vector, struct mem_result *r)
{
	(void)ip, (void)size, (void)vector;
	bool miss = mock_misses(addr);
	mock.loads++;
	mock.last_load_cycle = cycle;
	r->ready = cycle + (miss ? mock.miss_latency : mock.load_latency);
	r->did = miss ? SPMU_DID(L1D_MISS) | mock.miss_did : SPMU_DID(L1D_HIT);
	if (miss)
		emit_signal(m->e, SPMU_SIG_L1D_PENDING, cycle, r->ready, 1);
}
void memsys_store_translate(struct memsys *m, uint64_t addr, uint32_t size, uint64_t cycle, struct mem_result *r)
{
	mock.translations++;
	r->ready = cycle;
	r->did = 0;
	if (addr >> 6 == mock.code_line) {
		mock.code_line = ~UINT64_C(0);
		r->did = SPMU_DID(CLEAR_SMC);
		m->e->code_written(m->e->owner, addr, size);
	}
}
void memsys_store_commit(struct memsys *m, uint64_t ip, uint64_t addr, uint32_t size, uint64_t cycle, bool nt, struct mem_result *r)
{
	(void)m, (void)ip, (void)nt;
	bool miss = mock_misses(addr);
	mock.stores++;
	mock.last_commit_cycle = cycle;
	mock.last_store_size = size;
	r->ready = cycle + (miss ? mock.store_miss_latency : mock.store_latency);
	r->did = miss ? SPMU_DID(STORE_L1D_MISS) : 0;
}
void memsys_prefetch(struct memsys *m, uint64_t addr, uint64_t cycle) { (void)m, (void)addr, (void)cycle; mock.prefetches++; }
void memsys_fetch(struct memsys *m, uint64_t addr, uint64_t cycle, struct mem_result *r)
{
	(void)m;
	mock.fetches++;
	mock.last_fetch = addr;
	r->ready = cycle;
	r->did = 0;
	if (addr >> 6 == mock.fetch_miss_line) {
		r->ready += mock.fetch_miss;
		r->did = SPMU_DID(ICACHE_MISS);
		mock.fetch_miss_line = ~UINT64_C(0);
	}
}
void memsys_warm_data(struct memsys *m, uint64_t ip, uint64_t addr, uint32_t size, bool store)
{
	(void)m, (void)ip, (void)addr, (void)size, (void)store;
	mock.warm_data++;
}
void memsys_warm_fetch(struct memsys *m, uint64_t addr) { (void)m, (void)addr; mock.warm_fetch++; }

struct bpred { int unused; };
int bpred_create(struct bpred **out, const struct core_config *c, struct err *err)
{
	(void)c;
	*out = calloc(1, sizeof **out);
	return *out ? 0 : err_set(err, ERR_NOMEM, "out of memory");
}
void bpred_destroy(struct bpred *p) { free(p); }
struct ras *bpred_stack(struct bpred *p) { static struct ras none; (void)p; return &none; }
void bpred_reset(struct bpred *p) { (void)p; }
void bpred_branch(struct bpred *p, uint64_t ip, uint32_t flags, uint64_t fallthrough, bool taken, uint64_t target,
                  struct bpred_outcome *out)
{
	(void)p, (void)flags;
	memset(out, 0, sizeof *out);
	mock.branches++;
	mock.taken += taken;
	mock.last_target = target;
	if (ip == mock.bad_branch && mock.bad_times) {
		mock.bad_times--;
		out->mispredicted = true;
		out->predicted = taken ? fallthrough : target;
	}
	out->resteer = ip == mock.resteer_branch && taken;
}
void bpred_path_begin(const struct bpred *p, struct bpred_path *path)
{
	(void)p;
	path->resteer = false;
	path->bubble = 0;
}
uint64_t bpred_path_branch(const struct bpred *p, struct bpred_path *path, uint64_t ip, uint32_t flags, uint64_t fallthrough,
                           uint64_t target)	/* conditional branches fall through */
{
	(void)p, (void)path, (void)ip;
	return flags & INSN_COND ? fallthrough : target;
}

/* --- blocks --- */
enum { MOCK_INSNS = 256, MOCK_UOPS = 1024, MOCK_SLOTS = 64, MOCK_EXITS = 8 };
struct code {
	struct iblock b;
	struct insn insn[MOCK_INSNS];
	struct uop uop[MOCK_UOPS];
	struct st_slot slot[MOCK_SLOTS];
	struct st_exit_def exit[MOCK_EXITS];
	uint64_t at;		/* address of the next instruction */
};

static inline void code_start(struct code *k, uint64_t addr)
{
	memset(k, 0, sizeof *k);
	k->at = addr;
	k->b.addr = addr;
	k->b.insn = k->insn;
	k->b.uop = k->uop;
	k->b.slot = k->slot;
	k->b.exit = k->exit;
}

static inline struct insn *code_insn(struct code *k, unsigned len, unsigned flags)
{
	struct insn *in = &k->insn[k->b.insns++];
	*in = (struct insn){ .addr = k->at, .len = (uint8_t)len, .first_uop = k->b.uops, .first_slot = k->b.slots,
		.flags = (uint16_t)flags };
	k->at += len;
	return in;
}

/* One more uop of the last instruction.  slot: opens an issue slot. */
static inline struct uop *code_uop(struct code *k, unsigned kind, unsigned ports, unsigned latency, bool slot)
{
	struct insn *in = &k->insn[k->b.insns - 1];
	struct uop *u = &k->uop[k->b.uops++];
	*u = (struct uop){ .kind = (uint8_t)kind, .ports = (uint16_t)ports, .latency = (uint8_t)latency, .slot = UOP_NO_SLOT,
		.flags = slot ? UOP_SLOT : 0, .insn = (uint16_t)(k->b.insns - 1) };
	if (slot) {
		u->is |= SPMU_IS(SLOT);
		in->issue_slots++;
	}
	if (ports)
		u->is |= SPMU_IS(EXEC);
	if (in->uops++ == 0)
		u->is |= SPMU_IS(INST_BEGIN);
	else
		u[-1].is &= ~SPMU_IS(INST_END);
	u->is |= SPMU_IS(INST_END);
	return u;
}

static inline unsigned code_slot(struct code *k, unsigned kind, unsigned size)
{
	k->slot[k->b.slots] = (struct st_slot){ .kind = (uint8_t)kind, .insn = (uint8_t)(k->b.insns - 1), .size = (uint16_t)size };
	k->insn[k->b.insns - 1].slots++;
	return k->b.slots++;
}

/* dst = op(src): one uop */
static inline struct uop *code_op(struct code *k, unsigned ports, unsigned latency, unsigned dst, unsigned src)
{
	code_insn(k, 4, 0);
	struct uop *u = code_uop(k, UOP_COMPUTE, ports, latency, true);
	u->dst[0] = (uint8_t)dst;
	u->src[0] = (uint8_t)src;
	return u;
}
static inline struct uop *code_load(struct code *k, unsigned dst, unsigned base, unsigned size)
{
	code_insn(k, 4, 0);
	struct uop *u = code_uop(k, UOP_LOAD, 0x0c, 0, true);
	u->dst[0] = (uint8_t)dst;
	u->src[0] = (uint8_t)base;
	u->size = (uint16_t)size;
	u->is |= SPMU_IS(LOAD);
	u->slot = (uint16_t)code_slot(k, ST_SLOT_LOAD, size);
	return u;
}
static inline struct uop *code_store(struct code *k, unsigned data, unsigned base, unsigned size)
{
	code_insn(k, 4, 0);
	struct uop *a = code_uop(k, UOP_STORE_ADDR, 0x80, 1, true);
	a->src[0] = (uint8_t)base;
	a->size = (uint16_t)size;
	a->is |= SPMU_IS(STORE_ADDR);
	a->slot = (uint16_t)code_slot(k, ST_SLOT_STORE, size);
	struct uop *d = code_uop(k, UOP_STORE_DATA, 0x10, 1, false);
	d->src[0] = (uint8_t)data;
	d->size = (uint16_t)size;
	d->slot = a->slot;
	d->is |= SPMU_IS(STORE_DATA);
	return a;
}
static inline struct uop *code_branch(struct code *k, unsigned len, unsigned flags, uint64_t target, unsigned src)
{
	struct insn *in = code_insn(k, len, INSN_BRANCH | flags);
	in->target = target;
	struct uop *u = code_uop(k, UOP_BRANCH, 0x40, 1, true);
	u->src[0] = (uint8_t)src;
	u->is |= SPMU_IS(BRANCH) | (flags & INSN_COND ? SPMU_IS(COND) : 0);
	return u;
}
/* An exit behind the last instruction. */
static inline void code_exit(struct code *k, unsigned jump, uint64_t target)
{
	k->exit[k->b.exits++] = (struct st_exit_def){ .insns = k->b.insns, .slots = k->b.slots, .jump = (uint8_t)jump, .target = target };
}

/* --- what came out, with absolute cycles --- */
enum { MOCK_RECORDS = 200000 };
struct seen {
	uint64_t ip, is, did, addr;
	uint64_t fetch, alloc, ready, dispatch, complete, retire;
	uint32_t size, port;
};
struct heard { uint32_t signal; uint64_t begin, end, count; };
static struct out {
	struct seen *uop;
	struct heard *signal;
	unsigned uops, signals, batches, lasts;
	uint64_t instructions, watermark;
	unsigned violations;	/* a cycle below the watermark of an earlier batch, or below base */
} out;

static struct spmu_record *mock_emit(void *context, const struct spmu_batch *b)
{
	(void)context;
	out.batches++;
	out.lasts += b->is_last;
	out.instructions += b->instructions;
	out.violations += b->base_cycle < out.watermark || b->watermark < b->base_cycle || b->count > SPMU_BATCH_MAX;
	out.watermark = b->watermark;
	for (unsigned i = 0; i < b->count; i++) {
		const struct spmu_record *r = &b->records[i];
		uint64_t base = b->base_cycle;
		if (r->kind == SPMU_REC_SIGNAL) {
			out.violations += r->end < r->begin;
			if (out.signals < MOCK_RECORDS)
				out.signal[out.signals++] = (struct heard){ r->signal, base + r->begin, base + r->end, r->did };
		} else if (out.uops < MOCK_RECORDS) {
			out.uop[out.uops++] = (struct seen){ r->ip, r->is, r->did, r->addr, base + r->fetch, base + r->alloc,
				base + r->ready, base + r->dispatch, base + r->complete, base + r->retire, r->size, r->port };
		}
	}
	return NULL;
}

static void out_reset(void)
{
	struct seen *u = out.uop ? out.uop : malloc(MOCK_RECORDS * sizeof *u);
	struct heard *s = out.signal ? out.signal : malloc(MOCK_RECORDS * sizeof *s);
	memset(&out, 0, sizeof out);
	out.uop = u;
	out.signal = s;
}

/* Sum over a signal's records of (length or 1) x count. */
static inline uint64_t heard_sum(unsigned signal)
{
	uint64_t sum = 0;
	for (unsigned i = 0; i < out.signals; i++)
		if (out.signal[i].signal == signal) {
			uint64_t n = out.signal[i].end - out.signal[i].begin;
			sum += (n ? n : 1) * out.signal[i].count;
		}
	return sum;
}
static inline unsigned heard_count(unsigned signal)
{
	unsigned n = 0;
	for (unsigned i = 0; i < out.signals; i++)
		n += out.signal[i].signal == signal;
	return n;
}

/* --- a core with round figures --- */
struct bench { struct core_config config; struct machine *m; struct core *c; };

static inline int bench_config(struct core_config *c, const char *name)
{
	static const char *const round[] = {
		"frontend.latency=2", "recovery.redirect=6", "recovery.stall=4", "rs.dispatch_delay=3", "retire.latency=1",
		"alloc.width=4", "retire.width=4", "forward.latency=5", "forward.blocked=3", "alias.penalty=5",
		"store.commit_delay=1", "store.commit_width=1", "mite.latency=3", "mite.switch=2", "mite.lcp_penalty=3",
		"ms.enter=2", "ms.leave=1", "ms.drain=0", "sustain.rate=0", "sustain.memory_rate=0", "disambiguation.limit=15", "disambiguation.initial=15", "lock.penalty=4",
	};
	const char *top = getenv("TOP");
	char dir[4096];
	struct err err;
	snprintf(dir, sizeof dir, "%s/data", top ? top : ".");
	if (core_config_load(c, dir, name, &err)) {
		fprintf(stderr, "%s\n", err.text);
		return -1;
	}
	for (unsigned i = 0; i < sizeof round / sizeof *round; i++)
		if (core_config_set(c, round[i], &err)) {
			fprintf(stderr, "%s\n", err.text);
			return -1;
		}
	return 0;
}
/* settings: field=value separated by blanks, or NULL */
static inline int bench_start(struct bench *b, const char *settings)
{
	struct err err;
	mock_reset();
	out_reset();
	if (bench_config(&b->config, "skylake"))
		return -1;
	char text[512], *rest = text;
	snprintf(text, sizeof text, "%s", settings ? settings : "");
	for (char *one; (one = strsep(&rest, " "));)
		if (*one && core_config_set(&b->config, one, &err))
			goto bad;
	if (!machine_create(&b->m, &b->config, &err) && !core_create(&b->c, b->m, mock_emit, NULL, &err))
		return 0;
bad:
	fprintf(stderr, "%s\n", err.text);
	return -1;
}
static inline void bench_end(struct bench *b)
{
	core_destroy(b->c);
	machine_destroy(b->m);
	free(out.uop);
	free(out.signal);
	memset(&out, 0, sizeof out);
}
/* The blocks here are made by hand: nobody frees them with their plans. */
static inline void mock_run_block(struct core *c, struct iblock *b, unsigned exit, unsigned insns, const uint64_t *slots, uint64_t next)
{
	core_run_block(c, b, exit, insns, slots, next);
	free(b->core_plan);
	b->core_plan = NULL;
}
static inline void mock_warm_block(struct core *c, struct iblock *b, unsigned exit, unsigned insns, const uint64_t *slots, uint64_t next)
{
	core_warm_block(c, b, exit, insns, slots, next);
	free(b->core_plan);
	b->core_plan = NULL;
}
#define core_run_block mock_run_block
#define core_warm_block mock_warm_block
/* Runs the whole block once, through its last exit. */
static inline void bench_run(struct bench *b, struct code *k, const uint64_t *slots, uint64_t next)
{
	if (!k->b.exits)
		code_exit(k, ST_JUMP_BORING, 0);
	core_run_block(b->c, &k->b, k->b.exits - 1u, k->exit[k->b.exits - 1].insns, slots, next);
}
#endif
