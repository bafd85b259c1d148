/* SPDX-License-Identifier: GPL-2.0-or-later
 * Times what a guest executes (machine.h): gathers instructions into paths and runs these on the core.
 *
 * A change of privilege, an interrupt and an exception drain the pipeline.  What reaches the core goes through
 * guest_core.c.
 *
 * Address spaces: a linear address below 2^47 gets the number of its page tables in bits 47 and up before the core sees
 * it (guest_pages.c).  The records lose it again (guest_pmu.c).
 */
#include "machine/guest_internal.h"
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

uint64_t guest_tagged(const struct guest *g, uint64_t addr)
{
	return addr >> ST_SPACE_SHIFT ? addr : addr | (uint64_t)g->tag << ST_SPACE_SHIFT;
}

void guest_fail(struct guest *g)
{
	g->failed = true;
	guest_together(g);	/* nobody else will: guest_settle does nothing where nobody watches */
	g->watches = g->times = false;
	g->path.insns = g->path.slots = g->path.open = 0;
	g->mode = 0;
	g->begun = false;
}

static bool stepping(const struct guest *g)
{
	return !g->ahead && guest_closeness(g) == GUEST_STEPPING;
}

/* May the path's last instruction fuse with a conditional branch behind it?  Then both go into one path.  Too many is
 * no harm. */
static bool may_fuse(const struct path *p)
{
	if (!p->insns)
		return false;
	const struct st_insn_def *i = path_insn(p, p->insns - 1);
	const uint8_t *c = i->bytes;
	unsigned n = 0;
	while (n + 1u < i->len && (c[n] == 0x66 || c[n] == 0x67 || c[n] == 0x2e || c[n] == 0x3e || c[n] == 0x64 ||
		c[n] == 0x65 || (p->word_bytes == 8 && c[n] >> 4 == 4)))
		n++;
	const uint8_t op = c[n];
	const bool plain = op < 0x40 && (op & 7) < 6;	/* ADD to CMP */
	return plain || (op >= 0x80 && op <= 0x85) || op == 0xa8 || op == 0xa9 || op == 0xf6 || op == 0xf7 ||
		op >= 0xfe || (p->word_bytes == 4 && op >> 4 == 4);
}

/* Empties the path, except for what an instruction that has begun has brought already. */
static void clear_path(struct guest *g)
{
	struct path *p = &g->path;
	if (g->begun && p->knowns)
		path_own(p);
	const unsigned insns = p->insns, open = p->open;
	g->mode = 0;
	p->slots = g->begun ? p->slots - open : 0;
	p->insns = p->open = 0;
	p->repeats = false;
	if (!g->begun)
		return;
	p->insn[0] = p->insn[insns];
	for (unsigned i = 0; i < p->slots; i++) {
		p->slot[i] = p->slot[open + i];
		p->slot[i].insn = 0;
		p->value[i] = p->value[open + i];
	}
}

void guest_run_path(struct guest *g, uint64_t next_ip)
{
	struct path *p = &g->path;
	if (!p->insns)
		return;
	if (g->failed) {
		clear_path(g);
		return;
	}
	const unsigned insns = p->insns;
	const struct st_block_def *def;
	struct iblock *b = path_block(g->paths, p, &def, &g->failure);
	if (!b) {
		guest_fail(g);
		return;
	}
	const struct guest_run r = { .block = b, .next_ip = guest_tagged(g, next_ip), .insns = insns,
		.complete = g->times ? insns : 0, .slots = p->open, .warms = !g->times };
	if (g->times)
		g->report.instructions[g->cpl != 0] += insns;
	else
		g->report.warmed += insns;
	guest_core_block(g, &r, def, p->value);
	clear_path(g);
}

bool guest_watches(const struct guest *g)
{
	return g->watches;
}

/* The accesses that a delivery has made reach the core. */
static void deliver(struct guest *g)
{
	g->delivers = false;
	if (g->delivered && !g->failed)
		guest_core_delivery(g);
}

/* A conditional branch ends a path even if it is not taken: else the paths through a stretch of code would be as many
 * as its branches' outcomes, and the host's caches would not hold them. */
static inline bool is_jcc(uint64_t code)
{
	return (code & 0xf0) == 0x70 || (code & 0xf0ff) == 0x800f;
}

/* The instruction that begins.  Of the code, only the first `len` bytes count. */
static inline void put(struct guest *g, uint64_t addr, const struct guest_insn *i)
{
	_Static_assert(offsetof(struct st_insn_def, len) == 8 && offsetof(struct st_insn_def, bytes) == 9,
		"address, length, bytes");
	struct path *p = &g->path;
	const unsigned len = i->len;
	uint64_t low = i->code[0], high = 0;
	g->insn.ip = i->ip;
	g->insn.len = len;
	g->insn.jcc = is_jcc(low);
	g->begun = true;
	p->slots = p->open;
	if (__builtin_expect(len <= 8, 1))
		low &= ~UINT64_C(0) >> (64 - 8 * len);
	else
		high = i->code[1] & ~UINT64_C(0) >> (128 - 8 * len);
	path_put(p, addr, len | low << 8, low >> 56 | high << 8);
}

/* Byte by byte, as the emulator has just stored them: a load of both would have to wait for both stores to commit. */
static inline unsigned mode_of(const struct guest_insn *i)
{
	return *(const volatile uint8_t *)&i->cpl | *(const volatile uint8_t *)&i->bits << 8;
}

/* guest_begin, whatever comes. */
static __attribute__((noinline)) void begin(struct guest *g, const struct guest_insn *i, uint64_t addr)
{
	struct path *p = &g->path;
	g->insn.ip = i->ip;
	g->insn.len = i->len;
	g->insn.rep = i->rep;
	g->begun = true;
	g->timed = i->bits != 16 && !g->failed;
	const uint8_t word_bytes = i->bits == 64 ? 8 : 4;
	if (p->insns && (!g->timed || word_bytes != p->word_bytes || i->rep ||
		(g->times && (i->cpl ? 3u : 0u) != g->cpl)))
		guest_run_path(g, i->ip);
	g->mode = 0;
	if (!g->timed) {
		deliver(g);
		return;
	}
	if (!p->insns) {
		if (g->times)
			guest_core_level(g, i->cpl ? 3 : 0, word_bytes);
		p->word_bytes = word_bytes;
		deliver(g);	/* it is the kernel's */
		path_guess(g->paths, p, addr);
	}
	guest_pages_use(g, addr, i->len);
	if (g->failed)
		return;
	if (g->keeps) {
		const uint64_t n = g->given + p->insns;
		if (n < g->kept_first || n > g->kept_next)
			g->kept_first = n;
		g->kept_next = n + 1;
		g->emulator.registers(g->emulator.context, &g->kept[n % GUEST_KEPT]);
	}
	g->mode = i->rep || g->keeps ? 0 : mode_of(i);
	put(g, addr, i);
}

void guest_begin(struct guest *g, const struct guest_insn *i)
{
	const uint64_t addr = guest_tagged(g, i->ip);
	if (__builtin_expect(mode_of(i) == g->mode && !i->rep && guest_pages_used(g, addr, i->len), 1))
		put(g, addr, i);
	else
		begin(g, i, addr);
}

static inline void put_access(struct path *p, enum guest_access kind, uint64_t addr, unsigned bytes)
{
	p->slot[p->slots] = (struct st_slot){ .kind = (uint8_t)kind, .insn = (uint8_t)p->insns,
		.size = (uint16_t)bytes };
	p->value[p->slots++] = addr;
}

/* guest_access, whatever comes. */
static __attribute__((noinline)) void add_access(
	struct guest *g, enum guest_access kind, uint64_t addr, unsigned bytes)
{
	struct path *p = &g->path;
	if (!g->begun && g->delivers && !g->failed) {
		if (g->delivered == GUEST_DELIVERED)
			return;
		guest_pages_use(g, addr, bytes);
		uint64_t *d = &g->delivery[2 * g->delivered++];
		d[0] = addr;
		d[1] = bytes | (kind == GUEST_LOAD ? 0 : UINT64_C(1) << 32);
		return;
	}
	if (!g->begun || !g->timed || g->failed)
		return;
	guest_pages_use(g, addr, bytes);
	if (p->slots > p->open) {	/* the second half of an access across two pages */
		struct st_slot *before = &p->slot[p->slots - 1];
		if (before->kind == kind && !(addr & 4095) && p->value[p->slots - 1] + before->size == addr &&
			before->size + bytes <= 64) {
			before->size = (uint16_t)(before->size + bytes);
			return;
		}
	}
	if (p->slots < PATH_SLOTS)
		put_access(p, kind, addr, bytes);
}

void guest_access(struct guest *g, enum guest_access kind, uint64_t addr, unsigned bytes)
{
	addr = guest_tagged(g, addr);
	if (__builtin_expect(g->begun && g->mode && addr & 4095 && guest_pages_used(g, addr, bytes) &&
		g->path.slots < PATH_SLOTS, 1))
		put_access(&g->path, kind, addr, bytes);
	else
		add_access(g, kind, addr, bytes);
}

/* A round: the block's exit 1, which leads to the instruction itself. */
void guest_iteration(struct guest *g)
{
	struct path *p = &g->path;
	if (!g->begun || !g->timed || !g->insn.rep || g->failed)
		return;
	p->open = p->slots;
	p->insns = 1;
	p->repeats = true;
	const struct st_block_def *def;
	struct iblock *b = path_block(g->paths, p, &def, &g->failure);
	if (!b) {
		guest_fail(g);
		return;
	}
	const struct guest_run r = { .block = b, .next_ip = path_insn(p, 0)->addr, .exit = 1, .insns = 1,
		.slots = p->open, .warms = !g->times };
	guest_core_block(g, &r, def, p->value);
	p->insns = 0;
	p->slots = p->open = 0;
	p->repeats = false;
	g->rep_open = true;
}

/* The end of a REP instruction: exit 0, without accesses of a round. */
static void end_rep(struct guest *g, uint64_t next_ip)
{
	struct path *p = &g->path;
	p->slots = p->open = 0;
	p->repeats = true;
	p->insns = 1;
	guest_run_path(g, next_ip);
	g->rep_open = false;
}

/* guest_end, whatever comes. */
static __attribute__((noinline)) bool end(struct guest *g, uint64_t next_ip)
{
	struct path *p = &g->path;
	if (!g->begun)
		return g->watches;
	g->begun = false;
	if (!g->timed) {
		g->report.untimed += g->times;
		return g->watches;
	}
	if (g->insn.rep) {
		if (next_ip != g->insn.ip || !g->rep_open)	/* else it goes on later */
			end_rep(g, next_ip);
		return g->watches;
	}
	p->open = p->slots;
	p->insns++;
	if (next_ip != g->insn.ip + g->insn.len || g->insn.jcc || p->insns == PATH_INSNS || p->slots > PATH_SLOTS / 2 ||
		((p->insns == PATH_INSNS - 1 || stepping(g)) && !may_fuse(p)))
		guest_run_path(g, next_ip);
	return g->watches;
}

bool guest_end(struct guest *g, uint64_t next_ip)
{
	struct path *p = &g->path;
	if (__builtin_expect(!g->begun || !g->mode || !g->ahead || next_ip != g->insn.ip + g->insn.len ||
		g->insn.jcc || p->insns >= PATH_INSNS - 2 || p->slots > PATH_SLOTS / 2, 0))
		return end(g, next_ip);
	g->begun = false;
	p->open = p->slots;
	p->insns++;
	return true;
}

void guest_event(struct guest *g, const struct guest_trap *t)
{
	if (!g->watches)
		return;
	g->begun = false;
	g->mode = 0;		/* what follows is delivered first, and begins a path */
	g->path.slots = g->path.open;
	guest_run_path(g, t->from);
	if (!g->times)
		return;
	g->report.events++;
	if (g->failed)
		return;
	deliver(g);	/* of one that faulted itself */
	struct guest_trap tagged = *t;
	tagged.from = guest_tagged(g, t->from);
	guest_core_trap(g, &tagged);
	g->delivers = true;
	if (!g->ahead)		/* else no overflow has changed the registers */
		guest_renew(g);
}

void guest_halted(struct guest *g, uint64_t ticks)
{
	if (!g->times || !ticks)
		return;
	guest_settle(g, g->insn.ip + g->insn.len);
	guest_core_halt(g, ticks);
	g->clock = core_now(g->core);
}

void guest_time(struct guest *g, uint64_t cycle)
{
	const uint64_t now = core_now(g->core);
	if (g->failed || cycle <= now)
		return;
	guest_settle(g, g->insn.ip);
	guest_core_halt(g, cycle - now);
	g->clock = core_now(g->core);
}

void guest_yield(struct guest *g, uint64_t next_ip)
{
	const struct path *p = &g->path;
	if (!g->times || g->begun)
		return;
	if (!may_fuse(p))	/* else with the next instruction */
		guest_run_path(g, next_ip);
	core_settle(g->core);
}

uint64_t guest_now(const struct guest *g)
{
	return core_now(g->core);
}

uint64_t guest_ticks(struct guest *g, uint64_t instructions)
{
	if (!g->times)
		return instructions;
	/* 16-bit code, which no core times, takes a tick an instruction, as where nothing is timed */
	const uint64_t now = g->ahead ? g->seen.now : core_now(g->core);
	const uint64_t passed = now - g->clock + (g->report.untimed - g->passed_untimed);
	g->clock = now;
	g->passed_untimed = g->report.untimed;
	return passed;
}

void guest_look(struct guest *g, uint64_t next_ip)
{
	if (!g->times)
		return;
	guest_run_path(g, next_ip);
	guest_together(g);
}

void guest_mark(struct guest *g, bool on)
{
	guest_settle(g, g->insn.ip);
	g->marked = on;
	guest_renew(g);
}

void guest_report(struct guest *g, struct guest_report *out)
{
	guest_together(g);
	*out = g->report;
	out->frequency_ghz = g->config.frequency_ghz;
	if (g->core)
		out->cycles[g->core_cpl != 0] += core_now(g->core) - g->cycles_from;
	out->blocks = g->paths ? path_store_count(g->paths) : 0;
	out->failure = g->failed ? g->failure.text : NULL;
}

/* What each processor has of its own. */
static int create(struct guest *g, struct err *err)
{
	g->kept = calloc(GUEST_KEPT, sizeof *g->kept);
	g->spare = malloc(SPMU_BATCH_MAX * sizeof *g->spare);
	if (!g->kept || !g->spare)
		return err_set(err, ERR_NOMEM, "out of memory for the guest's model");
	int rc = core_create(&g->core, g->machine, guest_take_batch, g, err);
	if (rc == 0)
		rc = guest_pages_create(g, err);
	if (rc == 0)
		rc = guest_pmu_create(g, err);
	g->cpl = g->core_cpl = 3;
	return rc;
}

/* What they share. */
static int create_shared(struct guest *g, const struct guest_options *o, struct err *err)
{
	char path[4096], why[512];
	g->spaces = calloc(1, sizeof *g->spaces);
	int rc = g->spaces ? core_config_load(&g->config, o->data_dir, o->core, err) :
		err_set(err, ERR_NOMEM, "out of memory for the guest's model");
	for (size_t i = 0; rc == 0 && i < o->settings; i++)
		rc = core_config_set(&g->config, o->setting[i], err);
	if (rc == 0)
		rc = core_config_check(&g->config, err);
	if (rc == 0 && strcmp(g->config.cpuid_vendor, "GenuineIntel"))
		rc = err_set(err, ERR_UNSUPPORTED, "core %s is not one of Intel: its PMU is not modelled at "
			"register level", o->core);
	if (rc == 0) {
		snprintf(path, sizeof path, "%s/uops/%s.tsv", o->data_dir, g->config.uops);
		rc = isa_create(&g->isa, path, err);
	}
	if (rc == 0) {
		struct isa_options options;
		core_isa_options(&g->config, &options);
		isa_configure(g->isa, &options);
		g->paths = path_store_create(g->isa);
		if (!g->paths)
			rc = err_set(err, ERR_NOMEM, "out of memory for the guest's code");
	}
	if (rc == 0)
		rc = machine_create(&g->machine, &g->config, err);
	if (rc == 0) {
		snprintf(path, sizeof path, "%s/events/%s.tsv", o->data_dir, g->config.pmu);
		if (spmu_model_load(&g->model, path, why, sizeof why) != SPMU_OK)
			rc = err_set(err, ERR_INPUT, "%s", why);
	}
	return rc;
}

int guest_create(struct guest **out, const struct guest_options *o, const struct guest_emulator *e, struct err *err)
{
	struct guest *g = calloc(1, sizeof *g);
	if (!g)
		return err_set(err, ERR_NOMEM, "out of memory for the guest's model");
	g->first = g;
	g->emulator = *e;
	g->timing = o->timing;
	g->reload_msrs = o->pebs_reload_msrs;
	g->warms = o->warm;
	int rc = create_shared(g, o, err);
	if (rc == 0)
		rc = create(g, err);
	if (rc == 0 && o->ahead)
		rc = guest_ahead_create(g, err);
	if (rc == 0 && o->stream)
		rc = guest_stream_open(&g->stream, o->stream, 8, e->walk, err);
	if (rc == 0 && g->stream)
		rc = guest_code_create(g, o, err);
	if (rc < 0) {
		guest_destroy(g);
		return rc;
	}
	guest_renew(g);
	*out = g;
	return 0;
}

int guest_create_processor(struct guest **out, struct guest *first, const struct guest_emulator *e, struct err *err)
{
	if (first->stream)
		return err_set(err, ERR_UNSUPPORTED, "a stream is written of a machine with one processor only");
	struct guest *g = calloc(1, sizeof *g);
	if (!g)
		return err_set(err, ERR_NOMEM, "out of memory for the guest's model");
	g->first = first;
	g->emulator = *e;
	g->timing = first->timing;
	g->reload_msrs = first->reload_msrs;
	g->marked = first->marked;
	g->config = first->config;
	g->isa = first->isa;
	g->paths = first->paths;
	g->machine = first->machine;
	g->model = first->model;
	g->spaces = first->spaces;
	const int rc = create(g, err);
	if (rc < 0) {
		guest_destroy(g);
		return rc;
	}
	guest_renew(g);
	*out = g;
	return 0;
}

int guest_end_stream(struct guest *g, struct err *err)
{
	struct guest_stream *s = g->stream;
	guest_settle(g, g->insn.ip);
	g->stream = NULL;
	return s ? guest_stream_close(s, err) : 0;
}

void guest_destroy(struct guest *g)
{
	if (!g)
		return;
	struct err ignored;
	guest_queue_destroy(g->queue);
	guest_code_destroy(g);
	if (g->stream)
		(void)guest_stream_close(g->stream, &ignored);
	if (g->core)
		core_destroy(g->core);
	spmu_destroy(g->pmu);
	if (g->first == g) {
		if (g->machine)
			machine_destroy(g->machine);
		path_store_destroy(g->paths);
		if (g->isa)
			isa_destroy(g->isa);
		spmu_destroy(g->idle_pmu);
		spmu_model_free(g->model);
		free(g->spaces);
	}
	free(g->kept);
	guest_pages_destroy(g);
	free(g->spare);
	free(g);
}
