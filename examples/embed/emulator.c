/* SPDX-License-Identifier: BSD-2-Clause
 * A small emulator that owns a PMU: a toy machine of eight registers runs a program, reports what it retires
 * to the PMU, and takes the PMU's interrupts to sample a profile, as a guest's kernel would.
 *
 *   cc emulator.c $(pkg-config --cflags --libs softpmu) -o emulator
 *   ./emulator $(pkg-config --variable=eventsdir softpmu)/skylake.tsv
 *
 * An embedder has four things to do: pmu_start (load an event table, create a PMU, write its registers),
 * retire (one record an instruction, batches of them), on_pmi (the handler), and main (the counters read at the
 * end).
 */
#include "softpmu/pmu.h"
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* ---- the machine ---------------------------------------------------------------------------------------------- */

enum op { LI, ADD, ADDI, LOAD, STORE, BNE, HALT };
static const char *const op_name[] = { "li", "add", "addi", "load", "store", "bne", "halt" };
struct insn { uint8_t op, d, a, b; int32_t imm; };	/* d: destination; bne a, b, imm: branch to insn imm */

/* 200 times: sums 1024 words and stores the sum. */
static const struct insn program[] = {
	{ LI, 1, 0, 0, 0 },	/*  0  r1 = round */
	{ LI, 2, 0, 0, 200 },	/*  1  r2 = rounds */
	{ LI, 3, 0, 0, 0 },	/*  2  r3 = index of the word */
	{ LI, 4, 0, 0, 1024 },	/*  3  r4 = words */
	{ LI, 5, 0, 0, 0 },	/*  4  r5 = sum */
	{ LOAD, 6, 3, 0, 0 },	/*  5  inner loop */
	{ ADD, 5, 5, 6, 0 },	/*  6 */
	{ ADDI, 3, 3, 0, 1 },	/*  7 */
	{ BNE, 0, 3, 4, 5 },	/*  8 */
	{ STORE, 0, 1, 5, 0 },	/*  9  word[r1] = r5 */
	{ ADDI, 1, 1, 0, 1 },	/* 10 */
	{ BNE, 0, 1, 2, 2 },	/* 11 */
	{ HALT, 0, 0, 0, 0 },	/* 12 */
};
enum { INSNS = sizeof program / sizeof *program, WORDS = 4096, LINES = 64, BASE = 0x1000, INSN_BYTES = 4 };

struct machine {
	uint64_t reg[8];
	int64_t word[WORDS];
	uint32_t line[LINES];		/* direct-mapped cache of 64-byte lines: which line is held, plus 1 */
	unsigned at;			/* instruction pointer: index into program */
	uint64_t cycle;

	struct spmu *pmu;
	struct spmu_record record[SPMU_BATCH_MAX];
	uint32_t records, instructions;
	uint64_t base;			/* cycle that the batch begins at */

	uint64_t period, samples[INSNS];
};

/* ---- the guest's kernel: what it does with the PMU ------------------------------------------------------------ */

/* The interrupt handler: pmi->ip is the first instruction that has not retired. */
static void on_pmi(void *context, struct spmu *pmu, const struct spmu_pmi *pmi, const struct spmu_batch *batch)
{
	struct machine *m = (struct machine *)context;
	(void)batch;
	if (pmi->status & 1) {
		uint64_t at = (pmi->ip - BASE) / INSN_BYTES;
		if (at < INSNS)
			m->samples[at]++;
		spmu_wrmsr(pmu, MSR_IA32_PMC0, (uint32_t)-m->period);
	}
	spmu_wrmsr(pmu, MSR_IA32_PERF_GLOBAL_STATUS_RESET, pmi->status);
	spmu_apic_write(pmu, SPMU_APIC_LVT_PC, 0xf0);	/* the PMI has masked the entry */
}

/* Counter 0 samples this event; fixed counter 0 counts instructions, fixed counter 1 cycles. */
static int pmu_start(struct machine *m, const char *table, const char *event, struct spmu_model **model)
{
	char text[256];
	if (spmu_model_load(model, table, text, sizeof text)) {
		fprintf(stderr, "emulator: %s\n", text);
		return -1;
	}
	const struct spmu_event *e = spmu_model_find(*model, event);
	if (spmu_model_family(*model) != SPMU_FAMILY_ARCH || spmu_model_version(*model) < 2 || !e ||
		e->flags & SPMU_EVENT_NOT_MODELLED || !(e->pmc_mask & 1)) {
		fprintf(stderr, "emulator: %s: no event %s on counter 0 of an architectural PMU, version 2 or later\n",
			table, event);
		return -1;
	}
	const struct spmu_host host = { .context = m, .pmi = on_pmi };
	if (spmu_create(&m->pmu, *model, &host))
		return -1;
	uint64_t evtsel = e->event | (uint64_t)e->umask << 8 | SPMU_EVTSEL_CMASK(e->cmask) |
		(e->inv ? SPMU_EVTSEL_INV : 0) | (e->edge ? SPMU_EVTSEL_EDGE : 0) | SPMU_EVTSEL_USR | SPMU_EVTSEL_INT |
		SPMU_EVTSEL_EN;
	return spmu_apic_write(m->pmu, SPMU_APIC_LVT_PC, 0xf0) ||			/* vector F0H, not masked */
		spmu_wrmsr(m->pmu, MSR_IA32_PERF_GLOBAL_CTRL, 0) ||
		spmu_wrmsr(m->pmu, MSR_IA32_PERFEVTSEL0, evtsel) ||
		/* overflows after so many events */
		spmu_wrmsr(m->pmu, MSR_IA32_PMC0, (uint32_t)-m->period) ||
		spmu_wrmsr(m->pmu, MSR_IA32_FIXED_CTR_CTRL, 0x22) ||			/* user mode, no interrupt */
		spmu_wrmsr(m->pmu, MSR_IA32_PERF_GLOBAL_CTRL, UINT64_C(3) << 32 | 1) ? -1 : 0;
}

/* ---- the emulator: what it tells the PMU ---------------------------------------------------------------------- */

/* Hands the batch over.  Everything up to now has retired, so nothing of a later batch lies below `cycle`. */
static void flush(struct machine *m, bool last)
{
	struct spmu_record *r = &m->record[m->records++];	/* the core ran all the time */
	*r = (struct spmu_record){ 0 };
	r->kind = SPMU_REC_SIGNAL;
	r->cpl = 3;
	r->port = 255;
	r->signal = SPMU_SIG_CYCLES;
	r->did = 1;
	r->end = (uint32_t)(m->cycle - m->base);
	struct spmu_batch b = { 0 };
	b.base_cycle = m->base;
	b.watermark = m->cycle;
	b.count = m->records;
	b.instructions = m->instructions;
	b.is_last = last;
	b.user_only = 1;
	b.records = m->record;
	spmu_consume(m->pmu, &b);
	m->base = m->cycle;
	m->records = m->instructions = 0;
}

/* Reports one instruction, which is one uop here, from its fetch to its retirement `latency` cycles later.
 * Instructions do not overlap. */
static void retire(struct machine *m, unsigned at, uint64_t is, uint64_t did, uint64_t address, unsigned latency)
{
	struct spmu_record *r = &m->record[m->records++];
	uint32_t begin = (uint32_t)(m->cycle - m->base);
	*r = (struct spmu_record){ 0 };
	r->kind = SPMU_REC_UOP;
	r->cpl = 3;
	r->ip = BASE + INSN_BYTES * at;
	r->is = is | SPMU_IS(INST_BEGIN) | SPMU_IS(INST_END) | SPMU_IS(SLOT) | SPMU_IS(EXEC);
	r->did = did | SPMU_DID(RETIRED);
	r->addr = address;
	r->size = is & (SPMU_IS(LOAD) | SPMU_IS(STORE_ADDR)) ? 8 : 0;
	r->fetch = r->alloc = r->ready = r->dispatch = begin;
	r->complete = r->retire = begin + latency - 1;
	m->cycle += latency;
	m->instructions++;
	if (m->records == SPMU_BATCH_MAX - 1)
		flush(m, false);
}

/* Does the word's line miss the cache?  Afterwards the cache holds it. */
static bool misses(struct machine *m, uint64_t word)
{
	uint32_t line = (uint32_t)(word / 8), *slot = &m->line[line % LINES];
	bool miss = *slot != line + 1;
	*slot = line + 1;
	return miss;
}

static void step(struct machine *m)
{
	const struct insn *i = &program[m->at];
	unsigned at = m->at++, latency = 1;
	uint64_t is = 0, did = 0, word = m->reg[i->a] % WORDS, address = 0;
	switch ((enum op)i->op) {
	case LI: m->reg[i->d] = (uint64_t)i->imm; break;
	case ADD: m->reg[i->d] = m->reg[i->a] + m->reg[i->b]; break;
	case ADDI: m->reg[i->d] = m->reg[i->a] + (uint64_t)i->imm; break;
	case LOAD:
	case STORE:
		is = i->op == LOAD ? SPMU_IS(LOAD) : SPMU_IS(STORE_ADDR);
		address = 0x100000 + 8 * word;
		if (misses(m, word)) {
			did = SPMU_DID(L1D_MISS);
			latency = i->op == LOAD ? 20 : 1;
		}
		if (i->op == LOAD)
			m->reg[i->d] = (uint64_t)m->word[word];
		else
			m->word[word] = (int64_t)m->reg[i->b];
		break;
	case BNE:
		is = SPMU_IS(BRANCH) | SPMU_IS(COND);
		if (m->reg[i->a] != m->reg[i->b]) {
			m->at = (unsigned)i->imm;
			did = SPMU_DID(TAKEN);
			address = BASE + INSN_BYTES * m->at;
		}
		break;
	case HALT: break;
	}
	retire(m, at, is, did, address, latency);
}

int main(int argc, char **argv)
{
	static struct machine m = { .period = 1009 };
	struct spmu_model *model = NULL;
	uint64_t count[2] = { 0, 0 }, all = 0;
	const char *event = argc > 2 ? argv[2] : "cycles";
	if (argc < 2) {
		fprintf(stderr, "usage: emulator EVENT_TABLE [EVENT]\n");
		return 2;
	}
	for (int i = 0; i < WORDS; i++)
		m.word[i] = i;
	if (pmu_start(&m, argv[1], event, &model)) {
		spmu_model_free(model);
		return 1;
	}
	while (program[m.at].op != HALT)
		step(&m);
	flush(&m, true);

	spmu_rdmsr(m.pmu, MSR_IA32_FIXED_CTR0, &count[0]);
	spmu_rdmsr(m.pmu, MSR_IA32_FIXED_CTR0 + 1, &count[1]);
	printf("%" PRIu64 " instructions, %" PRIu64 " cycles\n", count[0], count[1]);
	for (unsigned i = 0; i < INSNS; i++)
		all += m.samples[i];
	printf("%" PRIu64 " samples, one every %" PRIu64 " %s\n", all, m.period, event);
	for (unsigned i = 0; i < INSNS; i++)
		if (m.samples[i])
			printf("%6.1f%%  %4x  %s\n", 100.0 * (double)m.samples[i] / (double)all, BASE + INSN_BYTES * i,
				op_name[program[i].op]);
	spmu_destroy(m.pmu);
	spmu_model_free(model);
	return 0;
}
