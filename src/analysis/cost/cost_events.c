/* SPDX-License-Identifier: GPL-2.0-or-later
 * The events of cost.h: their tags, analytic costs, what is busy for them, and the machines on which they are free.
 *
 * Analytic costs are for one event alone, beyond what the access or the fetch takes without it.
 */
#include "analysis/cost/cost_changes.h"
#include <math.h>
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
	*how = "each locked instruction has uops of its own in the uop table, and waits for the stores before it";
	return NONE;
}

static double divide(const struct core_config *c, const char **how)
{
	(void)c;
	*how = "no divide was executed: the latency is that of the uop table, by form and quotient";
	return NONE;
}

static double other_core(const struct core_config *c, const char **how)
{
	*how = "l3.latency + l3.latency_ns + l3.snoop_ns - l2.latency: the other core has changed the line";
	return l3_cycles(c) + c->l3_snoop_ns * c->frequency_ghz - c->l2_latency;
}

static double lcp(const struct core_config *c, const char **how)
{
	*how = "mite.lcp_penalty";
	return c->mite_lcp_penalty;
}

static double microcode(const struct core_config *c, const char **how)
{
	*how = "ms.enter + ms.leave";
	return (double)c->ms_enter + c->ms_leave;
}

static double serialize(const struct core_config *c, const char **how)
{
	(void)c;
	*how = "a fence or serialising instruction lasts as long as what it waits for";
	return NONE;
}

static double assist(const struct core_config *c, const char **how)
{
	*how = c->fp_assist ? "assist.fp_cycles" : "assist.sse_avx_cycles";
	return c->fp_assist ? c->fp_assist_cycles : c->sse_avx_cycles;
}

static double decoded(const struct core_config *c, const char **how)
{
	(void)c;
	*how = "the decoders are slower than the uop cache, not late: there are no cycles of one uop";
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

/* ---- the table ---- */

enum { DATA = 1, PAGES };	/* families */
#define SIG(name) SPMU_SIG_##name
#define GROUP(name) (1u << COST_##name)
static const char no_queue[] = "no queue or state machine is busy for it";
const struct cost_event cost_events[] = {
	{ .name = "mispredict", .help = "mispredicted branches", .tag = "mispredict", .analytic = mispredict,
		.busy = { COST_ALLOCATION },
		.busy_how = "cycles from the branch's allocation to the next allocation on the right path",
		.change = cost_change_predictor, .only = "bpred.perfect=2", .by_default = true },
	{ .name = "btb_miss", .help = "taken branches unknown to the BTB, found at decode",
		.tag = "btb_miss & !mispredict", .analytic = resteer,
		.busy_how = "no queue or state machine is busy for it: fetch only changes direction",
		.change = cost_change_btb, .only = "frontend.resteer=0", .by_default = true },
	{ .name = "l1_miss", .family = DATA, .help = "loads that missed L1D and were served by L2", .tag = "l2_hit",
		.analytic = l1_miss, .busy = { SIG(L1D_PENDING) }, .less = SIG(L2_PENDING),
		.busy_how = "cycles with a load waiting in a fill buffer of L1D, less those with one waiting behind L2",
		.change = cost_change_l1d, .only = "free.l1_miss=1", .by_default = true, .waits = true },
	{ .name = "l2_miss", .family = DATA, .help = "loads that missed L2; with an L3, those that it served",
		.tag = "l2_miss & !l3_miss", .tag_last = "l2_miss", .analytic = l2_miss, .busy = { SIG(L2_PENDING) },
		.less = SIG(L3_PENDING),
		.busy_how = "cycles with a load waiting behind L2, less those with one waiting behind L3",
		.change = cost_change_l2, .only = "free.l2_miss=1", .only_last = cost_free_memory_fields,
		.by_default = true, .waits = true },
	{ .name = "l3_miss", .family = DATA, .help = "loads that missed L3", .tag = "l3_miss", .tag_last = "",
		.analytic = l3_miss,
		.busy = { SIG(L3_PENDING) }, .busy_how = "cycles with a load waiting behind L3",
		.change = cost_change_l3, .only = cost_free_memory_fields, .by_default = true, .waits = true },
	{ .name = "store_miss", .help = "stores that missed L1D when they were written",
		.counted = { SIG(STORE_L1D_MISS) }, .groups = GROUP(RESOURCE) | GROUP(TLB), .analytic = l1_miss,
		.busy_how = no_queue, .change = cost_no_change, .only = "free.store_miss=1", .by_default = true },
	{ .name = "other_core", .family = DATA,
		.help = "times that L3 asked other cores for a line, or took it away from them",
		.counted = { SIG(UNC_SNOOP), SIG(UNC_INVALIDATE) },
		.groups = GROUP(SNOOP) | GROUP(RESOURCE) | GROUP(LOCK),
		.analytic = other_core, .busy_how = no_queue, .change = cost_no_change, .only = "free.snoop=1",
		.by_default = true },
	{ .name = "dtlb_miss", .family = PAGES,
		.help = "accesses that missed the first-level data TLB and were served by the second",
		.tag = "dtlb_miss & !stlb_miss", .analytic = dtlb_miss, .busy_how = no_queue,
		.change = cost_change_dtlb, .only = "free.dtlb_miss=1", .by_default = true, .waits = true },
	{ .name = "page_walk", .family = PAGES, .help = "accesses that walked the page tables", .tag = "page_walk",
		.analytic = page_walk, .busy = { SIG(DTLB_LOAD_WALK), SIG(DTLB_STORE_WALK) },
		.busy_how = "cycles with a page walk for data", .change = cost_change_stlb, .only = "free.walk=1",
		.by_default = true, .waits = true },
	{ .name = "icache_miss", .help = "instruction fetches that missed L1I", .tag = "icache_miss",
		.analytic = icache_miss, .busy = { SIG(ICACHE_STALL) },
		.busy_how = "cycles in which fetch waits for L1I", .change = cost_change_l1i,
		.only = "free.icache_miss=1", .by_default = true },
	{ .name = "itlb_miss", .help = "instruction fetches that missed the TLB", .tag = "itlb_miss",
		.analytic = itlb_miss, .busy = { SIG(ITLB_STALL) },
		.busy_how = "cycles in which fetch waits for the TLB",
		.change = cost_change_itlb, .by_default = true },
	{ .name = "clear", .help = "machine clears", .tag = "clear", .analytic = clear, .busy = { SIG(RECOVERY) },
		.busy_how = "recovery cycles, also those of mispredicted branches", .change = cost_change_clear,
		.only = "free.clear=1", .by_default = true },
	{ .name = "lock", .help = "locked accesses", .tag = "lock & load", .analytic = lock,
		.busy = { SIG(LOCK_DURATION) }, .busy_how = "cycles in which L1D is locked", .change = cost_no_change,
		.only = "free.lock=1", .by_default = true },
	{ .name = "serialize", .help = "fences, PAUSE and serialising instructions", .tag = "serializing | pause",
		.analytic = serialize, .busy = { SIG(SERIALIZED) },
		.busy_how = "cycles in which allocation waits for such an instruction", .change = cost_no_change,
		.only = "free.serialize=1", .by_default = true },
	{ .name = "split", .help = "accesses that cross a line or a page", .tag = "split", .analytic = split,
		.busy_how = no_queue, .change = cost_change_split,
		.only = "l1d.split_penalty=0,l1d.page_split_penalty=0", .by_default = true, .waits = true },
	{ .name = "no_forward", .help = "loads that could not be forwarded to, or only seemed to overlap a store",
		.tag = "no_forward", .analytic = no_forward, .busy_how = no_queue, .change = cost_change_forward,
		.only = "free.forward=1,alias.penalty=0", .by_default = true, .waits = true },
	{ .name = "store_buffer", .help = "uops that waited for a store-buffer entry", .tag = "stall_sb",
		.analytic = resource, .busy = { SIG(RESOURCE_STALL_SB) },
		.busy_how = "cycles in which allocation waits for an entry", .change = cost_change_store_buffer,
		.by_default = true },
	{ .name = "divide", .help = "divides and square roots", .tag = "divide", .analytic = divide,
		.latency_how = "mean latency of those that were executed, by the uop table",
		.busy = { SIG(DIVIDER_ACTIVE) },
		.busy_how = "cycles in which a divider is busy", .change = cost_no_change, .only = "free.divide=1",
		.by_default = true, .waits = true },
	{ .name = "assist", .help = "microcode assists: denormals (with --assists), legacy SSE code among AVX code",
		.tag = "assist", .analytic = assist, .busy_how = no_queue, .change = cost_no_change,
		.only = "assist.fp_cycles=0,assist.sse_avx_cycles=0", .by_default = true },
	{ .name = "microcode", .help = "switches to the microcode sequencer: string instructions, divides, locks",
		.counted = { SIG(MS_SWITCH) }, .groups = GROUP(FRONT_END), .analytic = microcode, .busy_how = no_queue,
		.change = cost_no_change, .only = "ms.enter=0,ms.leave=0,ms.drain=0,ms.width=8", .by_default = true },
	{ .name = "lcp", .help = "stalls of the decoders by length-changing prefixes", .counted = { SIG(LCP_STALL) },
		.groups = GROUP(FRONT_END), .analytic = lcp, .busy = { SIG(LCP_STALL) },
		.busy_how = "cycles in which the decoders stall for such a prefix", .change = cost_no_change,
		.only = "mite.lcp_penalty=0", .by_default = true },
	{ .name = "decoded", .help = "uops that the decoders delivered because the uop cache did not have them",
		.tag = "from_mite", .groups = GROUP(FRONT_END), .analytic = decoded, .busy_how = no_queue,
		.change = cost_change_dsb, .by_default = true },
	{ .name = "prefetch", .help = "loads of lines that a prefetcher brought", .tag = "prefetch",
		.analytic = prefetch, .busy_how = no_queue, .change = cost_change_prefetch },
};
const unsigned cost_events_count = sizeof cost_events / sizeof *cost_events;

const struct cost_event *cost_event_find(const char *name)
{
	for (unsigned i = 0; i < cost_events_count; i++)
		if (!strcmp(cost_events[i].name, name))
			return &cost_events[i];
	return NULL;
}

const char *cost_event_only(const struct cost_event *e, const struct core_config *c, char *text, size_t bytes)
{
	const char *fields = c->l3_size || !e->only_last ? e->only : e->only_last;
	*text = 0;
	if (fields)
		cost_say(text, bytes, "%s%s", fields,
			fields == cost_free_memory_fields && c->fsb_clock ? ",fsb.clock=0" : "");
	return fields ? text : NULL;
}

const char *cost_event_tag(const struct cost_event *e, const struct core_config *c, const char **why)
{
	if (!strcmp(e->name, "dtlb_miss") && !c->stlb_entries) {
		*why = "this core has no second-level TLB: page_walk counts all misses";
		return NULL;
	}
	if (e->counted[0])
		return "";
	if (c->l3_size || !e->tag_last)
		return e->tag;
	if (!*e->tag_last) {
		*why = "this core has no L3: l2_miss counts them all";
		return NULL;
	}
	return e->tag_last;
}
