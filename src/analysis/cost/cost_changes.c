/* SPDX-License-Identifier: GPL-2.0-or-later
 * The machines with one feature changed, of which replays show what the events of cost_events.c cost.
 */
#include "analysis/cost/cost_changes.h"
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

void cost_say(char *text, size_t bytes, const char *format, ...)
{
	size_t n = strlen(text);
	va_list ap;
	va_start(ap, format);
	if (n < bytes)
		vsnprintf(text + n, bytes - n, format, ap);
	va_end(ap);
}

static const char no_other[] = "there is no second change to compare with";

enum cost_change cost_no_change(struct core_config *c, enum cost_try how, char *text, size_t bytes, const char **why)
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
	cost_say(text, bytes, "%s=%s", key, sized(*field, number));
	return COST_REMOVES;
}

static enum cost_change free_latency(uint32_t *field, const char *key, uint32_t to, char *text, size_t bytes,
	const char **why)
{
	*why = "it already takes no longer";
	if (*field <= to)
		return COST_NO_CHANGE;
	*field = to;
	cost_say(text, bytes, "%s=%u", key, to);
	return COST_FREES;
}

/* Memory that answers at once, with unlimited bandwidth. */
const char cost_free_memory_fields[] =
	"dram.latency_ns=1,dram.row_empty_ns=0,dram.row_conflict_ns=0,dram.bandwidth=10000,"
	"dram.others_ns=0,dram.refresh_ns=0,dram.line_ns=0,dram.write_ns=0";
static enum cost_change free_memory(struct core_config *c, char *text, size_t bytes)
{
	c->dram_latency_ns = 1;
	c->dram_others_ns = c->dram_refresh_ns = c->dram_row_empty_ns = c->dram_row_conflict_ns = 0;
	c->dram_line_ns = c->dram_write_ns = 0;
	c->dram_bandwidth = 10000;
	cost_say(text, bytes, "%s%s", cost_free_memory_fields, c->fsb_clock ? ",fsb.clock=0" : "");
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
	cost_say(text, bytes, "memory.page=2M");
	return COST_REMOVES;
}

enum cost_change cost_change_predictor(struct core_config *c, enum cost_try how, char *text, size_t bytes,
	const char **why)
{
	if (how == COST_WITHOUT)
		return cost_no_change(c, how, text, bytes, why);
	if (how == COST_BETTER) {
		c->bpred_perfect = 2;
		cost_say(text, bytes, "bpred.perfect=2");
		return COST_REMOVES;
	}
	if (!c->indirect_tables) {
		*why = "indirect branches are already predicted by their last target";
		return COST_NO_CHANGE;
	}
	c->indirect_tables = 0;
	cost_say(text, bytes, "indirect.tables=0");
	return COST_REMOVES;
}

enum cost_change cost_change_btb(struct core_config *c, enum cost_try how, char *text, size_t bytes, const char **why)
{
	if (how || !c->frontend_resteer) {
		*why = how ? no_other : "a re-steer at decode costs nothing on this core";
		return COST_NO_CHANGE;
	}
	c->frontend_resteer = 0;
	cost_say(text, bytes, "frontend.resteer=0");
	return COST_FREES;
}

enum cost_change cost_change_l1d(struct core_config *c, enum cost_try how, char *text, size_t bytes, const char **why)
{
	return cache(&c->l1d_size, "l1d.size", 1 << 20, 64 * c->l1d_ways, how, text, bytes, why);
}

enum cost_change cost_change_l2(struct core_config *c, enum cost_try how, char *text, size_t bytes, const char **why)
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
		cost_say(text, bytes, ",l3.size=%s", sized(c->l3_size, number));
	}
	return what;
}

enum cost_change cost_change_l3(struct core_config *c, enum cost_try how, char *text, size_t bytes, const char **why)
{
	if (how == COST_WITHOUT)
		return free_memory(c, text, bytes);
	return cache(&c->l3_size, "l3.size", 256 << 20, 4096, how, text, bytes, why);
}

enum cost_change cost_change_l1i(struct core_config *c, enum cost_try how, char *text, size_t bytes, const char **why)
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
	cost_say(text, bytes, "%s%s=%u", *text ? "," : "", key, *field);
	return COST_REMOVES;
}

enum cost_change cost_change_dtlb(struct core_config *c, enum cost_try how, char *text, size_t bytes,
	const char **why)
{
	if (how == COST_WITHOUT)
		return large_pages(c, text, bytes, why);
	enum cost_change what = entries(&c->dtlb_entries, "dtlb.entries", 1024, c->dtlb_ways, how, text, bytes);
	what |= entries(&c->dtlb_store_entries, "dtlb_store.entries", 1024, c->dtlb_store_ways, how, text, bytes);
	*why = "the TLB cannot be resized that far";
	return what;
}

enum cost_change cost_change_stlb(struct core_config *c, enum cost_try how, char *text, size_t bytes,
	const char **why)
{
	if (!c->stlb_entries || how == COST_WITHOUT)
		return cost_change_dtlb(c, how, text, bytes, why);
	*why = "the TLB cannot be resized that far";
	return entries(&c->stlb_entries, "stlb.entries", 16384, c->stlb_ways, how, text, bytes);
}

enum cost_change cost_change_itlb(struct core_config *c, enum cost_try how, char *text, size_t bytes,
	const char **why)
{
	if (how == COST_WITHOUT)
		return large_pages(c, text, bytes, why);
	*why = "the TLB cannot be resized that far";
	return entries(&c->itlb_entries, "itlb.entries", 1024, c->itlb_ways, how, text, bytes);
}

enum cost_change cost_change_prefetch(struct core_config *c, enum cost_try how, char *text, size_t bytes,
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
			cost_say(text, bytes, "%s%s=0", *text ? "," : "", p[i].key);
		}
	*why = how ? no_other : "this core has no prefetcher";
	return *text ? COST_REMOVES : COST_NO_CHANGE;
}

enum cost_change cost_change_split(struct core_config *c, enum cost_try how, char *text, size_t bytes,
	const char **why)
{
	*why = how ? no_other : "a split costs no more than its two accesses on this core";
	if (how || !(c->l1d_split_penalty | c->l1d_page_split_penalty))
		return COST_NO_CHANGE;
	c->l1d_split_penalty = c->l1d_page_split_penalty = 0;
	cost_say(text, bytes, "l1d.split_penalty=0,l1d.page_split_penalty=0");
	return COST_FREES;
}

enum cost_change cost_change_forward(struct core_config *c, enum cost_try how, char *text, size_t bytes,
	const char **why)
{
	*why = how ? no_other : "a load that cannot be forwarded to waits only until the store is written";
	if (how || !(c->forward_blocked | c->alias_penalty))
		return COST_NO_CHANGE;
	c->forward_blocked = c->alias_penalty = 0;
	cost_say(text, bytes, "forward.blocked=0,alias.penalty=0");
	return COST_FREES;
}

enum cost_change cost_change_store_buffer(struct core_config *c, enum cost_try how, char *text, size_t bytes,
	const char **why)
{
	const uint32_t now = c->store_buffer_size;
	if (how == COST_WITHOUT)
		return cost_no_change(c, how, text, bytes, why);
	c->store_buffer_size = how ? (now > 2 ? now / 2 : now) : 250;
	*why = "the store buffer cannot be resized that far";
	if (c->store_buffer_size == now)
		return COST_NO_CHANGE;
	cost_say(text, bytes, "store_buffer.size=%u", c->store_buffer_size);
	return COST_REMOVES;
}

enum cost_change cost_change_clear(struct core_config *c, enum cost_try how, char *text, size_t bytes,
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
	cost_say(text, bytes, "disambiguation.limit=255,clear.snoop=0,clear.smc=0");
	return COST_REMOVES;
}

/* The uop cache holds everything, wherever its lines begin. */
enum cost_change cost_change_dsb(struct core_config *c, enum cost_try how, char *text, size_t bytes, const char **why)
{
	*why = how ? no_other : "this core has no uop cache, or it cannot be larger";
	if (how || !c->dsb_sets)
		return COST_NO_CHANGE;
	const enum cost_change what = entries(&c->dsb_sets, "dsb.sets", 1024, 1, how, text, bytes);
	if (c->dsb_jcc_erratum) {
		c->dsb_jcc_erratum = 0;
		cost_say(text, bytes, "%sdsb.jcc_erratum=0", *text ? "," : "");
		return COST_REMOVES;
	}
	return what;
}
