/* SPDX-License-Identifier: GPL-2.0-or-later
 * Writes an excerpt in the Kanata format, version 4, which Konata reads.
 *
 * Source: R. Shioya, "Kanata Log Format" (docs/kanata-log-format.md of https://github.com/shioyadan/Konata), sections
 * "Structure" and "Command Reference".  Its rules: a header; tabs between fields; C= gives the cycle of the first
 * command; commands are in order of time, and C steps on; an id is introduced by I, counts up from 0, and ends with R,
 * whose type is 0 for a retired and 1 for a flushed instruction; S begins a stage, which ends where the next one of its
 * lane begins (E may be omitted, and is); W, while the consumer is alive, says that it takes a result of a producer.
 * W stands where the consumer begins to execute or, if that takes no time, where it ends.
 *
 * An id is a uop.  Labels: type 0 is "ADDRESS instruction", with the uop's number behind the address from the second
 * one on; type 1 is what the pointer shows: function and line, port, data address, what happened.  "\n" in it is a line
 * feed to Konata (unescapeLabels_ of its onikiri_parser.ts).
 */
#include "output/pipeline/pipeline_private.h"
#include "util/grow.h"
#include <inttypes.h>
#include <stdlib.h>

/* A row that was introduced: what comes next. */
struct flight {
	uint64_t cycle;		/* of its next command */
	size_t row;
	unsigned next, stages;	/* the stage that begins then; `stages`: it ends */
	bool connected;		/* its producers were named */
	struct pipeline_stage stage[PIPELINE_STAGES];
};

struct kanata {
	FILE *to;
	const struct pipeline *p;
	const struct pipeline_row *row;
	uint64_t cycle, retired;
	size_t introduced;
	struct flight *heap;	/* the earliest first */
	size_t flights, room;
};

static const char *const did_text[SPMU_DID_COUNT] = {
#define DYNAMIC(name, text) [SPMU_DID_##name] = text,
#include "softpmu/signals.def"
};

static bool before(const struct flight *a, const struct flight *b)
{
	return a->cycle != b->cycle ? a->cycle < b->cycle : a->row < b->row;
}

static void sift_down(struct kanata *k, size_t at)
{
	for (;;) {
		size_t least = at;
		for (size_t child = 2 * at + 1; child <= 2 * at + 2 && child < k->flights; child++)
			if (before(&k->heap[child], &k->heap[least]))
				least = child;
		if (least == at)
			return;
		const struct flight other = k->heap[at];
		k->heap[at] = k->heap[least];
		k->heap[least] = other;
		at = least;
	}
}

static bool push(struct kanata *k, const struct flight *f)
{
	struct flight *heap = grow_array(k->heap, k->flights, &k->room, 1024, sizeof *heap);
	if (!heap)
		return false;
	k->heap = heap;
	size_t at = k->flights++;
	for (; at && before(f, &heap[(at - 1) / 2]); at = (at - 1) / 2)
		heap[at] = heap[(at - 1) / 2];
	heap[at] = *f;
	return true;
}

static void step_to(struct kanata *k, uint64_t cycle)
{
	if (cycle > k->cycle)
		fprintf(k->to, "C\t%" PRIu64 "\n", cycle - k->cycle);
	k->cycle = cycle;
}

/* The bits that only say who delivered it, or that it retired, are shown by the stages. */
static void put_happened(FILE *to, uint64_t did)
{
	did &= ~(SPMU_DID(RETIRED) | SPMU_DID(FROM_DSB) | SPMU_DID(FROM_MITE) | SPMU_DID(FROM_MS) | SPMU_DID(FROM_LSD));
	for (unsigned i = 0; i < SPMU_DID_COUNT; i++)
		if (did >> i & 1) {
			fputs("\\n", to);
			pipeline_put(to, did_text[i]);
		}
}

static void introduce(struct kanata *k, size_t i)
{
	const struct pipeline_row *r = &k->row[i];
	const struct pipeline_text *text = pipeline_text(k->p, r);
	FILE *to = k->to;
	k->introduced = i + 1;
	fprintf(to, "I\t%zu\t%" PRIu32 "\t%u\nL\t%zu\t0\t%" PRIx64, i, r->insn, r->thread, i, r->ip);
	if (r->nth)
		fprintf(to, ".%" PRIu32, r->nth);
	putc_unlocked(' ', to);
	pipeline_put(to, text->insn);
	fprintf(to, "\nL\t%zu\t1\t", i);
	pipeline_put(to, text->place);
	if (r->port != 255)
		fprintf(to, "\\nport %u", r->port);
	if (r->addr)
		fprintf(to, "\\naddress %" PRIx64, r->addr);
	if (r->wrong)
		fputs("\\nwrong path", to);
	if (r->cause < EXACT_CAUSES)
		fprintf(to, "\\ntime goes to: %s", exact_cause_name(r->cause));
	put_happened(to, r->did);
	putc_unlocked('\n', to);
}

/* Once for each producer that an id was introduced for; type 0 is "wake up". */
static void put_sources(struct kanata *k, const struct flight *f)
{
	const uint32_t *source = k->row[f->row].source;
	for (unsigned i = 0; i < PIPELINE_SOURCES; i++) {
		bool again = !source[i] || source[i] > k->introduced;
		for (unsigned j = 0; j < i; j++)
			again |= source[j] == source[i];
		if (!again)
			fprintf(k->to, "W\t%zu\t%" PRIu32 "\t0\n", f->row, source[i] - 1);
	}
}

/* Writes the next command of the first one in the heap. */
static void command(struct kanata *k)
{
	struct flight *f = k->heap;
	step_to(k, f->cycle);
	if (f->next < f->stages) {
		const struct pipeline_stage *s = &f->stage[f->next++];
		fprintf(k->to, "S\t%zu\t0\t%s\n", f->row, pipeline_stage_name(s->kind));
		if (s->kind == PIPELINE_EXECUTE) {
			put_sources(k, f);
			f->connected = true;
		}
		f->cycle = f->next < f->stages ? f->stage[f->next].begin : s->end;
	} else {
		const bool wrong = k->row[f->row].wrong;
		if (!f->connected)
			put_sources(k, f);
		fprintf(k->to, "R\t%zu\t%" PRIu64 "\t%d\n", f->row, k->retired, wrong);
		k->retired += !wrong;
		k->heap[0] = k->heap[--k->flights];
	}
	sift_down(k, 0);
}

int pipeline_kanata(FILE *to, const struct pipeline *p, struct err *err)
{
	size_t n;
	struct kanata k = { .to = to, .p = p, .row = pipeline_rows(p, &n) };
	k.cycle = n ? k.row[0].fetch : 0;
	fprintf(to, "Kanata\t0004\nC=\t%" PRIu64 "\n", k.cycle);
	bool room = true;
	for (size_t i = 0; i < n && room; i++) {
		struct flight f = { .row = i };
		f.stages = pipeline_stages(&k.row[i], f.stage);
		while (k.flights && k.heap[0].cycle < k.row[i].fetch)
			command(&k);
		step_to(&k, k.row[i].fetch);
		introduce(&k, i);
		f.cycle = f.stages ? f.stage[0].begin : k.row[i].retire;
		room = push(&k, &f);
	}
	while (k.flights && room)
		command(&k);
	free(k.heap);
	return room ? 0 : err_set(err, ERR_NOMEM, "out of memory");
}
