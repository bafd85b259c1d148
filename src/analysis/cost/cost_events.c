/* SPDX-License-Identifier: GPL-2.0-or-later
 * The events of cost.h: their tags, analytic costs, what is busy for them, and the feature that a replay changes.
 *
 * Analytic costs are for one event alone, beyond what the access or the fetch takes without it.
 */
#include "analysis/cost/cost.h"
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#define NONE ((double)NAN)

/* ---- analytic ---- */

static double to_dispatch(const struct core_config *c)
{
	return (double)c->recovery_redirect + c->frontend_latency + c->rs_dispatch_delay;
}

static double mispredict(const struct core_config *c, const char **how)
{
	*how = "1 + recovery.redirect + frontend.latency + rs.dispatch_delay: "
		"from the branch's execution to that of the next uop";
	if (c->inorder) {
		*how = "1 + recovery.redirect + frontend.latency";
		return 1.0 + c->recovery_redirect + c->frontend_latency;
	}
	return 1 + to_dispatch(c);
}

static double resteer(const struct core_config *c, const char **how)
{
	*how = "frontend.resteer";
	return c->frontend_resteer;
}

static double l3_cycles(const struct core_config *c)
{
	return c->l3_latency + c->l3_latency_ns * c->frequency_ghz;
}

static double l1_miss(const struct core_config *c, const char **how)
{
	*how = "l2.latency - l1d.latency";
	return (double)c->l2_latency - c->l1d_latency;
}

/* Memory's latency, behind the front-side bus where there is one: fields_older.def says what that adds. */
static double memory_cycles(const struct core_config *c)
{
	const double bus = c->fsb_clock ? 3.0 * c->fsb_clock + c->fsb_chipset_ns * c->frequency_ghz : 0;
	return bus + c->dram_latency_ns * c->frequency_ghz;
}

static double l2_miss(const struct core_config *c, const char **how)
{
	*how = c->l3_size ? "l3.latency + l3.latency_ns - l2.latency"
		: c->fsb_clock ? "l3.latency + 3 fsb.clock + fsb.chipset_ns + dram.latency_ns - l2.latency, "
			"row already open"
		: "l3.latency (to the bus) + dram.latency_ns - l2.latency, row already open";
	return l3_cycles(c) - c->l2_latency + (c->l3_size ? 0 : memory_cycles(c));
}

static double l3_miss(const struct core_config *c, const char **how)
{
	*how = c->fsb_clock ? "3 fsb.clock + fsb.chipset_ns + dram.latency_ns, row already open"
		: "dram.latency_ns, row already open";
	return memory_cycles(c);
}

static double dtlb_miss(const struct core_config *c, const char **how)
{
	*how = "stlb.latency";
	return c->stlb_latency;
}

static double page_walk(const struct core_config *c, const char **how)
{
	*how = c->walk_reads ? "stlb.latency + walk.overhead + l2.latency: one table entry, in L2"
		: "stlb.latency + walk.overhead + l1d.latency: one table entry, in L1D";
	return (double)c->stlb_latency + c->walk_overhead + (c->walk_reads ? c->l2_latency : c->l1d_latency);
}

static double icache_miss(const struct core_config *c, const char **how)
{
	*how = "l2.code_latency: the line is in L2";
	return c->l2_code_latency;
}

static double itlb_miss(const struct core_config *c, const char **how)
{
	*how = c->stlb_entries ? "stlb.latency: the page is in the second-level TLB"
		: "walk.overhead + l1d.latency: one table entry, in L1D";
	return c->stlb_entries ? c->stlb_latency : (double)c->walk_overhead + c->l1d_latency;
}

static double clear(const struct core_config *c, const char **how)
{
	*how = "clear.cycles + recovery.redirect + frontend.latency + rs.dispatch_delay: one for memory ordering";
	return c->clear_cycles + to_dispatch(c);
}

static double split(const struct core_config *c, const char **how)
{
	*how = "l1d.split_penalty: one that crosses a line";
	return c->l1d_split_penalty;
}

static double no_forward(const struct core_config *c, const char **how)
{
	*how = "forward.blocked: from the store's write to L1D";
	return c->forward_blocked;
}

static double lock(const struct core_config *c, const char **how)
{
	(void)c;
	*how = "each locked instruction has a latency of its own in the uop table";
	return NONE;
}

static double divide(const struct core_config *c, const char **how)
{
	(void)c;
	*how = "each divide has a latency of its own in the uop table";
	return NONE;
}

static double resource(const struct core_config *c, const char **how)
{
	(void)c;
	*how = "a full buffer lasts as long as whatever fills it";
	return NONE;
}

static double prefetch(const struct core_config *c, const char **how)
{
	(void)c;
	*how = "a prefetch saves the miss that did not happen";
	return NONE;
}

/* ---- changes ---- */

static void say(char *text, size_t bytes, const char *format, ...) __attribute__((format(printf, 3, 4)));
static void say(char *text, size_t bytes, const char *format, ...)
{
	size_t n = strlen(text);
	va_list ap;
	va_start(ap, format);
	if (n < bytes)
		vsnprintf(text + n, bytes - n, format, ap);
	va_end(ap);
}

static const char no_other[] = "there is no second change to compare with";

static enum cost_change no_change(struct core_config *c, enum cost_try how, char *text, size_t bytes, const char **why)
{
	(void)c, (void)how, (void)text, (void)bytes;
	*why = "no feature of the machine changes this event alone";
	return COST_NO_CHANGE;
}

/* Sixteen times as large, as far as `most` allows; COST_WORSE: half as large. */
static uint32_t resized(uint32_t now, uint32_t most, uint32_t least, enum cost_try how)
{
	if (how == COST_WORSE)
		return now / 2 >= least ? now / 2 : now;
	for (unsigned i = 0; i < 4 && now <= most / 2; i++)
		now *= 2;
	return now;
}

static const char *sized(uint32_t bytes, char text[16])
{
	snprintf(text, 16, bytes % (1 << 20) ? "%uK" : "%uM", bytes % (1 << 20) ? bytes >> 10 : bytes >> 20);
	return text;
}

static enum cost_change cache(uint32_t *field, const char *key, uint32_t most, uint32_t least, enum cost_try how,
	char *text, size_t bytes, const char **why)
{
	char number[16];
	uint32_t now = *field;
	*field = resized(now, most, least, how);
	if (*field == now) {
		*why = how == COST_WORSE ? "the cache cannot be smaller" : "the cache cannot be larger";
		return COST_NO_CHANGE;
	}
	say(text, bytes, "%s=%s", key, sized(*field, number));
	return COST_REMOVES;
}

static enum cost_change free_latency(uint32_t *field, const char *key, uint32_t to, char *text, size_t bytes,
	const char **why)
{
	*why = "it already takes no longer";
	if (*field <= to)
		return COST_NO_CHANGE;
	*field = to;
	say(text, bytes, "%s=%u", key, to);
	return COST_FREES;
}

/* Memory that answers at once, with unlimited bandwidth. */
static const char free_memory_fields[] =
	"dram.latency_ns=1,dram.row_empty_ns=0,dram.row_conflict_ns=0,dram.bandwidth=10000,"
	"dram.others_ns=0,dram.refresh_ns=0,dram.line_ns=0,dram.write_ns=0";
static enum cost_change free_memory(struct core_config *c, char *text, size_t bytes)
{
	c->dram_latency_ns = 1;
	c->dram_others_ns = c->dram_refresh_ns = c->dram_row_empty_ns = c->dram_row_conflict_ns = 0;
	c->dram_line_ns = c->dram_write_ns = 0;
	c->dram_bandwidth = 10000;
	say(text, bytes, "%s%s", free_memory_fields, c->fsb_clock ? ",fsb.clock=0" : "");
	c->fsb_clock = 0;
	return COST_FREES;
}

/* Pages of 2 MB, of which the TLBs hold as many as they can; this also removes cold misses. */
static enum cost_change large_pages(struct core_config *c, char *text, size_t bytes, const char **why)
{
	*why = "the pages are already large";
	if (c->memory_page)
		return COST_NO_CHANGE;
	c->memory_page = 1;
	say(text, bytes, "memory.page=2M");
	return COST_REMOVES;
}

static enum cost_change change_predictor(struct core_config *c, enum cost_try how, char *text, size_t bytes,
	const char **why)
{
	if (how == COST_WITHOUT)
		return no_change(c, how, text, bytes, why);
	if (how == COST_BETTER) {
		c->bpred_perfect = 2;
		say(text, bytes, "bpred.perfect=2");
		return COST_REMOVES;
	}
	if (!c->indirect_tables) {
		*why = "indirect branches are already predicted by their last target";
		return COST_NO_CHANGE;
	}
	c->indirect_tables = 0;
	say(text, bytes, "indirect.tables=0");
	return COST_REMOVES;
}

static enum cost_change change_btb(struct core_config *c, enum cost_try how, char *text, size_t bytes, const char **why)
{
	if (how || !c->frontend_resteer) {
		*why = how ? no_other : "a re-steer at decode costs nothing on this core";
		return COST_NO_CHANGE;
	}
	c->frontend_resteer = 0;
	say(text, bytes, "frontend.resteer=0");
	return COST_FREES;
}

static enum cost_change change_l1d(struct core_config *c, enum cost_try how, char *text, size_t bytes, const char **why)
{
	return cache(&c->l1d_size, "l1d.size", 1 << 20, 64 * c->l1d_ways, how, text, bytes, why);
}

static enum cost_change change_l2(struct core_config *c, enum cost_try how, char *text, size_t bytes, const char **why)
{
	if (how == COST_WITHOUT && !c->l3_size)
		return free_memory(c, text, bytes);
	if (how == COST_WITHOUT) {
		c->l3_latency_ns = 0;
		return free_latency(&c->l3_latency, "l3.latency_ns=0,l3.latency", c->l2_latency + 1, text, bytes, why);
	}
	enum cost_change what = cache(&c->l2_size, "l2.size", 64 << 20, 4096, how, text, bytes, why);
	/* an inclusive L3 must hold it */
	if (what && how == COST_BETTER && c->l3_size && c->l3_size < 2 * c->l2_size) {
		char number[16];
		while (c->l3_size < 2 * c->l2_size && c->l3_size <= 128 << 20)
			c->l3_size *= 2;
		say(text, bytes, ",l3.size=%s", sized(c->l3_size, number));
	}
	return what;
}

static enum cost_change change_l3(struct core_config *c, enum cost_try how, char *text, size_t bytes, const char **why)
{
	if (how == COST_WITHOUT)
		return free_memory(c, text, bytes);
	return cache(&c->l3_size, "l3.size", 256 << 20, 4096, how, text, bytes, why);
}

static enum cost_change change_l1i(struct core_config *c, enum cost_try how, char *text, size_t bytes, const char **why)
{
	return cache(&c->l1i_size, "l1i.size", 1 << 20, 64 * c->l1i_ways, how, text, bytes, why);
}

static enum cost_change entries(uint32_t *field, const char *key, uint32_t most, uint32_t ways, enum cost_try how,
	char *text, size_t bytes)
{
	const uint32_t now = *field;
	if (now)
		*field = resized(now, most, ways, how);
	if (*field == now)
		return COST_NO_CHANGE;
	say(text, bytes, "%s%s=%u", *text ? "," : "", key, *field);
	return COST_REMOVES;
}

static enum cost_change change_dtlb(struct core_config *c, enum cost_try how, char *text, size_t bytes,
	const char **why)
{
	if (how == COST_WITHOUT)
		return large_pages(c, text, bytes, why);
	enum cost_change what = entries(&c->dtlb_entries, "dtlb.entries", 1024, c->dtlb_ways, how, text, bytes);
	what |= entries(&c->dtlb_store_entries, "dtlb_store.entries", 1024, c->dtlb_store_ways, how, text, bytes);
	*why = "the TLB cannot be resized that far";
	return what;
}

static enum cost_change change_stlb(struct core_config *c, enum cost_try how, char *text, size_t bytes,
	const char **why)
{
	if (!c->stlb_entries || how == COST_WITHOUT)
		return change_dtlb(c, how, text, bytes, why);
	*why = "the TLB cannot be resized that far";
	return entries(&c->stlb_entries, "stlb.entries", 16384, c->stlb_ways, how, text, bytes);
}

static enum cost_change change_itlb(struct core_config *c, enum cost_try how, char *text, size_t bytes,
	const char **why)
{
	if (how == COST_WITHOUT)
		return large_pages(c, text, bytes, why);
	*why = "the TLB cannot be resized that far";
	return entries(&c->itlb_entries, "itlb.entries", 1024, c->itlb_ways, how, text, bytes);
}

static enum cost_change change_prefetch(struct core_config *c, enum cost_try how, char *text, size_t bytes,
	const char **why)
{
	struct { uint32_t *field; const char *key; } p[] = {
		{ &c->prefetch_l1d_next_line, "prefetch.l1d_next_line" }, { &c->prefetch_l1d_ip, "prefetch.l1d_ip" },
		{ &c->prefetch_l2_adjacent, "prefetch.l2_adjacent" },
		{ &c->prefetch_l2_streamer, "prefetch.l2_streamer" },
	};
	for (size_t i = 0; i < sizeof p / sizeof *p && !how; i++)
		if (*p[i].field) {
			*p[i].field = 0;
			say(text, bytes, "%s%s=0", *text ? "," : "", p[i].key);
		}
	*why = how ? no_other : "this core has no prefetcher";
	return *text ? COST_REMOVES : COST_NO_CHANGE;
}

static enum cost_change change_split(struct core_config *c, enum cost_try how, char *text, size_t bytes,
	const char **why)
{
	*why = how ? no_other : "a split costs no more than its two accesses on this core";
	if (how || !(c->l1d_split_penalty | c->l1d_page_split_penalty))
		return COST_NO_CHANGE;
	c->l1d_split_penalty = c->l1d_page_split_penalty = 0;
	say(text, bytes, "l1d.split_penalty=0,l1d.page_split_penalty=0");
	return COST_FREES;
}

static enum cost_change change_forward(struct core_config *c, enum cost_try how, char *text, size_t bytes,
	const char **why)
{
	*why = how ? no_other : "a load that cannot be forwarded to waits only until the store is written";
	if (how || !(c->forward_blocked | c->alias_penalty))
		return COST_NO_CHANGE;
	c->forward_blocked = c->alias_penalty = 0;
	say(text, bytes, "forward.blocked=0,alias.penalty=0");
	return COST_FREES;
}

static enum cost_change change_lock(struct core_config *c, enum cost_try how, char *text, size_t bytes,
	const char **why)
{
	*why = how ? no_other : "the latency of locked instructions stands in the uop table, and no field changes it";
	if (how || !c->lock_penalty)
		return COST_NO_CHANGE;
	c->lock_penalty = 0;
	say(text, bytes, "lock.penalty=0");
	return COST_FREES;
}

static enum cost_change change_store_buffer(struct core_config *c, enum cost_try how, char *text, size_t bytes,
	const char **why)
{
	const uint32_t now = c->store_buffer_size;
	if (how == COST_WITHOUT)
		return no_change(c, how, text, bytes, why);
	c->store_buffer_size = how ? (now > 2 ? now / 2 : now) : 250;
	*why = "the store buffer cannot be resized that far";
	if (c->store_buffer_size == now)
		return COST_NO_CHANGE;
	say(text, bytes, "store_buffer.size=%u", c->store_buffer_size);
	return COST_REMOVES;
}

static enum cost_change change_clear(struct core_config *c, enum cost_try how, char *text, size_t bytes,
	const char **why)
{
	*why = no_other;
	if (how)
		return COST_NO_CHANGE;
	if (c->disambiguation_limit == 255 && !c->clear_snoop && !c->clear_smc) {
		*why = "this core has no machine clears";
		return COST_NO_CHANGE;
	}
	c->disambiguation_limit = 255;
	c->clear_snoop = c->clear_smc = 0;
	say(text, bytes, "disambiguation.limit=255,clear.snoop=0,clear.smc=0");
	return COST_REMOVES;
}

/* ---- the table ---- */

#define SIG(name) SPMU_SIG_##name
const struct cost_event cost_events[] = {
	{ "mispredict", "mispredicted branches", "mispredict", NULL, mispredict, { COST_ALLOCATION }, 0,
		"cycles from the branch's allocation to the next allocation on the right path", change_predictor,
		"bpred.perfect=2", NULL, true },
	{ "btb_miss", "taken branches unknown to the BTB, found at decode", "btb_miss & !mispredict", NULL, resteer,
		{ 0 }, 0, "no queue or state machine is busy for it: fetch only changes direction", change_btb,
		"frontend.resteer=0", NULL, true },
	{ "l1_miss", "loads that missed L1D and were served by L2", "l2_hit", NULL, l1_miss, { SIG(L1D_PENDING) },
		SIG(L2_PENDING),
		"cycles with a load waiting in a fill buffer of L1D, less those with one waiting behind L2", change_l1d,
		"free.l1_miss=1", NULL, true },
	{ "l2_miss", "loads that missed L2; with an L3, those that it served", "l2_miss & !l3_miss", "l2_miss", l2_miss,
		{ SIG(L2_PENDING) }, SIG(L3_PENDING),
		"cycles with a load waiting behind L2, less those with one waiting behind L3", change_l2,
		"free.l2_miss=1", free_memory_fields, true },
	{ "l3_miss", "loads that missed L3", "l3_miss", "", l3_miss, { SIG(L3_PENDING) }, 0,
		"cycles with a load waiting behind L3", change_l3, free_memory_fields, NULL, true },
	{ "dtlb_miss", "accesses that missed the first-level data TLB and were served by the second",
		"dtlb_miss & !stlb_miss", "dtlb_miss & !stlb_miss", dtlb_miss, { 0 }, 0,
		"no queue or state machine is busy for it", change_dtlb, "free.dtlb_miss=1", NULL, true },
	{ "page_walk", "accesses that walked the page tables", "page_walk", NULL, page_walk,
		{ SIG(DTLB_LOAD_WALK), SIG(DTLB_STORE_WALK) }, 0, "cycles with a page walk for data", change_stlb, NULL,
		NULL, true },
	{ "icache_miss", "instruction fetches that missed L1I", "icache_miss", NULL, icache_miss, { SIG(ICACHE_STALL) },
		0, "cycles in which fetch waits for L1I", change_l1i, "free.icache_miss=1", NULL, true },
	{ "itlb_miss", "instruction fetches that missed the TLB", "itlb_miss", NULL, itlb_miss, { SIG(ITLB_STALL) }, 0,
		"cycles in which fetch waits for the TLB", change_itlb, NULL, NULL, false },
	{ "clear", "machine clears", "clear", NULL, clear, { SIG(RECOVERY) }, 0,
		"recovery cycles, also those of mispredicted branches", change_clear, NULL, NULL, false },
	{ "lock", "locked accesses", "lock & load", NULL, lock, { SIG(LOCK_DURATION) }, 0,
		"cycles in which L1D is locked", change_lock, NULL, NULL, false },
	{ "split", "accesses that cross a line or a page", "split", NULL, split, { 0 }, 0,
		"no queue or state machine is busy for it", change_split,
		"l1d.split_penalty=0,l1d.page_split_penalty=0", NULL, false },
	{ "no_forward", "loads that could not be forwarded to, or only seemed to overlap a store", "no_forward", NULL,
		no_forward, { 0 }, 0, "no queue or state machine is busy for it", change_forward,
		"forward.blocked=0,alias.penalty=0", NULL, true },
	{ "store_buffer", "uops that waited for a store-buffer entry", "stall_sb", NULL, resource,
		{ SIG(RESOURCE_STALL_SB) }, 0, "cycles in which allocation waits for an entry", change_store_buffer,
		NULL, NULL, true },
	{ "divide", "divides and square roots", "divide", NULL, divide, { SIG(DIVIDER_ACTIVE) }, 0,
		"cycles in which a divider is busy", no_change, NULL, NULL, false },
	{ "prefetch", "loads of lines that a prefetcher brought", "prefetch", NULL, prefetch, { 0 }, 0,
		"no queue or state machine is busy for it", change_prefetch, NULL, NULL, false },
};
const unsigned cost_events_count = sizeof cost_events / sizeof *cost_events;

const struct cost_event *cost_event_find(const char *name)
{
	for (unsigned i = 0; i < cost_events_count; i++)
		if (!strcmp(cost_events[i].name, name))
			return &cost_events[i];
	return NULL;
}

const char *cost_event_tag(const struct cost_event *e, const struct core_config *c, const char **why)
{
	if (!strcmp(e->name, "dtlb_miss") && !c->stlb_entries) {
		*why = "this core has no second-level TLB: page_walk counts all misses";
		return NULL;
	}
	if (c->l3_size || !e->tag_last)
		return e->tag;
	if (!*e->tag_last) {
		*why = "this core has no L3: l2_miss counts them all";
		return NULL;
	}
	return e->tag_last;
}
