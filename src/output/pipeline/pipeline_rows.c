/* SPDX-License-Identifier: GPL-2.0-or-later
 * Collects the rows of an excerpt (pipeline_rows.h). */
#include "output/pipeline/pipeline_private.h"
#include "core/record/detail.h"
#include "isa/isa.h"
#include "util/grow.h"
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum { INSN_TEXT = 96, PLACE_TEXT = 400, STORES = 256 /* more than a store buffer has */ };

struct thread {
	struct pipeline_thread is;
	uint32_t insns;		/* so far */
	uint32_t nth;		/* of the next uop of the instruction */
	/* 1 + the row that wrote a register last; the last stores, by their number modulo STORES */
	uint32_t writer[UINT8_MAX + 1];
	struct { uint32_t number, row; } store[STORES];
};
/* Which text an address has. */
struct known { uint64_t ip; uint32_t pid; bool fused; uint32_t text; };

struct pipeline {
	struct symbols *symbols;
	struct pipeline_row *row;
	size_t rows, room, most;
	struct pipeline_text *text;	/* [0]: of code without one */
	size_t texts, text_room;
	struct known *known;
	uint32_t *bucket;	/* 1 + index into known; 0: free */
	size_t knowns, known_room, buckets;
	struct thread *thread;
	size_t threads, thread_room;
	bool full, no_memory;
};

static const char *const stage_name[PIPELINE_STAGES] = { "F", "DSB", "MITE", "MS", "LSD", "Al", "Is", "X", "Cm", "Rt" };
static const char *const stage_help[PIPELINE_STAGES] = {
	"delivered to the uop queue", "delivered by the uop cache", "delivered by the legacy decoders",
	"delivered by the microcode sequencer", "delivered by the loop buffer", "allocated: waits for operands",
	"ready: waits for its port", "executes", "complete: waits to retire", "retires"
};

const char *pipeline_stage_name(enum pipeline_stage_kind kind) { return stage_name[kind]; }
const char *pipeline_stage_help(enum pipeline_stage_kind kind) { return stage_help[kind]; }

int pipeline_create(struct pipeline **out, struct symbols *symbols, size_t most, struct err *err)
{
	struct pipeline *p = calloc(1, sizeof *p);
	if (p) {
		p->symbols = symbols;
		p->most = most;
		p->text = calloc(1, sizeof *p->text);
		if (p->text) {
			p->texts = p->text_room = 1;
			p->text->insn = strdup("");
			p->text->place = strdup("");
		}
	}
	if (!p || !p->text || !p->text->insn || !p->text->place) {
		pipeline_destroy(p);
		return err_set(err, ERR_NOMEM, "out of memory");
	}
	*out = p;
	return 0;
}

void pipeline_destroy(struct pipeline *p)
{
	if (!p)
		return;
	for (size_t i = 0; i < p->texts; i++) {
		free(p->text[i].insn);
		free(p->text[i].place);
	}
	free(p->text);
	free(p->row);
	free(p->known);
	free(p->bucket);
	free(p->thread);
	free(p);
}

int pipeline_thread(struct pipeline *p, uint32_t pid, uint32_t tid, const char *comm, unsigned *number, struct err *err)
{
	struct thread *t = grow_array(p->thread, p->threads, &p->thread_room, 16, sizeof *p->thread);
	if (!t)
		return err_set(err, ERR_NOMEM, "out of memory");
	if (p->threads > UINT16_MAX)
		return err_set(err, ERR_UNSUPPORTED, "more than %u threads in an excerpt of the pipeline", UINT16_MAX);
	p->thread = t;
	t += p->threads;
	*t = (struct thread){ .is = { .pid = pid, .tid = tid } };
	snprintf(t->is.comm, sizeof t->is.comm, "%s", comm);
	*number = (unsigned)p->threads++;
	return 0;
}

void pipeline_rename(struct pipeline *p, unsigned thread, const char *comm)
{
	snprintf(p->thread[thread].is.comm, sizeof p->thread[thread].is.comm, "%s", comm);
}

/* ---- texts ---- */

static bool read_insn(struct pipeline *p, uint32_t pid, uint64_t ip, char *text, size_t bytes)
{
	const struct isa_style style = { .intel = true };
	struct symbols_place at;
	uint8_t code[16];
	uint64_t vaddr;
	symbols_resolve(p->symbols, pid, ip, UINT64_MAX, &at);
	const struct symfile *f = symbols_place_file(&at);
	const size_t n = f ? symfile_read(f, at.address, code, sizeof code) : 0;
	if (!n)
		return false;
	if (!symfile_vaddr(f, at.address, &vaddr))
		vaddr = ip;
	return isa_text(code, n, vaddr, symfile_word_bytes(f), &style, text, bytes) != 0;
}

static void read_place(struct pipeline *p, uint32_t pid, uint64_t ip, char *text, size_t bytes)
{
	struct symbols_place at;
	struct symbols_line line;
	symbols_resolve(p->symbols, pid, ip, UINT64_MAX, &at);
	if (!at.symbol) {
		snprintf(text, bytes, "[%s]", at.dso);
		return;
	}
	const int n = snprintf(text, bytes, "%s+0x%" PRIx64, at.symbol->name, at.address - at.symbol->start);
	if (n > 0 && (size_t)n < bytes && symbols_place_lines(&at, &line, 1) && *line.file)
		snprintf(text + n, bytes - (size_t)n, " (%s:%u)",
			strrchr(line.file, '/') ? strrchr(line.file, '/') + 1 : line.file, line.line);
}

/* Returns 0, the number of the empty text, if memory ran out. */
static uint32_t new_text(struct pipeline *p, uint64_t ip, const char *insn, const char *place)
{
	struct pipeline_text *text = grow_array(p->text, p->texts, &p->text_room, 256, sizeof *text);
	if (text) {
		p->text = text;
		text += p->texts;
		*text = (struct pipeline_text){ ip, strdup(insn), strdup(place) };
		if (text->insn && text->place)
			return (uint32_t)p->texts++;
		free(text->insn);
		free(text->place);
	}
	p->no_memory = true;
	return 0;
}

static size_t place_of(const struct pipeline *p, const struct known *k)
{
	size_t at = (size_t)((k->ip + k->pid + k->fused) * UINT64_C(0x9e3779b97f4a7c15) >> 32) & (p->buckets - 1);
	for (; p->bucket[at]; at = (at + 1) & (p->buckets - 1)) {
		const struct known *have = &p->known[p->bucket[at] - 1];
		if (have->ip == k->ip && have->pid == k->pid && have->fused == k->fused)
			break;
	}
	return at;
}

/* Makes room for one more. */
static bool known_fits(struct pipeline *p)
{
	void *array = p->known;
	const int grew = grow_indexed(&array, p->knowns, &p->known_room, 1024, sizeof *p->known, &p->bucket,
		&p->buckets);
	p->known = array;
	for (size_t i = 0; grew > 0 && i < p->knowns; i++)
		p->bucket[place_of(p, &p->known[i])] = (uint32_t)i + 1;
	return grew >= 0;
}

static uint32_t text_of(struct pipeline *p, uint32_t pid, const struct spmu_record *r)
{
	struct known k = { .ip = r->ip, .pid = pid, .fused = r->is & SPMU_IS(MACRO_FUSED) };
	if (!p->symbols)
		return 0;
	if (!known_fits(p)) {
		p->no_memory = true;
		return 0;
	}
	const size_t at = place_of(p, &k);
	if (p->bucket[at])
		return p->known[p->bucket[at] - 1].text;
	char insn[INSN_TEXT] = "", second[INSN_TEXT] = "", both[2 * INSN_TEXT + 2], place[PLACE_TEXT] = "";
	const char *text = insn;
	read_insn(p, pid, r->ip, insn, sizeof insn);
	if (k.fused && read_insn(p, pid, SPMU_BRANCH_IP(r), second, sizeof second)) {
		snprintf(both, sizeof both, "%s; %s", insn, second);
		text = both;
	}
	read_place(p, pid, r->ip, place, sizeof place);
	k.text = new_text(p, r->ip, text, place);
	p->known[p->knowns++] = k;
	p->bucket[at] = (uint32_t)p->knowns;
	return k.text;
}

/* ---- rows ---- */

/* What the uop spends its time on. */
static enum exact_cause cause_of(const struct spmu_record *r)
{
	if (r->did & SPMU_DID(MISPREDICTED))
		return EXACT_MISPREDICT;
	if (r->did & SPMU_DID(CLEAR_SMC))
		return EXACT_CLEAR;
	if (r->did & SPMU_DID(ITLB_MISS_F))
		return EXACT_ITLB;
	if (r->did & SPMU_DID(ICACHE_MISS))
		return EXACT_ICACHE;
	if (r->dispatch == UINT32_MAX || r->complete == UINT32_MAX)
		return EXACT_PIPELINE;
	const enum exact_cause cause = exact_uop_cause(r);
	const bool plain = cause == EXACT_EXECUTION || cause == EXACT_L1D;
	return plain && r->dispatch - r->ready > r->complete - r->dispatch ? EXACT_PORT : cause;
}

static uint64_t cycle_of(const struct spmu_batch *b, uint32_t offset)
{
	return offset == UINT32_MAX ? PIPELINE_NEVER : b->base_cycle + offset;
}

/* An in-order core allocates a uop when it is known to be issued, and its record may have that the other way round. */
static void in_order(struct pipeline_row *r)
{
	uint64_t *const cycle[] = { &r->complete, &r->dispatch, &r->ready, &r->alloc, &r->fetch };
	uint64_t next = r->retire;
	for (unsigned i = 0; i < sizeof cycle / sizeof *cycle; i++)
		if (*cycle[i] != PIPELINE_NEVER)
			next = *cycle[i] = *cycle[i] < next ? *cycle[i] : next;
}

/* Enters what the uop's details say: whose results it takes, and that it writes registers or a store. */
static void connect(struct thread *t, struct pipeline_row *row, uint32_t number, const struct core_detail *d)
{
	unsigned n = 0;
	for (unsigned i = 0; i < sizeof d->src; i++)
		if (d->src[i])
			row->source[n++] = t->writer[d->src[i]];
	const bool load = row->is & SPMU_IS(LOAD);
	if (d->store && load && t->store[d->store % STORES].number == d->store)
		row->source[n] = t->store[d->store % STORES].row;
	for (unsigned i = 0; i < sizeof d->dst; i++)
		if (d->dst[i])
			t->writer[d->dst[i]] = number + 1;
	if (d->store && !load && d->flags & DETAIL_STORED) {
		t->store[d->store % STORES].number = d->store;
		t->store[d->store % STORES].row = number + 1;
	}
}

static struct pipeline_row *new_row(struct pipeline *p)
{
	if (p->rows >= p->most) {
		p->full = true;
		return NULL;
	}
	struct pipeline_row *row = grow_array(p->row, p->rows, &p->room, 4096, sizeof *row);
	if (!row) {
		p->no_memory = p->full = true;
		return NULL;
	}
	p->row = row;
	return row + p->rows++;
}

void pipeline_batch(struct pipeline *p, unsigned thread, const struct spmu_batch *b)
{
	struct thread *t = &p->thread[thread];
	const struct core_detail *detail = NULL;	/* of the next uop of the right path */
	for (uint32_t i = 0; i < b->count && !p->full; i++) {
		const struct spmu_record *r = &b->records[i];
		if (r->kind == SPMU_REC_SIGNAL && r->signal == DETAIL_UOP)
			detail = (const void *)r;
		if (r->kind != SPMU_REC_UOP)
			continue;
		struct pipeline_row *row = new_row(p);
		if (!row)
			return;
		if (r->is & SPMU_IS(INST_BEGIN)) {
			t->insns++;
			t->nth = 0;
		}
		*row = (struct pipeline_row){ .ip = r->ip, .addr = r->addr, .is = r->is, .did = r->did,
			.fetch = cycle_of(b, r->fetch), .alloc = cycle_of(b, r->alloc),
			.ready = cycle_of(b, r->ready), .dispatch = cycle_of(b, r->dispatch),
			.complete = cycle_of(b, r->complete), .retire = cycle_of(b, r->retire),
			.insn = t->insns - (t->insns > 0), .text = text_of(p, t->is.pid, r),
			.thread = (uint16_t)thread, .nth = t->nth, .port = r->port,
			.cause = (uint8_t)cause_of(r), .wrong = !(r->did & SPMU_DID(RETIRED)) };
		t->nth++;
		in_order(row);
		if (detail && !row->wrong) {
			if (!(detail->flags & DETAIL_BESIDE))
				connect(t, row, (uint32_t)(row - p->row), detail);
			detail = NULL;
		}
	}
}

/* By fetch, then by thread; a thread's rows keep their order. */
static int by_fetch(const void *a, const void *b)
{
	const struct pipeline_row *x = *(const struct pipeline_row *const *)a, *y =
		*(const struct pipeline_row *const *)b;
	if (x->fetch != y->fetch)
		return x->fetch < y->fetch ? -1 : 1;
	if (x->thread != y->thread)
		return x->thread < y->thread ? -1 : 1;
	return x < y ? -1 : x > y;
}

int pipeline_finish(struct pipeline *p, struct err *err)
{
	bool sorted = true;
	for (size_t i = 1; i < p->rows && sorted; i++)
		sorted = p->row[i - 1].fetch <= p->row[i].fetch;
	if (!sorted) {
		const struct pipeline_row **order = malloc(p->rows * sizeof *order);
		struct pipeline_row *row = order ? malloc(p->rows * sizeof *row) : NULL;
		uint32_t *place = row ? malloc(p->rows * sizeof *place) : NULL;
		for (size_t i = 0; place && i < p->rows; i++)
			order[i] = &p->row[i];
		if (place) {
			qsort(order, p->rows, sizeof *order, by_fetch);
			for (size_t i = 0; i < p->rows; i++) {
				row[i] = *order[i];
				place[order[i] - p->row] = (uint32_t)i + 1;
			}
			for (size_t i = 0; i < p->rows; i++)
				for (unsigned k = 0; k < PIPELINE_SOURCES; k++)
					if (row[i].source[k])
						row[i].source[k] = place[row[i].source[k] - 1];
			free(p->row);
			p->row = row;
			p->room = p->rows;
		}
		if (!place)
			free(row);
		p->no_memory |= !place;
		free(place);
		free(order);
	}
	p->symbols = NULL;
	return p->no_memory ? err_set(err, ERR_NOMEM, "out of memory") : 0;
}

int pipeline_of_block(struct pipeline **out, const struct block_result *r, struct err *err)
{
	struct pipeline *p;
	unsigned thread;
	int rc = pipeline_create(&p, NULL, SIZE_MAX, err);
	if (rc)
		return rc;
	rc = pipeline_thread(p, 0, 0, "block", &thread, err);
	int64_t first = 0;
	for (unsigned i = 0; i < r->timeline_uops; i++)
		first = r->uop[i].fetch < first ? r->uop[i].fetch : first;
	uint32_t insns = 0, text = 0;
	for (unsigned i = 0; !rc && i < r->timeline_uops; i++) {
		const struct block_uop *u = &r->uop[i];
		const struct block_insn *in = &r->insn[u->insn < r->insns ? u->insn : 0];
		struct pipeline_row *row = new_row(p);
		if (!row)
			break;
		if (u->first) {
			char place[32], both[2 * sizeof in->text + 2];
			const bool fused = u->insn + 1 < r->insns && in[1].fused;
			snprintf(place, sizeof place, "iteration %u", u->iteration);
			snprintf(both, sizeof both, "%s%s%s", in->text, fused ? "; " : "", fused ? in[1].text : "");
			text = new_text(p, in->offset, both, place);
			insns++;
		}
		*row = (struct pipeline_row){ .ip = in->offset, .did = u->did,
			.fetch = (uint64_t)(u->fetch - first), .alloc = (uint64_t)(u->alloc - first),
			.ready = (uint64_t)(u->ready - first), .dispatch = (uint64_t)(u->dispatch - first),
			.complete = (uint64_t)(u->complete - first), .retire = (uint64_t)(u->retire - first),
			.insn = insns - (insns > 0), .text = text, .port = u->port, .cause = EXACT_CAUSES,
			.nth = u->first || row == p->row ? 0 : row[-1].nth + 1 };
		memcpy(row->source, u->source, sizeof u->source);
		in_order(row);
	}
	if (!rc)
		rc = pipeline_finish(p, err);
	if (rc) {
		pipeline_destroy(p);
		return rc;
	}
	*out = p;
	return 0;
}

/* ---- what is read ---- */

const struct pipeline_row *pipeline_rows(const struct pipeline *p, size_t *n)
{
	*n = p->rows;
	return p->row;
}

const struct pipeline_text *pipeline_text(const struct pipeline *p, const struct pipeline_row *r)
{
	return &p->text[r->text];
}

const struct pipeline_text *pipeline_text_number(const struct pipeline *p, size_t number)
{
	return number < p->texts ? &p->text[number] : NULL;
}

size_t pipeline_threads(const struct pipeline *p) { return p->threads; }
const struct pipeline_thread *pipeline_thread_info(const struct pipeline *p, size_t number)
{
	return &p->thread[number].is;
}

bool pipeline_full(const struct pipeline *p) { return p->full; }

enum pipeline_stage_kind pipeline_front(const struct pipeline_row *r)
{
	const uint64_t did = r->did;
	return did & SPMU_DID(FROM_MS)  ? PIPELINE_MS
		: did & SPMU_DID(FROM_LSD)  ? PIPELINE_LSD
		: did & SPMU_DID(FROM_DSB)  ? PIPELINE_DSB
		: did & SPMU_DID(FROM_MITE) ? PIPELINE_MITE
					    : PIPELINE_FETCH;
}

unsigned pipeline_stages(const struct pipeline_row *r, struct pipeline_stage stage[PIPELINE_STAGES])
{
	const struct { enum pipeline_stage_kind kind; uint64_t begin; } at[] = {
		{ pipeline_front(r), r->fetch }, { PIPELINE_ALLOC, r->alloc }, { PIPELINE_ISSUE, r->ready },
		{ PIPELINE_EXECUTE, r->dispatch }, { PIPELINE_COMPLETE, r->complete },
	};
	unsigned n = 0;
	uint64_t now = 0;
	for (unsigned i = 0; i < sizeof at / sizeof *at; i++) {
		now = at[i].begin > now ? at[i].begin : now;
		if (now >= r->retire)
			break;
		if (n && stage[n - 1].begin == now)
			n--;
		else if (n)
			stage[n - 1].end = now;
		stage[n++] = (struct pipeline_stage){ at[i].kind, now, r->retire };
	}
	if (!r->wrong)
		stage[n++] = (struct pipeline_stage){ PIPELINE_RETIRE, r->retire, r->retire + 1 };
	return n;
}

enum pipeline_format pipeline_format_of(const char *name)
{
	static const struct { const char *end; enum pipeline_format format; } known[] = {
		{ ".o3", PIPELINE_O3 }, { ".o3pipeview", PIPELINE_O3 }, { ".out", PIPELINE_O3 },
		{ ".json", PIPELINE_JSON },
	};
	const size_t n = strlen(name);
	for (unsigned i = 0; i < sizeof known / sizeof *known; i++) {
		const size_t end = strlen(known[i].end);
		if (n > end && !strcmp(name + n - end, known[i].end))
			return known[i].format;
	}
	return PIPELINE_KANATA;
}

int pipeline_write(FILE *to, const struct pipeline *p, enum pipeline_format format, struct err *err)
{
	if (format == PIPELINE_KANATA)
		return pipeline_kanata(to, p, err);
	if (format == PIPELINE_O3)
		pipeline_o3(to, p);
	else
		pipeline_json(to, p);
	return 0;
}

void pipeline_put(FILE *to, const char *text)
{
	for (; *text; text++)
		putc_unlocked((unsigned char)*text < ' ' ? ' ' : *text, to);
}
