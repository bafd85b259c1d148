/* SPDX-License-Identifier: GPL-2.0-or-later
 * libFuzzer harness for streams of a whole machine: the replay of their records (src/run/threads/machine_events.c) and
 * what these do to a core (src/core/paging/told.h).
 *
 * The input is turned into a stream with blocks of 64- and 32-bit code, then records as the input says: mostly proper
 * ones, some with wrong lengths or any words.  Checked: no crash, an error is one line, every batch has one privilege
 * level and no tags, the same stream twice counts the same.
 */
#include "fuzz_stream.h"
#include "run/run.h"
#include <unistd.h>

/* One of few pages, of user and kernel mode and of several spaces, or any address. */
static uint64_t address(struct input *in)
{
	const uint8_t how = byte(in);
	if (how >= 0xf8)
		return number(in);
	return (how & 4 ? UINT64_C(0xffff888000000000) : (uint64_t)(how & 3) << ST_SPACE_SHIFT) +
		((uint64_t)(how >> 3 & 7) << 12) + (how >> 6) * 8;
}

/* Block 2n and 2n+1: mov (%rsi), %eax; mov %eax, (%rdi); jz.  Block 4: rep movsb. */
static void put_block(struct file *f, uint32_t id, uint64_t addr, uint16_t word_bytes)
{
	struct {
		struct st_block_def def;
		struct st_insn_def insn[3];
		struct st_slot slot[2];
		struct st_exit_def exit[2];
	} b = { .def = { ST_HEADER(ST_BLOCK_DEF, sizeof b), id, 3, 2, 2, { word_bytes } } };
	b.insn[0] = (struct st_insn_def){ addr, 2, { 0x8b, 0x06 } };
	b.insn[1] = (struct st_insn_def){ addr + 2, 2, { 0x89, 0x07 } };
	b.insn[2] = (struct st_insn_def){ addr + 4, 2, { 0x74, 0xfa } };
	b.slot[0] = (struct st_slot){ .kind = ST_SLOT_LOAD, .insn = 0, .size = 4 };
	b.slot[1] = (struct st_slot){ .kind = ST_SLOT_STORE, .insn = 1, .size = 4 };
	b.exit[0] = b.exit[1] = (struct st_exit_def){ .insns = 3, .slots = 2 };
	put(f, &b, sizeof b);
}

static void put_rep(struct file *f, uint32_t id, uint64_t addr)
{
	struct {
		struct st_block_def def;
		struct st_insn_def insn;
		struct st_slot slot[2];
		struct st_exit_def exit[2];
	} b = { .def = { ST_HEADER(ST_BLOCK_DEF, sizeof b), id, 1, 2, 2, { 0 } } };
	b.insn = (struct st_insn_def){ addr, 2, { 0xf3, 0xa4 } };
	b.slot[0] = (struct st_slot){ .kind = ST_SLOT_LOAD, .size = 1 };
	b.slot[1] = (struct st_slot){ .kind = ST_SLOT_STORE, .size = 1 };
	b.exit[0] = (struct st_exit_def){ .insns = 1 };
	b.exit[1] = (struct st_exit_def){ .insns = 1, .slots = 2, .jump = ST_JUMP_REPEAT };
	put(f, &b, sizeof b);
}

static void put_start(struct file *f, uint8_t how)
{
	const struct st_process p = { .header = ST_HEADER(ST_PROCESS, sizeof p), .magic = ST_MAGIC,
		.version = ST_VERSION, .pid = 1, .word_bytes = how & 8 ? 4 : 8, .is_machine = 1,
		.has_pages = how % 8 > 0 };
	const struct st_thread t = { ST_HEADER(ST_THREAD_START, sizeof t), 1, 1, 0, 0 };
	put(f, &p, sizeof p);
	put(f, &t, sizeof t);
	put_block(f, 0, 0x1000, 8);
	put_block(f, 1, 0x2ffd, 4);
	put_block(f, 2, UINT64_C(0xffff888000001000), 0);
	put_block(f, 3, UINT64_C(2) << ST_SPACE_SHIFT | 0x3000, 8);
	put_rep(f, 4, UINT64_C(0xffff888000002000));
}

static void put_run(struct file *f, struct input *in)
{
	for (unsigned n = byte(in) % 32; n; n--) {
		const uint8_t id = byte(in) % 5, exit = byte(in) & 1;
		const uint64_t w[3] = { ST_HEADER(ST_BLOCK, (uint64_t)exit << 32 | id), address(in), address(in) };
		put(f, w, id == 4 && !exit ? 8 : 24);
	}
}

static void put_page(struct file *f, struct input *in)
{
	static const uint8_t shift[] = { 12, 12, 12, 21, 22, 30 };
	const uint8_t how = byte(in);
	struct st_page p = { .header = ST_HEADER(ST_PAGE, sizeof p), .shift = shift[how % 6], .levels = how >> 3 & 7,
		.global = how >> 6 & 1, .entry_bytes = how >> 7 ? 4 : 8 };
	p.addr = address(in) >> p.shift << p.shift;
	p.frame = number(in) << p.shift;
	for (unsigned i = 0; i < ST_PAGE_LEVELS; i++)
		p.entry[i] = number(in) << 3;
	put(f, &p, sizeof p);
}

/* A record of any kind and words. */
static void put_any(struct file *f, struct input *in)
{
	uint64_t w[32];
	const unsigned n = 1 + byte(in) % 31;
	w[0] = ST_HEADER(byte(in) % (ST_KINDS + 1), 8 * n);
	for (unsigned i = 1; i < n; i++)
		w[i] = number(in);
	put(f, w, 8 * n);
}

static void put_step(struct file *f, struct input *in)
{
	const uint8_t what = byte(in);
	const uint64_t next = what >> 7 ? address(in) : 0;
	const struct st_next after = { ST_HEADER(ST_NEXT, sizeof after), next };
	const struct st_level level = { .header = ST_HEADER(ST_LEVEL, sizeof level), .cpl = what >> 4 & 1 ? 3 : 0,
		.word_bytes = what >> 5 & 1 ? 4 : 8, .drains = !(what >> 6 & 1) };
	const struct st_trap trap = { .header = ST_HEADER(ST_TRAP, sizeof trap), .vector = what, .next = next,
		.interrupt = what >> 4 & 1 };
	const struct st_halt halt = { ST_HEADER(ST_HALT, sizeof halt), number(in), next };
	const struct st_serialize serialize = { ST_HEADER(ST_SERIALIZE, sizeof serialize), next };
	const struct st_space space = { ST_HEADER(ST_SPACE, sizeof space), what >> 4 & 3, number(in) };
	const struct st_drop drop = { ST_HEADER(ST_DROP, sizeof drop), what >> 4 & 7, address(in) };
	uint64_t delivery[2 + 2 * 8];
	const unsigned accesses = what >> 4 & 7;
	delivery[0] = ST_HEADER(ST_DELIVERY, 16 + 16 * accesses);
	delivery[1] = accesses;
	for (unsigned i = 0; i < accesses && what % 16 == 8; i++) {
		delivery[2 + 2 * i] = address(in);
		delivery[3 + 2 * i] = number(in) | (uint64_t)(byte(in) & 1) << 32;
	}
	if (what % 16 >= 2 && what % 16 <= 8)
		put(f, &after, sizeof after);
	switch (what % 16) {
	case 0: put(f, &trap, sizeof trap); break;
	case 1: put(f, &halt, sizeof halt); break;
	case 2: put(f, &serialize, sizeof serialize); break;
	case 3: put(f, &level, sizeof level); break;
	case 4: put(f, &space, sizeof space); break;
	case 5: case 6: put_page(f, in); break;
	case 7: put(f, &drop, sizeof drop); break;
	case 8: put(f, delivery, 16 + 16 * accesses); break;
	case 9: put_any(f, in); break;
	default: put_run(f, in); break;
	}
}

struct seen { uint64_t records, cycles, batches[2]; };

static void on_batch(void *context, struct run_thread *t, const struct spmu_batch *b)
{
	struct seen *s = context;
	s->batches[t->cpl != 0]++;
	if (b->user_only != (t->cpl ? 1 : 2))
		abort();
	for (uint32_t i = 0; i < b->count; i++) {
		const struct spmu_record *r = b->records + i;
		if (r->cpl != t->cpl || (!(r->ip >> 63) && r->ip >> ST_SPACE_SHIFT))
			abort();
		s->records += r->ip;
	}
}

static void on_side(void *context, struct run_thread *t, uint32_t pid, const uint64_t *record, uint64_t cycle)
{
	struct seen *s = context;
	(void)t, (void)pid;
	s->cycles += cycle + ST_HEADER_KIND(record[0]);
}

static int replay(const char *path, struct seen *seen, struct run_result *result)
{
	struct core_config *core = small_core();
	struct err err = { 0 };
	core->both_rings = true;
	const struct run_options o = { .data_dir = data_dir(), .core = core, .replay = path };
	const struct run_sink sink = { .context = seen, .batch = on_batch, .side = on_side };
	*seen = (struct seen){ 0 };
	const int rc = run_program(&o, &sink, result, &err);
	if (rc && (!err.text[0] || strchr(err.text, '\n')))	/* an error is one line */
		abort();
	return rc;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct input in = { data, size };
	struct file *f = open_file(false);
	struct seen one, two;
	struct run_result result, again;
	put_start(f, byte(&in));
	while (in.left)
		put_step(f, &in);
	end_file(f);
	/* an error of the cores' thread may be noticed sooner or later */
	const int rc = replay(f->path, &one, &result), rc_again = replay(f->path, &two, &again);
	if (rc != rc_again || (!rc && (memcmp(&one, &two, sizeof one) || result.cycles != again.cycles ||
			result.instructions != again.instructions)))
		abort();
	close(f->fd);
	free(f);
	return 0;
}
