/* SPDX-License-Identifier: GPL-2.0-or-later
 * libFuzzer harness for files of live points: the reader of their sections (trace_read.c), the replay of their records
 * (src/run/points), in one run and in two at once.
 *
 * The input is turned into a file with right checksums, so that what is behind decompression is reached: a program of
 * one process and one thread with two blocks, then sections and records as the input says.  A step of the input is two
 * bytes, what and how much; what follows them is taken for the words of some records.
 * Checked: no crash, no endless wait; an error is one line; if one run reads the file, then two count the same; a
 * window is of a thread that has started and not ended, and every thread ends.
 */
#include "fuzz_stream.h"
#include "run/run.h"
#include "stream/trace_file.h"
#include <unistd.h>

/* A block of `insns` times 8B 04 25 (mov eax, [disp32]) and a JMP to itself. */
static void put_block(struct file *f, uint32_t id, uint64_t addr)
{
	struct {
		struct st_block_def def;
		struct st_insn_def insn[3];
		struct st_slot slot[2];
		struct st_exit_def exit[2];
	} b = { .def = { ST_HEADER(ST_BLOCK_DEF, sizeof b), id, 3, 2, 2, { 0 } } };
	for (unsigned i = 0; i < 2; i++) {
		b.insn[i] = (struct st_insn_def){ addr + 7 * i, 7, { 0x8b, 0x04, 0x25, 0, 0x10, 0, 0 } };
		b.slot[i] = (struct st_slot){ .kind = ST_SLOT_LOAD, .insn = (uint8_t)i, .size = 4 };
	}
	b.insn[2] = (struct st_insn_def){ addr + 14, 2, { 0x74, 0xf0 } };
	b.exit[0] = (struct st_exit_def){ 3, 2, ST_JUMP_BORING, { 0 }, addr };
	b.exit[1] = (struct st_exit_def){ 3, 2, ST_JUMP_BORING, { 0 }, addr + 16 };
	put(f, &b, sizeof b);
}

static void put_start(struct file *f)
{
	const struct st_process p = { .header = ST_HEADER(ST_PROCESS, sizeof p), .magic = ST_MAGIC,
		.version = ST_VERSION, .pid = 1, .word_bytes = 8, .has_regs = 1 };
	const struct st_points points = { ST_HEADER(ST_POINTS, sizeof points), 6, 9 };
	const struct st_thread t = { ST_HEADER(ST_THREAD_START, sizeof t), 1, 1, 0, 0 };
	put(f, &p, sizeof p);
	put(f, &points, sizeof points);
	put(f, &t, sizeof t);
	put_block(f, 0, 0x1000);
	put_block(f, 1, 0x2000);
}

static void put_run(struct file *f, struct input *in, unsigned kind)
{
	for (unsigned n = byte(in) % 64; n; n--) {
		const uint8_t how = byte(in);
		const uint64_t w[3] = { ST_HEADER(kind, (uint64_t)(how >> 1 & 3) << 32 | (how & 1)),
			(uint64_t)how << 12, number(in) };
		put(f, w, kind == ST_BLOCK || how & 2 ? 24 : 8);
	}
}

static void put_list(struct file *f, struct input *in, unsigned kind)
{
	uint64_t w[65];
	const unsigned n = byte(in) % 64;
	for (unsigned i = 0; i < n; i++) {
		const uint8_t how = byte(in);
		w[1 + i] = kind == ST_TOUCH || kind == ST_LINES ? number(in) : how < 0xf0
			? ST_HEADER(ST_BLOCK, (uint64_t)(how >> 1 & 1) << 32 | (how & 1)) : number(in);
	}
	w[0] = ST_HEADER(kind, 8 * (n + 1));
	put(f, w, 8 * (n + 1));
}

/* A record of 1 to 8 words. */
static void put_record(struct file *f, struct input *in, unsigned kind)
{
	static const uint8_t words[ST_KINDS] = { [ST_POINTS] = 3, [ST_SKIP] = 6, [ST_PLACE] = 7, [ST_PART] = 8,
		[ST_WAY] = 3, [ST_DISCARD] = 3, [ST_THREAD_EXIT] = 3, [ST_EXIT] = 2 };
	uint64_t w[8] = { ST_HEADER(kind, 8 * words[kind]) };
	for (unsigned i = 1; i < words[kind]; i++)
		w[i] = number(in);
	put(f, w, 8u * words[kind]);
}

static void put_step(struct file *f, struct input *in)
{
	static const uint8_t plain[] = { ST_SKIP, ST_PART, ST_WAY, ST_PLACE, ST_DISCARD, ST_POINTS, ST_THREAD_EXIT,
		ST_EXIT };
	struct err err;
	const uint8_t what = byte(in);
	switch (what % 16) {
	case 0: case 1: case 2:
		put_run(f, in, ST_BLOCK);
		break;
	case 3:
		put_run(f, in, ST_BLOCK_CUT);
		break;
	case 4:
		put_list(f, in, what >> 4 & 1 ? ST_LINES : ST_TOUCH);
		break;
	case 5:
		put_list(f, in, ST_PATH);
		break;
	case 6:
		put_list(f, in, ST_TIMES);
		break;
	case 7:
		flush(f);
		if (trace_writer_section(f->writer, what >> 4, byte(in), &err))
			abort();
		break;
	default:
		put_record(f, in, plain[what % 8]);
		break;
	}
}

struct seen { uint64_t windows, records, executed, threads, alive; };

static int on_start(void *context, struct run_thread *t, struct err *err)
{
	struct seen *s = context;
	(void)t, (void)err;
	s->threads++;
	s->alive++;
	return 0;
}

static void on_end(void *context, struct run_thread *t)
{
	struct seen *s = context;
	(void)t;
	s->alive--;
}

static uint64_t on_window(void *context, struct run_thread *t, const struct run_window *w)
{
	struct seen *s = context;
	(void)t, (void)w;
	if (!s->alive)
		abort();
	s->windows++;
	return 0;
}

static void on_batch(void *context, struct run_thread *t, const struct spmu_batch *b)
{
	struct seen *s = context;
	(void)t;
	for (uint32_t i = 0; i < b->count; i++)
		s->records += b->records[i].ip;
}

static void on_executed(void *context, const struct iblock *b, unsigned insns, uint64_t times, bool repeats)
{
	struct seen *s = context;
	(void)b, (void)repeats;
	s->executed += insns * times;
}

static int replay(const char *path, unsigned jobs, struct seen *seen, struct run_result *result)
{
	struct err err = { 0 };
	const struct run_options o = { .data_dir = data_dir(), .core = small_core(), .replay = path,
		.sample = { .interval = 60, .lead = 6, .measured = 9, .jobs = jobs } };
	const struct run_sink sink = { .context = seen, .thread_start = on_start, .thread_end = on_end,
		.window = on_window, .batch = on_batch, .executed = on_executed };
	*seen = (struct seen){ 0 };
	const int rc = run_program(&o, &sink, result, &err);
	if ((rc && (!err.text[0] || strchr(err.text, '\n'))) || seen->alive)	/* an error is one line */
		abort();
	return rc;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct input in = { data, size };
	struct file *f = open_file(true);
	struct seen one, two;
	struct run_result result, result_two;
	put_start(f);
	while (in.left)
		put_step(f, &in);
	end_file(f);
	/* what is counted up to an error depends on how far each of several runs has come */
	const int rc = replay(f->path, 1, &one, &result), rc_two = replay(f->path, 2, &two, &result_two);
	if (!rc && (rc_two || memcmp(&one, &two, sizeof one) ||
			result.instructions != result_two.instructions || result.warmed != result_two.warmed ||
			result.sampled != result_two.sampled || result.cycles != result_two.cycles ||
			memcmp(&result.misses, &result_two.misses, sizeof result.misses)))
		abort();
	close(f->fd);
	free(f);
	return 0;
}
