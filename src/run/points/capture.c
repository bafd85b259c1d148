/* SPDX-License-Identifier: GPL-2.0-or-later
 * Makes a file of live points (capture.h): goes through the stream's blocks as a sampled run does (sample.c), and
 * either keeps a block or adds it to what the gap leaves.
 */
#include "run/points/capture.h"
#include "run/points/capture_out.h"
#include "run/points/lines.h"
#include "run/points/points.h"
#include "run/points/shape.h"
#include "run/points/touched.h"
#include "run/sample.h"
#include "stream/trace_file.h"
#include <stdlib.h>
#include <string.h>

enum {
	/* Steps that are kept behind a window: the timed core looks ahead. */
	BEHIND = 500,
	/* automatic: the interval doubles after so many windows, after twice as many, and then whenever there are a
	 * quarter more */
	STEP = 250, INTERVAL_MOST = 1 << 26,
	/* A part of the file has so many windows at least, and so many times the words that its beginning takes: what
	 * all of the run before has left. */
	PART_WINDOWS = 64, PART_TIMES = 3,
	LINES_WORDS = 4096,	/* of a record */
};

struct capture {
	struct capture_plan plan;
	struct capture_out out;
	struct shapes shapes;
	struct touched touched;
	bool process, thread;		/* they have begun */
	bool keeps;			/* blocks are kept; else they belong to the gap */
	bool told;			/* of the gap that is kept: where the next window begins */
	/* the thread's place: as struct sample_place */
	enum sample_part part;
	uint64_t done, rounds, until, base, interval, windows;
	uint64_t before, windows_before;	/* instructions and windows of threads that ended */
	uint64_t look_at;		/* automatic: number of windows at which the interval doubles next */
	uint64_t kept_to;		/* behind a window, blocks are kept until so many steps are done */
	uint64_t skipped, skipped_rounds;	/* steps of the gap so far */
	uint64_t from;			/* address of its first block */
	struct core_misses gap_misses;	/* of the reference machine, where it begins */
	uint64_t *way;			/* headers of the last blocks, in windows or not: a ring */
	uint64_t ways, gap_ways;	/* of the thread, so far; where the gap begins */
	uint64_t *list;			/* room for as many words, and one more */
	/* parts of the file: */
	bool in_part;
	uint64_t parts, turn;		/* number of this one, or of the next; of the section */
	uint64_t part_windows, part_words, part_begin;	/* at its beginning; words that this took */
	struct kept_records {
		uint64_t *word;
		size_t words, room;
	} digest, code;			/* records of this part that later ones need; its ST_CODE, which follow it */
	uint64_t *pair;			/* of ST_TIMES: of executions that were cut */
	size_t pairs, pair_room;
};

int capture_create(struct capture **out, const char *path, const struct capture_plan *plan, struct err *err)
{
	struct capture *c = calloc(1, sizeof *c);
	*out = NULL;
	if (!c)
		return err_set(err, ERR_NOMEM, "out of memory");
	c->plan = *plan;
	c->way = malloc(plan->history * sizeof *c->way);
	c->list = malloc((plan->history + LINES_WORDS) * sizeof *c->list);
	int rc = c->way && c->list ? touched_create(&c->touched, err)
		: err_set(err, ERR_NOMEM, "out of memory");
	if (!rc)
		rc = trace_writer_open(&c->out.file, path, true, err);
	if (rc)
		capture_destroy(c);
	else
		*out = c;
	return rc;
}

void capture_destroy(struct capture *c)
{
	if (!c)
		return;
	trace_writer_close(c->out.file);
	shapes_clear(&c->shapes);
	touched_destroy(&c->touched);
	free(c->way);
	free(c->list);
	free(c->digest.word);
	free(c->code.word);
	free(c->pair);
	free(c);
}

uint64_t capture_windows(const struct capture *c)
{
	return c->windows_before + c->windows;
}

uint64_t capture_instructions(const struct capture *c)
{
	return c->before + c->done - c->rounds;
}

/* --- the plan --- */

static void place(struct capture *c)
{
	const uint64_t room = c->interval - c->plan.sample.lead - c->plan.sample.measured;
	c->part = SAMPLE_GAP;
	c->until = c->base + sample_offset(c->windows, 0, room);
}

static void begin_gap(struct capture *c)
{
	c->keeps = false;
	c->skipped = c->skipped_rounds = c->from = 0;
	c->gap_ways = c->ways;
	c->gap_misses = c->touched.misses;
	touched_begin(&c->touched);
}

static void begin_thread(struct capture *c)
{
	c->before += c->done - c->rounds;
	c->windows_before += c->windows;
	c->done = c->rounds = c->base = c->windows = c->kept_to = c->ways = 0;
	c->touched.misses = (struct core_misses){ 0 };
	c->interval = c->plan.sample.interval;
	c->look_at = STEP;
	place(c);
	begin_gap(c);
}

static void put_place_of(struct capture *c, enum st_place_what what, const struct core_misses *m)
{
	const struct st_place p = { ST_HEADER(ST_PLACE, sizeof p), what, m->loads, m->l1, m->l2, m->l3, m->walks };
	capture_out_put(&c->out, &p, sizeof p / 8);
}

static void put_place(struct capture *c, enum st_place_what what)
{
	put_place_of(c, what, &c->touched.misses);
}

static void next_interval(struct capture *c)
{
	if (!c->plan.automatic || c->windows < c->look_at)
		return;
	c->look_at = c->windows < 2 * STEP ? 2 * STEP : c->windows + c->windows / 4;
	if (c->interval < INTERVAL_MOST)
		c->interval *= 2;
}

/* As turn() of sample.c: a part of a window begins, or the gap behind it. */
static void turn(struct capture *c)
{
	switch (c->part) {
	case SAMPLE_GAP:
		c->part = SAMPLE_LEAD;
		c->until = c->done + c->plan.sample.lead;
		if (c->done < c->until)
			break;
		__attribute__((fallthrough));	/* there is no lead */
	case SAMPLE_LEAD:
		put_place(c, ST_PLACE_BEGIN);
		c->part = SAMPLE_MEASURED;
		c->until = c->done + c->plan.sample.measured;
		break;
	case SAMPLE_MEASURED:
		put_place(c, ST_PLACE_END);
		c->kept_to = c->done + BEHIND;
		c->told = false;
		c->windows++;
		c->base += c->interval;
		next_interval(c);
		if (c->base < c->done)
			c->base = c->done;
		place(c);
		break;
	}
}

/* --- parts of the file --- */

/* from: address of the block that comes next. */
static void put_part(struct capture *c, enum st_part_what what, uint64_t from)
{
	const struct st_part p = { ST_HEADER(ST_PART, sizeof p), what, c->parts, c->turn, c->done - c->skipped,
		c->rounds - c->skipped_rounds, c->windows, from };
	capture_out_put(&c->out, &p, sizeof p / 8);
	if (what == ST_PART_BEGIN)	/* the gap before it belongs to it */
		put_place_of(c, ST_PLACE_FROM, c->skipped ? &c->gap_misses : &c->touched.misses);
}

static void open_part(struct capture *c)
{
	capture_out_section(&c->out, TRACE_SECTION_PART, (uint32_t)c->parts);
	c->turn++;
	put_part(c, ST_PART_BEGIN, 0);
	c->in_part = true;
	c->part_windows = c->windows;
	c->part_begin = c->out.all;
	c->part_words = 0;
}

static void put_kept(struct capture *c, struct kept_records *k)
{
	for (size_t i = 0; i < k->words; i += ST_HEADER_LOW(k->word[i]) / 8)
		capture_out_put(&c->out, k->word + i, ST_HEADER_LOW(k->word[i]) / 8);
	k->words = 0;
}

static void begin_common(struct capture *c)
{
	capture_out_section(&c->out, TRACE_SECTION_COMMON, 0);
	c->turn++;
	put_part(c, ST_PART_COMMON, 0);
}

static void out_of_memory(struct capture *c)
{
	c->out.rc = c->out.rc ? c->out.rc : err_set(&c->out.err, ERR_NOMEM, "out of memory");
}

static void add_pair(struct capture *c, uint64_t header, uint64_t times)
{
	if (c->pairs + 2 > c->pair_room) {
		const size_t room = c->pair_room * 2 + 256;
		uint64_t *more = realloc(c->pair, room * sizeof *more);
		if (!more) {
			out_of_memory(c);
			return;
		}
		c->pair = more;
		c->pair_room = room;
	}
	c->pair[c->pairs++] = header;
	c->pair[c->pairs++] = times;
}

static bool lies_in(const struct shape *b, const struct st_range *range)
{
	if (!range)
		return true;
	const uint64_t first = range->addr >> TOUCHED_LINE_LOG2,
		       last = (range->addr + range->bytes) >> TOUCHED_LINE_LOG2;
	for (unsigned i = 0; i < b->lines; i++)
		if (b->line[i].line >= first && b->line[i].line <= last)
			return true;
	return false;
}

/* How often the blocks with code in this range (NULL: all) were skipped. */
static void put_times(struct capture *c, const struct st_range *range)
{
	for (size_t id = 0; id < c->shapes.blocks; id++) {
		struct shape *b = c->shapes.block[id];
		if (!b || !lies_in(b, range))
			continue;
		for (unsigned x = 0; x < b->exits; x++)
			if (b->exit[x].times) {
				add_pair(c, ST_HEADER(ST_BLOCK, (uint64_t)x << 32 | id), b->exit[x].times);
				b->exit[x].times = 0;
			}
	}
	capture_out_list(&c->out, ST_TIMES, c->pair, c->pairs, 2);
	c->pairs = 0;
}

static void close_part(struct capture *c, uint64_t from)
{
	if (!c->in_part)
		return;
	put_times(c, NULL);	/* with each part: a file that was cut short lacks those of one part at most */
	put_place_of(c, ST_PLACE_TOTAL, c->skipped ? &c->gap_misses : &c->touched.misses);
	put_part(c, ST_PART_END, from);
	capture_out_section(&c->out, TRACE_SECTION_DIGEST, (uint32_t)c->parts);
	put_part(c, ST_PART_DIGEST, 0);
	put_kept(c, &c->digest);
	c->in_part = false;
	c->parts++;
	if (c->code.words) {
		begin_common(c);
		put_kept(c, &c->code);
	}
}

static void keep_record(struct capture *c, struct kept_records *k, const uint64_t *w, size_t length)
{
	if (k->words + length > k->room) {
		const size_t room = k->room * 2 + length;
		uint64_t *more = realloc(k->word, room * sizeof *more);
		if (!more) {
			out_of_memory(c);
			return;
		}
		k->word = more;
		k->room = room;
	}
	memcpy(k->word + k->words, w, length * sizeof *w);
	k->words += length;
}

/* Puts a record that is no block; within a part, the digest has it as well if what follows in others depends on it.
 * The code of a library is megabytes, which need not be there twice: it comes behind the part, which then ends with the
 * next window (is_part). */
static void put_side(struct capture *c, const uint64_t *w, size_t length)
{
	const unsigned kind = ST_HEADER_KIND(*w);
	if (c->in_part && kind == ST_CODE) {
		keep_record(c, &c->code, w, length);
		return;
	}
	capture_out_put(&c->out, w, length);
	if (c->in_part && (kind == ST_BLOCK_DEF || kind == ST_DISCARD || kind == ST_MAP || kind == ST_UNMAP ||
			kind == ST_COMM || kind == ST_CLIENT || kind == ST_NOTE))
		keep_record(c, &c->digest, w, length);
}

/* Does a part begin with the next window? */
static bool is_part(const struct capture *c)
{
	return !c->in_part || c->code.words || (c->windows - c->part_windows >= PART_WINDOWS &&
		c->out.all - c->part_begin > PART_TIMES * c->part_words);
}

/* --- what a gap leaves --- */

/* ...and the next window. */
static void put_skip(struct capture *c, uint64_t until)
{
	const struct st_skip s = { ST_HEADER(ST_SKIP, sizeof s), c->skipped, c->skipped_rounds, until, c->interval,
		c->from };
	capture_out_put(&c->out, &s, sizeof s / 8);
	c->skipped = c->skipped_rounds = 0;
	c->told = true;
}

/* The way of the gap's last blocks; where a part begins, of those before, too, because its predictors know nothing.
 * id: the block that comes next. */
static void put_way(struct capture *c, bool part, uint32_t id)
{
	const uint64_t gap = c->ways - c->gap_ways, from = part ? c->ways : gap,
		       most = (part ? c->plan.history : c->plan.path) - 1, n = from < most ? from : most;
	uint64_t unseen = n > gap ? n - gap : 0;
	if (n < from && unseen < n / 2)	/* the predictors have to catch up with what is not listed */
		unseen = n / 2;
	const struct st_way way = { ST_HEADER(ST_WAY, sizeof way), n, unseen };
	for (uint64_t i = 0; i < n; i++)
		c->list[i] = c->way[(c->ways - n + i) & (c->plan.history - 1)];
	c->list[n] = ST_HEADER(ST_BLOCK, id);
	capture_out_put(&c->out, &way, sizeof way / 8);
	capture_out_list(&c->out, ST_PATH, c->list, n + 1, 1);
}

static void put_lines(void *context, const uint64_t *record, size_t words)
{
	capture_out_put(context, record, words);
}

/* A window comes: what the gap leaves.  id: the block that comes next. */
static int end_gap(struct capture *c, uint32_t id, struct err *err)
{
	struct touched_words lines, pages;
	const bool part = is_part(c);
	int rc = touched_list(&c->touched, &lines, &pages, err);
	if (!rc && part)
		rc = touched_all(&c->touched, &lines, &pages, err);
	if (rc)
		return rc;
	if (part) {
		close_part(c, c->from);
		open_part(c);
	}
	put_skip(c, c->until);
	capture_out_list(&c->out, ST_TOUCH, pages.word, pages.count, 1);
	capture_out_flush(&c->out);	/* so that these records are a span, which is not packed again */
	lines_pack(lines.word, lines.count, c->list, LINES_WORDS, put_lines, &c->out);
	capture_out_flush(&c->out);
	put_way(c, part, id);
	if (part)
		c->part_words = c->out.all - c->part_begin;
	c->keeps = true;
	return 0;
}

/* Ahead of a block: what begins or ends with it. */
static int arrive(struct capture *c, uint32_t id, const struct shape *b, struct err *err)
{
	const bool near = c->done + c->plan.tail >= c->until;
	int rc = 0;
	if (!c->skipped)
		c->from = b->addr;
	if (!c->keeps && near)
		rc = end_gap(c, id, err);
	else if (c->keeps && !c->told && (c->done >= c->kept_to || c->done >= c->until)) {
		if (near)	/* nothing is left out between these windows; the next one may be due already */
			put_skip(c, c->until > c->done ? c->until : c->done);
		else
			begin_gap(c);
	}
	if (c->done >= c->until)
		turn(c);
	return rc;
}

static void end_thread(struct capture *c)
{
	if (!c->thread)
		return;
	c->thread = false;
	if (!c->in_part)
		open_part(c);
	if (c->skipped)		/* else its last window may not have ended */
		put_skip(c, ST_NO_WINDOW);
	close_part(c, 0);
	begin_common(c);
	begin_gap(c);
}

/* --- the stream --- */

/* The accesses of an execution, whose values are `slot`. */
static inline void touch(struct capture *c, const struct shape *b, const struct shape_exit *x, const uint64_t *slot)
{
	struct touched *t = &c->touched;
	for (const struct shape_line *l = b->line, *end = l + x->lines; l < end; l++)
		touched_line(t, l->line, true, false, false);
	for (const struct shape_access *a = b->access, *end = a + x->accesses; a < end; a++) {
		const uint64_t addr = slot[a->slot];
		if (addr == ST_NOT_DONE)
			continue;
		const uint64_t line = addr >> TOUCHED_LINE_LOG2, last = (addr + a->size - 1) >> TOUCHED_LINE_LOG2;
		touched_line(t, line, false, a->store, a->load);
		if (__builtin_expect(last != line, 0))
			touched_line(t, last, false, a->store, a->load);
	}
}

/* An execution: of a block (times), or one that was cut. */
static inline int executed(struct capture *c, const uint64_t *record, const struct shape *b, struct shape_exit *x,
	bool whole, struct err *err)
{
	const uint64_t header = *record;
	int rc = 0;
	if (!x->insns)		/* nothing was executed */
		return 0;
	if (c->done + c->plan.tail >= c->until || !c->skipped)
		rc = arrive(c, ST_HEADER_LOW(header), b, err);
	touch(c, b, x, record + 1);
	const unsigned round = !x->completed;
	c->done += x->completed + round;
	c->rounds += round;
	if (whole)
		c->way[c->ways++ & (c->plan.history - 1)] = header;
	if (c->keeps) {
		capture_out_put(&c->out, record, 1 + x->slots);
		return rc;
	}
	c->skipped += x->completed + round;
	c->skipped_rounds += round;
	if (whole) {
		x->times++;
	} else {
		add_pair(c, header, 1);
	}
	return rc;
}

/* Handles a record that is no block, ahead of its place in the file. */
static int side(struct capture *c, const uint64_t *w, size_t length, struct err *err)
{
	switch (ST_HEADER_KIND(*w)) {
	case ST_BLOCK_DEF:
		return shapes_define(&c->shapes, w, length, err);
	case ST_DISCARD:
		if (c->thread && !c->in_part)
			open_part(c);
		if (length * 8 >= sizeof(struct st_range))
			put_times(c, (const struct st_range *)w);
		return 0;
	case ST_PROCESS:
		end_thread(c);
		shapes_clear(&c->shapes);
		touched_forget(&c->touched);
		return 0;
	case ST_THREAD_START:
		if (c->thread)
			return err_set(err, ERR_UNSUPPORTED,
				"the program starts a second thread: live points are of programs with one thread");
		c->thread = true;
		begin_thread(c);
		return 0;
	case ST_FORK:
		if (length * 8 >= sizeof(struct st_fork) && ((const struct st_fork *)w)->followed)
			return err_set(err, ERR_UNSUPPORTED, "the program starts a process of its own: live points are "
				"of one process (-i leaves out the others)");
		return 0;
	case ST_THREAD_EXIT: case ST_EXIT:
		end_thread(c);
		return 0;
	case ST_POINTS:
		return err_set(err, ERR_INPUT, "the stream is itself one of live points");
	default:
		return 0;
	}
}

static int take_side(struct capture *c, const uint64_t *w, size_t left, size_t *length, struct err *err)
{
	const uint32_t bytes = ST_HEADER_LOW(*w);
	if (bytes % 8 || bytes < 8 || bytes / 8 > left)
		return err_set(err, ERR_INPUT, "the stream holds a record of kind %u with a bad length",
			ST_HEADER_KIND(*w));
	*length = bytes / 8;
	if (c->plan.side)
		c->plan.side(c->plan.context, 0, w, *length);
	const int rc = side(c, w, *length, err);
	if (rc)
		return rc;
	put_side(c, w, *length);
	if (ST_HEADER_KIND(*w) == ST_PROCESS && !c->process) {
		const struct st_points p = { ST_HEADER(ST_POINTS, sizeof p), c->plan.sample.lead,
			c->plan.sample.measured };
		capture_out_put(&c->out, &p, sizeof p / 8);
		c->process = true;
	}
	return 0;
}

static int take_block(struct capture *c, const uint64_t *w, size_t left, size_t *length, struct err *err)
{
	const uint32_t id = ST_HEADER_LOW(*w);
	const unsigned which = ST_HEADER_EXIT(*w);
	const bool whole = ST_HEADER_KIND(*w) == ST_BLOCK;
	struct shape *b = id < c->shapes.blocks ? c->shapes.block[id] : NULL;
	struct shape_exit cut, *x = &cut;
	if (!b || !c->thread || which >= (whole ? b->exits : b->insns + 1u))
		return err_set(err, ERR_INPUT, "the stream runs block %u, which it did not define", id);
	if (whole)
		x = &b->exit[which];
	else
		shape_cut(b, which, &cut);
	if (x->slots > left - 1)
		return err_set(err, ERR_INPUT, "the stream ends within a block");
	*length = 1 + x->slots;
	return executed(c, w, b, x, whole, err);
}

int capture_span(struct capture *c, const struct stream_span *span, struct err *err)
{
	const uint64_t *w = span->words, *end = w + span->count;
	int rc = 0;
	if (span->process)
		return err_set(err, ERR_UNSUPPORTED, "the stream holds several processes: live points are of one");
	c->out.pid = span->pid;
	while (w < end && !rc) {
		const unsigned kind = ST_HEADER_KIND(*w);
		size_t length = 0;
		if (kind == ST_CHUNK_END)
			break;
		rc = kind == ST_BLOCK || kind == ST_BLOCK_CUT
			? take_block(c, w, (size_t)(end - w), &length, err)
			: take_side(c, w, (size_t)(end - w), &length, err);
		w += length;
	}
	if (!rc && c->out.rc) {
		rc = c->out.rc;
		if (err)
			*err = c->out.err;
	}
	return rc;
}

int capture_end(struct capture *c, enum trace_end how, int wait_status, const char *text, struct err *err)
{
	end_thread(c);
	capture_out_flush(&c->out);
	const int rc = trace_writer_end(c->out.file, how, wait_status, text, c->out.rc ? NULL : err);
	if (c->out.rc && err)
		*err = c->out.err;
	return c->out.rc ? c->out.rc : rc;
}
