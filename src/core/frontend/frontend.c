/* SPDX-License-Identifier: GPL-2.0-or-later
 * The rarer half of the front end; what it models and leaves out: frontend.h.
 *
 * Sources: Intel Optimization Manual, "The Front End" of Sandy Bridge and of Skylake Client (decoded ICache:
 * lines, ways, microcoded instructions take a line of their own; switch penalties; LCP), "Golden Cove
 * Microarchitecture".
 */
#include "core/backend/clears.h"
#include "core/frontend/frontend.h"
#include "core/older/netburst_core.h"
#include "core/older/p6.h"
#include <stdlib.h>
#include <string.h>

static unsigned log2_of(uint32_t power)
{
	return (unsigned)__builtin_ctz(power);
}

static void set_path(struct frontend *fe, enum fe_path path, uint32_t width)
{
	static const uint64_t did[] = {
		[FE_DSB] = SPMU_DID(FROM_DSB), [FE_MITE] = SPMU_DID(FROM_MITE), [FE_MS] = SPMU_DID(FROM_MS),
		[FE_LSD] = SPMU_DID(FROM_LSD), [FE_NONE] = 0,
	};
	fe->path = path;
	if (path != FE_MS)
		fe->base_path = path;
	fe->did_path = did[path];
	if (path == FE_MS && fe->base_path == FE_MITE)
		fe->did_path |= SPMU_DID(MS_OF_MITE);
	fe->width = width;
}

/* NetBurst: marks the instruction if it begins a line of the trace cache. */
static void line_head(struct core *c)
{
	c->fe.did_path &= ~SPMU_DID(LINE_HEAD);
	c->fe.did_path |= c->old.head ? SPMU_DID(LINE_HEAD) : 0;
}

static void new_cycle(struct frontend *fe)
{
	if (fe->room != fe->width)
		fe->cycle++;
}

int frontend_init(struct core *c, struct err *err)
{
	const struct core_config *f = &c->config;
	struct frontend *fe = &c->fe;
	struct dsb_entry *dsb = calloc((size_t)f->dsb_sets * f->dsb_ways + 1, sizeof *dsb);
	if (!dsb)
		return err_set(err, ERR_NOMEM, "out of memory for the uop cache");
	uint64_t *pair = f->predict_pairs ? calloc(f->predict_pairs, sizeof *pair) : NULL;
	if (f->predict_pairs && !pair) {
		free(dsb);
		return err_set(err, ERR_NOMEM, "out of memory for branch prediction");
	}
	free(fe->dsb);		/* of the machine before it was resized */
	free(fe->pair);
	fe->dsb = dsb;
	fe->pair = pair;
	fe->line_log2 = 6 - f->cache_line;
	fe->window_log2 = log2_of(f->dsb_window_bytes);
	fe->window_mask = f->dsb_window_bytes - 1;
	fe->fetch_log2 = log2_of(f->mite_fetch_bytes);
	fe->pd_lead = f->mite_queue / f->mite_decoders;
	fe->idq_back = f->idq_size * SLOT_STEP;
	fe->loop_buffer = f->lsd_size || f->lsd_predecode;
	fe->wide = f->dsb_wide ? INSN_WIDE : 0;
	return 0;
}

void frontend_release(struct core *c)
{
	free(c->fe.dsb);
	free(c->fe.pair);
}

void frontend_forget(struct core *c)
{
	struct frontend *fe = &c->fe;
	fe->window = fe->pd_block = fe->pd_line = FE_NOWHERE;
	fe->mask = fe->did = 0;
	fe->entry = NULL;
	fe->pairs = fe->paired = fe->fresh = fe->straddles = fe->begins = false;
	fe->loop_active = false;
	fe->loop_branch = FE_NOWHERE;
	fe->loop_count = 0;
	c->old.line = c->old.building = TRACE_NONE;
	c->old.streaming = false;
	c->e.open = 0;
	set_path(fe, FE_NONE, 1);
	fe->room = 1;
	c->rn.quick = 0;
}

/* An entry of the uop cache is dropped, or holds less from now on. */
static inline void dsb_lost(struct core *c)
{
	c->warm.losses = ++c->machine->losses;
}

void frontend_reset(struct core *c, uint64_t cycle)
{
	struct frontend *fe = &c->fe;
	frontend_forget(c);
	fe->cycle = fe->pd = fe->predicted = cycle;
	for (unsigned i = 0; i < PREDICT_RING; i++)
		fe->delivered[i] = cycle;
	size_t n = (size_t)c->config.dsb_sets * c->config.dsb_ways;
	for (size_t i = 0; i < n; i++)
		fe->dsb[i] = (struct dsb_entry){ .window = FE_NOWHERE };
	if (fe->pair)
		memset(fe->pair, 0, c->config.predict_pairs * sizeof *fe->pair);
	dsb_lost(c);
	fe->dsb_stamp = 0;
	fe->lcp_last = fe->lcp_first = fe->lcp_second = 0;
	memset(fe->dsb_hint, 0, sizeof fe->dsb_hint);
}

void frontend_copy(struct core *to, const struct core *from)
{
	const struct frontend *f = &from->fe;
	memcpy(to->fe.dsb, f->dsb, (size_t)from->config.dsb_sets * from->config.dsb_ways * sizeof *f->dsb);
	memcpy(to->fe.dsb_hint, f->dsb_hint, sizeof f->dsb_hint);
	to->fe.dsb_stamp = f->dsb_stamp;
	dsb_lost(to);
	to->fe.entry = NULL;
	if (from->old.trace)
		netburst_copy(to, from);
	frontend_elsewhere(to);
}

/* --- uop cache --- */
static struct dsb_entry *dsb_set(struct core *c, uint64_t window)
{
	return &c->fe.dsb[(window & (c->config.dsb_sets - 1)) * c->config.dsb_ways];
}

static struct dsb_entry *dsb_find(struct core *c, uint64_t window)
{
	if (!c->config.dsb_sets)
		return NULL;
	uint16_t *hint = &c->fe.dsb_hint[window & 255];
	if (LIKELY(c->fe.dsb[*hint].window == window))
		return &c->fe.dsb[*hint];
	struct dsb_entry *set = dsb_set(c, window);
	for (unsigned i = 0; i < c->config.dsb_ways; i++)
		if (set[i].window == window) {
			*hint = (uint16_t)(&set[i] - c->fe.dsb);
			return &set[i];
		}
	return NULL;
}

/* Makes room in the window's set for `more` lines beside those of `mine`.  mine NULL: finds a place for a new
 * entry, too, and returns it. */
static struct dsb_entry *dsb_room(struct core *c, uint64_t window, struct dsb_entry *mine, unsigned more)
{
	struct dsb_entry *set = dsb_set(c, window);
	const unsigned ways = c->config.dsb_ways;
	for (;;) {
		struct dsb_entry *oldest = NULL, *empty = NULL;
		unsigned lines = more;
		for (unsigned i = 0; i < ways; i++) {
			if (set[i].window == FE_NOWHERE) {
				empty = &set[i];
				continue;
			}
			lines += set[i].lines;
			if (&set[i] != mine && (!oldest || set[i].stamp < oldest->stamp))
				oldest = &set[i];
		}
		if (!oldest || (lines <= ways && (mine || empty)))
			return mine ? mine : empty;
		*oldest = (struct dsb_entry){ .window = FE_NOWHERE };
		dsb_lost(c);
	}
}

/* True if `in` is a branch, or is fused with one, that crosses or ends at the end of its window. */
static bool ends_window(const struct core *c, const struct insn *in)
{
	const struct insn *last = in->flags & INSN_FUSES_NEXT ? in + 1 : in;
	return in->flags & (INSN_BRANCH | INSN_FUSES_NEXT) &&
		(last->addr + last->len) >> c->fe.window_log2 != in->addr >> c->fe.window_log2;
}

/* Reads a line of a window: dsb.lines of them are one read, and the first dsb.rereads reads behind the window's
 * first come a cycle late. */
static void dsb_read(struct core *c)
{
	struct frontend *fe = &c->fe;
	fe->reads = fe->fresh ? 0 : fe->reads + 1;
	if (fe->reads % c->config.dsb_lines)
		return;
	if (fe->reads && fe->reads <= c->config.dsb_rereads * c->config.dsb_lines && fe->cycle < fe->read_cycle + 2) {
		fe->cycle = fe->line_cycle = fe->read_cycle + 2;
		fe->room = fe->width;
		fe->lines = 0;
	}
	fe->read_cycle = fe->cycle + !fe->room;
}

/* Delivery reaches an instruction that begins a line, or takes two places of one.  Only so many lines are read
 * in a cycle, and an instruction that takes two places is the last of its cycle. */
static inline void dsb_line(struct core *c, bool wide)
{
	struct frontend *fe = &c->fe;
	uint64_t cycle = fe->cycle + !fe->room;
	if (fe->line_cycle != cycle) {
		fe->line_cycle = cycle;
		fe->lines = fe->room && fe->room != fe->width;	/* the line that delivery is in goes on */
	}
	if (fe->lines >= (fe->fresh && fe->alone ? 1 : c->config.dsb_lines) || (wide && fe->room == 1)) {
		fe->cycle = fe->line_cycle = cycle + 1;
		fe->room = fe->width;
		fe->lines = 0;
	}
	if (UNLIKELY(c->config.dsb_rereads))
		dsb_read(c);
	fe->fresh = false;
	fe->lines++;
	if (UNLIKELY(wide)) {
		fe->cycle = fe->line_cycle;
		fe->room = 1;
	}
}

/* Returns where lines of so many instructions each begin, counted from the instruction that a taken branch led
 * to.  It is as if the uop cache had lines that begin there; in this model they take no room.  Every
 * instruction counts as one slot. */
static uint64_t lines_from(const struct dsb_entry *e, unsigned at, unsigned line_uops)
{
	uint64_t begin = 0;
	unsigned n = 0;
	for (uint64_t rest = e->mask >> at << at; rest; rest &= rest - 1)
		if (n++ % line_uops == 0)
			begin |= rest & -rest;
	return begin;
}

/* Delivery goes on in a window that the uop cache holds. */
static inline void use_window(struct core *c, uint64_t addr, bool wide, struct dsb_entry *e, uint64_t window)
{
	struct frontend *fe = &c->fe;
	fe->alone = fe->pair && fe->window != FE_NOWHERE;
	e->stamp = ++fe->dsb_stamp;
	fe->window = window;
	fe->base = window << fe->window_log2;
	fe->entry = e;
	fe->mask = e->mask & ~e->look;
	fe->pd_block = fe->pd_line = FE_NOWHERE;
	fe->fresh = true;
	if (LIKELY(!e->held || (addr & fe->window_mask) >= e->held))	/* else the line of the window before goes on */
		dsb_line(c, wide);
}

/* How many places the instruction takes in a line of the uop cache and in the decoders: counted before rename
 * takes slots apart. */
static unsigned places(const struct insn *in)
{
	return !(in->flags & INSN_REP) && in->decode_slots ? in->decode_slots :
		in->issue_slots ? in->issue_slots : in->uops ? 0 : 1u;
}

/* True if too many instructions with length-changing prefixes are in the 32 bytes that it begins in (field
 * dsb.lcp). */
static bool lcp_keeps_out(struct frontend *fe, const struct insn *in)
{
	const bool counts = !(in->flags & INSN_REP) && in->fusible_lcp;
	const bool second = in->addr & 16 ||
		(in->addr & 15) + (in->flags & INSN_REP ? 0 : in->prefixes) > 15; /* where its opcode is */
	if (fe->lcp_last >> 5 != in->addr >> 5 || in->addr <= fe->lcp_last)
		fe->lcp_first = fe->lcp_second = 0;
	fe->lcp_last = in->addr;
	if (second)
		fe->lcp_second += counts;
	else
		fe->lcp_first = counts;
	return fe->lcp_first && fe->lcp_second >= 2;
}

/* The last line of the window before takes one more instruction, if it has room for so many slots.  Returns
 * whether it did. */
static bool straddle(struct core *c, uint64_t window, unsigned slots, const struct insn *in)
{
	struct dsb_entry *before = dsb_find(c, window - 1), *e = dsb_find(c, window);
	c->fe.straddles =
		before && before->lines && !(e && e->lines) && before->last + slots <= c->config.dsb_line_uops;
	if (!c->fe.straddles)
		return false;
	if (!e) {
		e = dsb_room(c, window, NULL, 0);
		e->window = window;
	}
	before->last = (uint8_t)(before->last + slots);
	const unsigned at = in->addr & c->fe.window_mask;
	e->mask |= UINT64_C(1) << at;
	e->held = (uint8_t)(at + 1);
	dsb_lost(c);
	e->stamp = ++c->fe.dsb_stamp;
	return true;
}

/* The decoders' output for one instruction goes into the uop cache. */
static void dsb_fill(struct core *c, const struct insn *in, uint64_t window)
{
	const struct core_config *f = &c->config;
	if (!f->dsb_sets)
		return;
	uint64_t bit = UINT64_C(1) << (in->addr & c->fe.window_mask);
	struct dsb_entry *e = dsb_find(c, window);
	bool out = f->dsb_lcp && lcp_keeps_out(&c->fe, in);
	if (f->dsb_halves) {
		const struct dsb_entry *other = dsb_find(c, window ^ 1);
		if ((e && e->over) || (other && other->over))
			return;
	}
	if (!out && e && e->mask & bit) {
		if ((in->addr & c->fe.window_mask) >= e->held)
			return;
		dsb_lost(c);
		e->mask &= ~(UINT64_C(0))
			<< 1
			<< (e->held -
				   1); /* it was branched to: from now on the window has lines of its own from here */
		e->held = 0;
	}
	if (out || (f->dsb_jcc_erratum && ends_window(c, in))) {
		if (e) {
			*e = (struct dsb_entry){ .window = FE_NOWHERE };
			dsb_lost(c);
		}
		return;
	}
	const bool wide = in->flags & c->fe.wide;
	unsigned slots = places(in) + wide;
	bool alone = in->flags & INSN_MS || slots > f->dsb_line_uops;
	if (UNLIKELY(c->fe.straddles) && straddle(c, window, alone ? f->dsb_line_uops + 1 : slots, in))
		return;
	unsigned line = !e || !e->lines || alone || e->last + slots > f->dsb_line_uops || c->fe.begins;
	c->fe.begins = false;
	c->fe.fill_lines += line;
	if (e && e->lines + line > f->dsb_window_lines) {	/* more than a window may hold: it starts over */
		e->mask = e->look = e->lines = 0;
		dsb_lost(c);
		line = 1;
		/* decoded straight through: it never fits */
		if (f->dsb_halves && c->fe.fill_lines > f->dsb_window_lines) {
			struct dsb_entry *other = dsb_find(c, window ^ 1);
			if (other)
				*other = (struct dsb_entry){ .window = FE_NOWHERE };
			e->over = true;
			return;
		}
	}
	/* the line that ends leaves room for two more in its cycle */
	bool look = wide || (line && e && (e->lines ? e->last + 1u < f->dsb_width : e->held));
	if (line) {
		e = dsb_room(c, window, e, 1);
		if (!e)
			return;
		e->window = window;
		e->lines++;
		e->last = 0;
	}
	e->last = alone ? (uint8_t)f->dsb_line_uops : (uint8_t)(e->last + slots);
	e->mask |= bit;
	e->look |= look ? bit : 0;
	e->stamp = ++c->fe.dsb_stamp;
}

void frontend_discard(struct core *c, uint64_t addr, uint64_t bytes)
{
	struct frontend *fe = &c->fe;
	if (!bytes)
		return;
	if (c->old.trace)
		netburst_discard(c, addr, bytes);
	uint64_t first = addr >> fe->window_log2, last = (addr + (bytes - 1)) >> fe->window_log2;
	size_t n = (size_t)c->config.dsb_sets * c->config.dsb_ways;
	for (size_t i = 0; i < n; i++)
		if (fe->dsb[i].window - first <= last - first)
			fe->dsb[i] = (struct dsb_entry){ .window = FE_NOWHERE };
	dsb_lost(c);
	frontend_elsewhere(c);
	fe->loop_active = false;
	fe->loop_branch = FE_NOWHERE;
	fe->loop_count = 0;
}

/* --- legacy decode --- */
static void fetch_lines(struct core *c, const struct insn *in)
{
	struct frontend *fe = &c->fe;
	const unsigned log2 = fe->line_log2;
	uint64_t last = (in->addr + (in->len ? in->len - 1u : 0)) >> log2;
	for (uint64_t line = in->addr >> log2;; line = last) {
		if (line != fe->pd_line) {
			struct mem_result r = { 0, 0 };
			const uint64_t memory = c->e.spent_memory, l3 = c->e.spent_code_l3, tlb = c->e.spent_tlb;
			memsys_fetch(c->mem, line == in->addr >> log2 ? in->addr : line << log2,
				c->config.predict_ahead ? frontend_asks(fe->predicted, fe->pd) : fe->pd, fe->pd, &r);
			if (r.did) {
				const uint64_t translated = c->e.spent_tlb - tlb,
					       waited = r.ready > fe->pd ? r.ready - fe->pd : 0;
				fe->waited_tlb += min64(translated, waited);
				fe->waited += waited - min64(translated, waited);
				fe->waited_memory += c->e.spent_memory - memory;
				fe->waited_l3 += c->e.spent_code_l3 - l3;
			}
			fe->pd = max64(fe->pd, r.ready);
			fe->did |= r.did;
			fe->pd_line = line;
		}
		if (line == last)
			break;
	}
}

/* True if its opcode ends a fetch block: predecode stalls as if an immediate changed the instruction's length. */
static bool late_length(const struct core *c, const struct insn *in)
{
	uint64_t end = (UINT64_C(1) << c->fe.fetch_log2) - 1;
	return !(in->flags & INSN_REP) && in->late_length && c->config.mite_false_lcp &&
		((in->addr + in->prefixes) & end) == end;
}

static void decode(struct core *c, const struct insn *in)
{
	const struct core_config *f = &c->config;
	struct frontend *fe = &c->fe;
	uint64_t first = in->addr >> fe->fetch_log2;
	uint64_t last = (in->addr + (in->len ? in->len - 1u : 0)) >> fe->fetch_log2;

	if (UNLIKELY(c->old.loop_insns) && p6_streams(c, in)) {
		fe->pd = fe->cycle;	/* it comes from the instruction queue */
		goto group;
	}
	if (fe->cycle > fe->pd + fe->pd_lead)	/* the instruction queue is full */
		fe->pd = fe->cycle - fe->pd_lead;
	if (fe->pd_block == FE_NOWHERE) {
		fe->pd_block = first;
		fe->pd_count = 0;
	}
	fetch_lines(c, in);
	if (last != fe->pd_block) {
		fe->pd += last - fe->pd_block <= 4 ? last - fe->pd_block : 1;
		fe->pd_block = last;
		fe->pd_count = 0;
	}
	if (++fe->pd_count > f->mite_predecode) {
		fe->pd++;
		fe->pd_count = 1;
	}
	if (in->flags & INSN_LCP || late_length(c, in)) {
		emit_signal(&c->e, SPMU_SIG_LCP_STALL, fe->pd, fe->pd + f->mite_lcp_penalty, 1);
		fe->pd += f->mite_lcp_penalty;
	}

	unsigned slots;
	bool complex;
group:
	if (UNLIKELY(emit_wanted(&c->e, SPMU_SIG_INSN_FETCHED)) && !c->wrong.on)
		emit_signal_at(&c->e, SPMU_SIG_INSN_FETCHED, fe->pd, fe->pd, 1, in->addr, 0);
	slots = places(in);
	complex = f->mite_double ? slots > 2 || in->flags & INSN_MS : slots > 1 || in->flags & (INSN_COMPLEX | INSN_MS);
	if (fe->pd > fe->cycle) {
		fe->cycle = fe->pd;
		fe->room = fe->width;
	}
	if (fe->group_cycle != fe->cycle) {
		fe->group_cycle = fe->cycle;
		fe->group = 0;
	}
	if (fe->group >= f->mite_decoders || (complex && fe->group) || (slots > fe->room && fe->room != fe->width)) {
		fe->group_cycle = ++fe->cycle;
		fe->room = fe->width;
		fe->group = 0;
	}
	fe->group++;
	emit_signal(&c->e, SPMU_SIG_INSN_DECODED, fe->cycle, fe->cycle, 1);
	if (complex)
		emit_signal(&c->e, SPMU_SIG_DECODED_COMPLEX, fe->cycle, fe->cycle, slots);
	if (UNLIKELY(!(in->flags & INSN_REP) && in->prefixes > f->mite_prefixes)) {
		fe->cycle += in->prefixes;
		fe->room = fe->width;
		fe->group_cycle = fe->cycle;
		fe->group = f->mite_decoders;
	}
}

/* --- paths --- */
/* A taken branch led here.  Returns whether branch prediction knew this code as the second of a pair; it does
 * from now on. */
static bool known_pair(struct core *c, uint64_t addr)
{
	uint64_t *known = &c->fe.pair[(addr >> 3 ^ addr << 7) & (c->config.predict_pairs - 1)];
	const bool knew = *known == addr;
	*known = addr;
	return knew;
}

/* True if the uop cache holds the instruction in its window.  Where code goes straight on, what the last line
 * of the window before holds counts, too. */
static bool dsb_holds(struct core *c, const struct dsb_entry *e, const struct insn *in, bool elsewhere)
{
	const unsigned at = in->addr & c->fe.window_mask;
	return e->mask >> at & 1 && (LIKELY(at >= e->held) || (!elsewhere && dsb_find(c, e->window - 1)));
}

/* Branch prediction comes to the cache line of an instruction; delivery waits for it (predict.ahead). */
static inline __attribute__((always_inline)) void predict_line(struct core *c, const struct insn *in, bool elsewhere)
{
	const struct core_config *f = &c->config;
	struct frontend *fe = &c->fe;
	fe->predicted_line = in->addr >> 6;
	fe->paired = elsewhere && fe->pair && known_pair(c, in->addr) && fe->pairs;
	fe->pairs = !fe->paired;
	const uint32_t n = fe->predicted_count++;
	const uint64_t room = fe->delivered[(n - f->predict_ahead) % PREDICT_RING];
	fe->delivered[n % PREDICT_RING] = fe->cycle;
	if (!fe->paired)
		fe->predicted = max64(fe->predicted + 1, room);
	if (fe->predicted > fe->cycle) {
		fe->cycle = fe->predicted;
		fe->room = fe->width;
	}
}

/* The loop buffer is on, and delivers the window.  Returns false if it does not, or no longer. */
static bool in_loop(struct core *c, uint64_t window, bool elsewhere)
{
	struct frontend *fe = &c->fe;
	if (!fe->loop_active)
		return false;
	if (window - fe->loop_first > fe->loop_last - fe->loop_first) {	/* delivery has left the loop */
		fe->loop_active = false;
		fe->loop_count = 0;
		fe->base_path = FE_DSB;
		return false;
	}
	if (elsewhere) {
		new_cycle(fe);
		fe->room = fe->width;
	}
	fe->window = window;
	fe->base = window << fe->window_log2;
	fe->mask = ~UINT64_C(0) >> (63 - fe->window_mask);
	return true;
}

/* The uop cache delivers the instruction.  Returns false if it does not hold it. */
static bool from_dsb(struct core *c, const struct insn *in, uint64_t window, bool elsewhere)
{
	const struct core_config *f = &c->config;
	struct frontend *fe = &c->fe;
	if (window != fe->window) {
		struct dsb_entry *e = dsb_find(c, window);
		if (LIKELY(e && dsb_holds(c, e, in, elsewhere))) {
			if ((elsewhere && !fe->paired) || fe->path != FE_DSB) {
				new_cycle(fe);
				if (fe->path != FE_DSB)
					set_path(fe, FE_DSB, f->dsb_width);
				fe->room = fe->width;
			}
			use_window(c, in->addr, in->flags & fe->wide, e, window);
			if (elsewhere && f->dsb_straddle)
				fe->mask = e->mask & ~lines_from(e, in->addr & fe->window_mask, f->dsb_line_uops);
			return true;
		}
	} else if (fe->entry && fe->entry->window == window && fe->entry->mask >> (in->addr & fe->window_mask) & 1) {
		dsb_line(c, in->flags & fe->wide);
		return true;
	}
	return false;
}

/* The legacy path decodes the instruction. */
static void from_mite(struct core *c, const struct insn *in, uint64_t window, bool elsewhere)
{
	const struct core_config *f = &c->config;
	struct frontend *fe = &c->fe;
	const bool straight = !elsewhere && fe->base_path == FE_MITE && window == fe->window + 1;
	const bool again = fe->base_path != FE_MITE;
	const uint64_t from = fe->cycle;
	if (fe->base_path != FE_MITE) {
		new_cycle(fe);
		if (fe->base_path == FE_DSB) {
			emit_signal(&c->e, SPMU_SIG_DSB_TO_MITE, fe->cycle, fe->cycle + f->mite_switch, 1);
			fe->cycle += f->mite_switch;
		} else {
			fe->cycle += f->mite_latency;
		}
		set_path(fe, FE_MITE, f->mite_width);
		fe->room = fe->width;
		fe->pd = fe->cycle;
		fe->pd_block = fe->pd_line = FE_NOWHERE;
		fe->group = 0;
	} else if (elsewhere) {		/* a taken branch ends the fetch block and the decode group */
		fe->pd++;
		fe->pd_block = FE_NOWHERE;
		fe->group = f->mite_decoders;
	}
	if (fe->window != window) {
		fe->fill_lines = 0;
		fe->straddles = straight && f->dsb_straddle;
		fe->begins = elsewhere && f->dsb_straddle;
	}
	fe->window = window;
	fe->mask = 0;
	decode(c, in);
	if (UNLIKELY(c->old.trace != NULL)) {
		netburst_build(c, in);
		netburst_built(c, in, from, again);
		line_head(c);
	} else {
		dsb_fill(c, in, window);
	}
}

/* --- warming --- */
/* As fetch_lines. */
static void warm_lines(struct core *c, const struct insn *in)
{
	const unsigned log2 = c->fe.line_log2;
	const uint64_t first = in->addr >> log2, last = (in->addr + (in->len ? in->len - 1u : 0)) >> log2;
	if (first != c->fe.pd_line)
		memsys_warm_fetch(c->mem, in->addr);
	if (last != first)
		memsys_warm_fetch(c->mem, last << log2);
	c->fe.pd_line = last;
}

/* Stamps would overflow soon: each becomes the entry's rank in its set. */
static void restamp(struct core *c)
{
	const unsigned ways = c->config.dsb_ways;
	for (size_t set = 0; set < c->config.dsb_sets; set++) {
		struct dsb_entry *e = &c->fe.dsb[set * ways];
		uint32_t rank[16] = { 0 };
		for (unsigned i = 0; i < ways; i++)
			for (unsigned k = 0; k < ways; k++)
				rank[i] += e[k].stamp < e[i].stamp;
		for (unsigned i = 0; i < ways; i++)
			e[i].stamp = rank[i];
	}
	c->fe.dsb_stamp = ways;
}

static void warm_traces(struct core *c, const struct iblock *b, unsigned first, unsigned end)
{
	for (unsigned i = first; i < end; i++) {
		if (!b->insn[i].uops)
			continue;
		if (netburst_warm(c, &b->insn[i]))
			c->fe.pd_line = FE_NOWHERE;
		else
			warm_lines(c, &b->insn[i]);
	}
}

void frontend_warm(struct core *c, const struct iblock *b, unsigned first, unsigned end)
{
	if (UNLIKELY(c->old.trace != NULL)) {
		warm_traces(c, b, first, end);
		return;
	}
	struct frontend *fe = &c->fe;
	const uint64_t window = b->insn[first].addr >> fe->window_log2;
	const bool elsewhere = b->insn[first].addr != (first ? b->insn[first - 1].addr + b->insn[first - 1].len
							     : c->warm.next);
	const bool decoded = !elsewhere && c->warm.decodes;
	const bool same = !elsewhere && window == c->warm.window;
	unsigned i = first;
	if (!c->warm.decodes)
		fe->pd_line = FE_NOWHERE;
	if (UNLIKELY(fe->dsb_stamp >= DSB_STAMPS))
		restamp(c);
	while (i < end && !b->insn[i].uops)
		i++;
	struct dsb_entry *e = decoded && same ? NULL : dsb_find(c, window);
	if (i < end && e && dsb_holds(c, e, &b->insn[i], elsewhere)) {
		e->stamp = ++fe->dsb_stamp;
		fe->pd_line = FE_NOWHERE;
		while (i < end && (!b->insn[i].uops || e->mask >> (b->insn[i].addr & fe->window_mask) & 1))
			i++;
	}
	c->warm.decodes = i < end;
	if (!same) {
		fe->fill_lines = 0;
		fe->straddles = decoded && window == c->warm.window + 1 && c->config.dsb_straddle;
		fe->begins = elsewhere && c->config.dsb_straddle;
	}
	c->warm.window = window;
	for (; i < end; i++)
		if (b->insn[i].uops) {
			warm_lines(c, &b->insn[i]);
			dsb_fill(c, &b->insn[i], window);
		}
}

/* Any way into the next instruction: finds the path that delivers it. */
static __attribute__((noinline)) void enter_general(struct core *c, const struct insn *in)
{
	const struct core_config *f = &c->config;
	struct frontend *fe = &c->fe;
	uint64_t window = in->addr >> fe->window_log2;
	if (UNLIKELY(c->cl.pending) && !c->wrong.on)
		clears_take(c);
	bool elsewhere = fe->window == FE_NOWHERE;	/* it comes behind a taken branch or a redirect */

	if (f->predict_ahead && (elsewhere || in->addr >> 6 != fe->predicted_line))
		predict_line(c, in, elsewhere);
	if (UNLIKELY(c->old.trace != NULL) && netburst_trace(c, in)) {
		if (fe->path != FE_DSB)
			set_path(fe, FE_DSB, f->dsb_width);
		c->e.open = 0;
		line_head(c);
		fe->window = window;
		return;
	}

	if (in_loop(c, window, elsewhere))
		return;
	if (from_dsb(c, in, window, elsewhere))
		return;
	fe->entry = NULL;
	if (UNLIKELY(f->frontend_simple)) {
		if (fe->path != FE_DSB) {
			set_path(fe, FE_DSB, f->alloc_width);
			fe->room = fe->width;
		}
		fe->base = in->addr & ~UINT64_C(63);
		fe->mask = ~UINT64_C(0);
		fe->window = 0;
		return;
	}
	from_mite(c, in, window, elsewhere);
}

/* The loop buffer is on, and likely goes on. */
static __attribute__((noinline)) void enter_loop(struct core *c, const struct insn *in, uint64_t window)
{
	struct frontend *fe = &c->fe;
	if (UNLIKELY(c->cl.pending || c->old.trace || c->config.predict_ahead ||
		    window - fe->loop_first > fe->loop_last - fe->loop_first)) {
		enter_general(c, in);
		return;
	}
	in_loop(c, window, fe->window == FE_NOWHERE);
}

/* The usual ways: the loop buffer goes on, or the uop cache goes on with a window that it holds, and nothing else has
 * to be done. */
void frontend_enter(struct core *c, const struct insn *in, uint64_t addr, bool wide)
{
	struct frontend *fe = &c->fe;
	const uint64_t window = addr >> fe->window_log2;
	struct dsb_entry *e = &fe->dsb[fe->dsb_hint[window & 255]];
	if (fe->loop_active) {
		enter_loop(c, in, window);
		return;
	}
	if (UNLIKELY(e->window != window || window == fe->window || fe->path != FE_DSB ||
		    c->cl.pending || c->old.trace || c->config.predict_pairs || c->config.dsb_straddle ||
		    !(e->mask >> (addr & fe->window_mask) & 1))) {
		enter_general(c, in);
		return;
	}
	if (c->config.predict_ahead && (fe->window == FE_NOWHERE || addr >> 6 != fe->predicted_line))
		predict_line(c, in, fe->window == FE_NOWHERE);
	if (fe->window == FE_NOWHERE) {
		new_cycle(fe);
		fe->room = fe->width;
	}
	use_window(c, addr, wide && fe->wide, e, window);
}

void frontend_ms_enter(struct core *c)
{
	const struct core_config *f = &c->config;
	struct frontend *fe = &c->fe;
	new_cycle(fe);
	if (f->ms_drain && fe->base_path == FE_DSB &&
		c->rn.pos != fe->ms_end) /* it begins when the slot before has left the uop queue */
		fe->cycle = max64(fe->cycle + f->frontend_latency, *slot_alloc(&c->rn, c->rn.pos) + 1) -
			f->frontend_latency + 1;
	fe->cycle += f->ms_enter;
	set_path(fe, FE_MS, f->ms_width);
	fe->room = fe->width;
	c->e.busy_from = fe->cycle;
	c->e.busy = true;
	emit_signal(&c->e, SPMU_SIG_MS_SWITCH, fe->cycle, fe->cycle, 1);
}

void frontend_ms_leave(struct core *c)
{
	const struct core_config *f = &c->config;
	struct frontend *fe = &c->fe;
	c->e.busy = false;
	emit_signal(&c->e, SPMU_SIG_MS_BUSY, c->e.busy_from, fe->cycle + 1, 1);
	const uint32_t shared = f->ms_drain && fe->base_path == FE_DSB && !f->ms_leave ? fe->room : 0;
	if (!shared)
		new_cycle(fe);
	fe->cycle += f->ms_leave;
	fe->ms_end = c->rn.pos;
	switch (fe->base_path) {
	case FE_MITE: set_path(fe, FE_MITE, f->mite_width); break;
	case FE_LSD:  set_path(fe, FE_LSD, f->lsd_width); break;
	default:      set_path(fe, FE_DSB, f->dsb_width); break;
	}
	fe->room = shared ? shared : fe->width;
}

/* A branch went back.  A loop that came round the same way often enough, and fits, is replayed from the uop
 * queue. */
void frontend_loop(struct core *c, uint64_t ip, uint64_t target)
{
	const struct core_config *f = &c->config;
	struct frontend *fe = &c->fe;
	if (f->lsd_predecode)
		p6_taken(c, ip, target);
	if (!f->lsd_size)
		return;
	uint32_t slots = c->rn.pos / SLOT_STEP - fe->loop_slots_now;
	bool same = ip == fe->loop_branch && slots == fe->loop_slots && fe->loop_hash_now == fe->loop_hash;
	if (same && slots <= f->lsd_size) {
		if (!fe->loop_active && ++fe->loop_count >= f->lsd_iterations && fe->path != FE_MS) {
			fe->loop_active = true;
			fe->loop_first = target >> fe->window_log2;
			fe->loop_last = ip >> fe->window_log2;
			new_cycle(fe);
			set_path(fe, FE_LSD, f->lsd_width);
			fe->room = fe->width;
		}
	} else {
		if (fe->loop_active)
			fe->base_path = FE_DSB;
		fe->loop_active = false;
		fe->loop_count = 0;
		fe->loop_branch = ip;
		fe->loop_slots = slots;
		fe->loop_hash = fe->loop_hash_now;
	}
	fe->loop_slots_now = c->rn.pos / SLOT_STEP;
	fe->loop_hash_now = 0;
}
