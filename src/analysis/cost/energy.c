/* SPDX-License-Identifier: GPL-2.0-or-later
 * Counts what happened in a run, and computes its energy (energy.h). */
#include "analysis/cost/energy.h"
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char *const energy_part_name[ENERGY_PARTS_COUNT] = {
#define X(name, size, access) #name,
	ENERGY_PARTS(X)
#undef X
};
#define N(name) ENERGY_COUNT_##name


/* Signals that are counted directly: by their number, or (per_record) one for each record. */
static const struct counted { uint8_t signal, count; bool per_record; } counted[] = {
	{ SPMU_SIG_ICACHE_HIT, N(fetches), false },
	{ SPMU_SIG_ICACHE_MISS_LINE, N(fetches), false },
	{ SPMU_SIG_ITLB_MISS, N(itlb_misses), false },
	{ SPMU_SIG_ITLB_WALK, N(walks), true },
	{ SPMU_SIG_DTLB_LOAD_WALK, N(walks), true },
	{ SPMU_SIG_DTLB_STORE_WALK, N(walks), true },
	{ SPMU_SIG_L1D_REPLACEMENT, N(l1d_fills), false },
	{ SPMU_SIG_L1D_EVICT_MODIFIED, N(l1d_evicts), false },
	{ SPMU_SIG_L2_DEMAND_RD_HIT, N(l2_requests), false },
	{ SPMU_SIG_L2_DEMAND_RD_MISS, N(l2_requests), false },
	{ SPMU_SIG_L2_RFO_HIT, N(l2_requests), false },
	{ SPMU_SIG_L2_RFO_MISS, N(l2_requests), false },
	{ SPMU_SIG_L2_CODE_RD_HIT, N(l2_requests), false },
	{ SPMU_SIG_L2_CODE_RD_MISS, N(l2_requests), false },
	{ SPMU_SIG_L2_PF_HIT, N(l2_prefetches), false },
	{ SPMU_SIG_L2_PF_MISS, N(l2_prefetch_misses), false },
	{ SPMU_SIG_L2_LINES_IN, N(l2_fills), false },
	{ SPMU_SIG_L3_REFERENCE, N(l3_requests), false },
	{ SPMU_SIG_UNC_WRITE, N(l3_writes), false },
	{ SPMU_SIG_L2_LINES_OUT_SILENT, N(l2_evicts), false },
	{ SPMU_SIG_L2_LINES_OUT_DIRTY, N(l2_evicts), false },
	{ SPMU_SIG_UNC_VICTIM, N(l3_evicts), false },
	{ SPMU_SIG_DRAM_READ, N(dram_reads), false },
	{ SPMU_SIG_DRAM_WRITE, N(dram_writes), false },
};
enum { COUNTED = sizeof counted / sizeof *counted };

struct core_wanted energy_wanted(void)
{
	struct core_wanted w = { .is = ~UINT64_C(0), .did = ~UINT64_C(0) };
	w.signal[SPMU_SIG_CYCLES >> 6] |= UINT64_C(1) << (SPMU_SIG_CYCLES & 63);
	for (unsigned i = 0; i < COUNTED; i++)
		w.signal[counted[i].signal >> 6] |= UINT64_C(1) << (counted[i].signal & 63);
	return w;
}

static void signal_record(struct energy_activity *a, const struct spmu_record *u)
{
	if (u->signal == SPMU_SIG_CYCLES) {
		a->n[N(cycles)] += u->end - u->begin;
		return;
	}
	for (unsigned i = 0; i < COUNTED; i++)
		if (u->signal == counted[i].signal) {
			const uint64_t n = counted[i].per_record ? 1 : u->did;
			a->n[counted[i].count] += n;
			if (counted[i].count == N(l2_prefetch_misses))
				a->n[N(l2_prefetches)] += n;
			if (counted[i].count == N(l2_prefetch_misses) || counted[i].count == N(l2_prefetches))
				a->n[N(l2_requests)] += n;
			return;
		}
}

static void uop_record(struct energy_activity *a, uint64_t is, uint64_t did)
{
	const uint64_t scalar = SPMU_IS(FP_SCALAR_SINGLE) | SPMU_IS(FP_SCALAR_DOUBLE) | SPMU_IS(X87);
	const uint64_t packed = SPMU_IS(FP_128_SINGLE) | SPMU_IS(FP_128_DOUBLE) | SPMU_IS(FP_256_SINGLE) |
		SPMU_IS(FP_256_DOUBLE) | SPMU_IS(INT_VECTOR) | SPMU_IS(VECTOR_256) | SPMU_IS(AES_CRYPTO);
	const uint64_t memory = SPMU_IS(LOAD) | SPMU_IS(STORE_ADDR) | SPMU_IS(STORE_DATA);
	if (is & SPMU_IS(SLOT)) {
		a->n[N(slots)]++;
		a->n[N(dsb)] += !!(did & SPMU_DID(FROM_DSB));
		a->n[N(mite)] += !!(did & SPMU_DID(FROM_MITE));
		a->n[N(ms)] += !!(did & SPMU_DID(FROM_MS));
		a->n[N(lsd)] += !!(did & SPMU_DID(FROM_LSD));
	}
	if (is & SPMU_IS(EXEC)) {
		a->n[N(uops)]++;
		if (is & SPMU_IS(DIVIDE))
			a->n[N(divide)]++;
		else if (is & packed)
			a->n[N(vector)]++;
		else if (is & scalar)
			a->n[N(floating)]++;
		else if (is & SPMU_IS(MULTIPLY))
			a->n[N(multiply)]++;
		else if (!(is & memory))
			a->n[N(integer)]++;
	}
	a->n[N(loads)] += !!(is & SPMU_IS(LOAD));
	a->n[N(stores)] += !!(is & SPMU_IS(STORE_ADDR));
	if (is & SPMU_IS(BRANCH)) {
		a->n[N(branches)]++;
		a->n[N(indirect)] += !!(is & SPMU_IS(INDIRECT));
		a->n[N(mispredicts)] += (did & (SPMU_DID(MISPREDICTED) | SPMU_DID(RETIRED))) ==
			(SPMU_DID(MISPREDICTED) | SPMU_DID(RETIRED));
	}
	a->n[N(dtlb_misses)] += !!(did & SPMU_DID(DTLB_MISS));
}

void energy_batch(struct energy_activity *a, const struct spmu_batch *b)
{
	a->n[N(instructions)] += b->instructions;
	for (uint32_t i = 0; i < b->count; i++) {
		const struct spmu_record *u = &b->records[i];
		if (u->kind == SPMU_REC_SIGNAL)
			signal_record(a, u);
		else
			uop_record(a, u->is, u->did);
	}
}


static const char *const columns = "part\tat\tpJ\tpower\tmW\tsource";
enum { LINE = 1024 };

static int number(double *out, const char *text)
{
	char *end;
	errno = 0;
	*out = strtod(text, &end);
	return errno || end == text || *end || !(*out >= 0 && *out < 1e9) ? ERR_INPUT : 0;
}

static int row(struct energy_model *m, bool had[ENERGY_PARTS_COUNT], char *line, struct err *err)
{
	char *cell[6], *save = NULL;
	unsigned n = 0, p = 0;
	for (char *c = strtok_r(line, "\t", &save); c && n < 6; c = strtok_r(NULL, "\t", &save))
		cell[n++] = c;
	if (n < 6)
		return err_set(err, ERR_INPUT, "%u columns, not %s", n, "part, at, pJ, power, mW, source");
	while (p < ENERGY_PARTS_COUNT && strcmp(cell[0], energy_part_name[p]))
		p++;
	if (p == ENERGY_PARTS_COUNT)
		return err_set(err, ERR_INPUT, "'%.64s' is not a part of a core", cell[0]);
	if (had[p])
		return err_set(err, ERR_INPUT, "%s is given twice", cell[0]);
	struct energy_row *r = &m->row[p];
	if (number(&r->at, cell[1]) || number(&r->pj, cell[2]) || number(&r->power, cell[3]) ||
		number(&r->mw, cell[4]) || !(r->at > 0) || r->power > 2)
		return err_set(err, ERR_INPUT, "%s: at, pJ, power and mW are numbers, at above 0, power up to 2",
			cell[0]);
	had[p] = true;
	return 0;
}

int energy_load(struct energy_model *out, const char *data_dir, const char *name, struct err *err)
{
	char path[4096], line[LINE];
	struct energy_model m = { 0 };
	bool had[ENERGY_PARTS_COUNT] = { false }, headed = false;
	struct err why = { 0 };
	int code = 0;
	const bool is_path = strchr(name, '/');
	int n = is_path ? snprintf(path, sizeof path, "%s", name)
			: snprintf(path, sizeof path, "%s/energy/%s.tsv", data_dir, name);
	if (n < 0 || (size_t)n >= sizeof path)
		return err_set(err, ERR_INPUT, "energy table '%.64s...': name too long", name);
	FILE *f = fopen(path, "re");
	if (!f)
		return err_system(err, "cannot read %s", path);
	for (unsigned at = 1; !code && fgets(line, sizeof line, f); at++) {
		const size_t length = strlen(line);
		if (length == sizeof line - 1 && line[length - 1] != '\n')
			code = err_set(&why, ERR_INPUT, "line too long");
		line[strcspn(line, "\r\n")] = 0;
		if (code || !*line || *line == '#')
			continue;
		if (!headed && strcmp(line, columns))
			code = err_set(&why, ERR_INPUT, "the columns are not part, at, pJ, power, mW, source");
		else if (headed)
			code = row(&m, had, line, &why);
		headed = true;
		if (code)
			err_set(err, code, "%.512s:%u: %.400s", path, at, why.text);
	}
	if (!code && ferror(f))
		code = err_system(err, "cannot read %s", path);
	fclose(f);
	for (unsigned p = 0; !code && p < ENERGY_PARTS_COUNT; p++)
		if (!had[p])
			code = err_set(err, ERR_INPUT, "%.512s: no line for %s", path, energy_part_name[p]);
	if (!code)
		*out = m;
	return code;
}

/* Bytes of tables whose entries have a counter of three bits, two usefulness bits, and a tag. */
static double tagged(double tables, unsigned entries_log2, double tag_bits)
{
	return tables * (double)(1u << entries_log2) * (tag_bits + 5) / 8;
}

static double predictor_bytes(const struct core_config *c)
{
	enum { TAGE, HYBRID, BTB };
	if (c->bpred_class == BTB)	/* two bits for each pattern, in the BTB's entries */
		return ((double)c->btb_l1_entries * (double)(1u << c->local_history) +
			       (c->trace_btb_entries ? (double)(1u << c->global_entries_log2) : 0)) /
			4;
	const double base = (double)(1u << c->tage_base_log2) / 4 + 8.0 * c->tage_loop_entries;
	return base +
		(c->bpred_class == HYBRID ? tagged(1, c->global_entries_log2, c->tage_tag_bits)
					  : tagged(c->tage_tables, c->tage_entries_log2, c->tage_tag_bits));
}

static double size_of(const struct core_config *c, enum energy_part p)
{
	switch (p) {
	case ENERGY_rob: return c->rob_size;
	case ENERGY_scheduler: return (double)c->rs_size + c->rs_load_size + c->rs_store_size;
	case ENERGY_load_buffer: return c->load_buffer_size;
	case ENERGY_store_buffer: return c->store_buffer_size;
	case ENERGY_decoders: return c->mite_decoders;
	case ENERGY_uop_cache: return (double)c->dsb_sets * c->dsb_ways * c->dsb_line_uops;
	case ENERGY_loop_buffer: return c->lsd_size;
	case ENERGY_predictor: return predictor_bytes(c);
	case ENERGY_btb: return (double)c->btb_l1_entries + c->btb_l2_entries + c->trace_btb_entries;
	/* half a target, a tag and a counter each */
	case ENERGY_indirect: return c->indirect_tables * (double)(1u << c->indirect_entries_log2) * 8;
	case ENERGY_itlb: return (double)c->itlb_entries + c->itlb_large_entries;
	case ENERGY_dtlb: return (double)c->dtlb_entries + c->dtlb_large_entries + c->dtlb_store_entries;
	case ENERGY_stlb: return c->stlb_entries;
	case ENERGY_walker: return c->walk_walkers;
	case ENERGY_l1i: return c->l1i_size;
	case ENERGY_l1d: return c->l1d_size;
	case ENERGY_l2: return c->l2_size;
	case ENERGY_l3: return (double)c->l3_size / c->l3_slices;
	case ENERGY_prefetch_l1: return c->prefetch_l1d_ip ? c->prefetch_l1d_ip_entries : c->prefetch_l1d_next_line;
	case ENERGY_prefetch_l2:
		return (c->prefetch_l2_streamer ? c->prefetch_l2_streams : 0.0) + c->prefetch_l2_adjacent;
	case ENERGY_core:
	case ENERGY_integer:
	case ENERGY_multiply:
	case ENERGY_divide:
	case ENERGY_floating:
	case ENERGY_vector:
	case ENERGY_microcode:
	case ENERGY_dram: case ENERGY_PARTS_COUNT:
		break;
	}
	return 1;
}

static double accesses(const uint64_t n[ENERGY_COUNTS_COUNT], enum energy_part p)
{
	const uint64_t memory = n[N(loads)] + n[N(stores)];
	uint64_t a = 0;
	switch (p) {
	case ENERGY_core: case ENERGY_rob: a = n[N(slots)]; break;
	case ENERGY_scheduler: a = n[N(uops)]; break;
	case ENERGY_load_buffer: case ENERGY_store_buffer: case ENERGY_dtlb: a = memory; break;
	case ENERGY_integer: a = n[N(integer)]; break;
	case ENERGY_multiply: a = n[N(multiply)]; break;
	case ENERGY_divide: a = n[N(divide)]; break;
	case ENERGY_floating: a = n[N(floating)]; break;
	case ENERGY_vector: a = n[N(vector)]; break;
	case ENERGY_decoders: a = n[N(mite)]; break;
	case ENERGY_microcode: a = n[N(ms)]; break;
	case ENERGY_uop_cache: a = n[N(dsb)] + n[N(mite)]; break;
	case ENERGY_loop_buffer: a = n[N(lsd)]; break;
	case ENERGY_predictor: case ENERGY_btb: a = n[N(branches)]; break;
	case ENERGY_indirect: a = n[N(indirect)]; break;
	case ENERGY_itlb: case ENERGY_l1i: a = n[N(fetches)]; break;
	case ENERGY_stlb: a = n[N(itlb_misses)] + n[N(dtlb_misses)]; break;
	case ENERGY_walker: a = n[N(walks)]; break;
	case ENERGY_l1d: a = memory + 2 * (n[N(l1d_fills)] + n[N(l1d_evicts)]); break;
	case ENERGY_l2: a = n[N(l2_requests)] + n[N(l2_fills)] + n[N(l1d_evicts)]; break;
	case ENERGY_l3: a = n[N(l3_requests)] + n[N(l3_writes)]; break;
	case ENERGY_dram: a = n[N(dram_reads)] + n[N(dram_writes)]; break;
	case ENERGY_prefetch_l1: a = n[N(loads)]; break;
	case ENERGY_prefetch_l2: a = n[N(l2_requests)]; break;
	case ENERGY_PARTS_COUNT: break;
	}
	return (double)a;
}

void energy_bill(struct energy_bill *out, const struct energy_model *m, const struct core_config *c,
	const struct energy_activity *a)
{
	*out = (struct energy_bill){ 0 };
	for (unsigned p = 0; p < ENERGY_PARTS_COUNT; p++) {
		const struct energy_row *r = &m->row[p];
		const double size = size_of(c, (enum energy_part)p) / r->at;
		if (!(size > 0))	/* the part does not exist, or is off */
			continue;
		out->part_fixed[p] = 1e-3 * (double)a->n[N(cycles)] * r->mw * size / c->frequency_ghz;
		out->part[p] =
			out->part_fixed[p] + 1e-3 * accesses(a->n, (enum energy_part)p) * r->pj * pow(size, r->power);
		out->fixed += out->part_fixed[p];
		out->total += out->part[p];
	}
}
