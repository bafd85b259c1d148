/* SPDX-License-Identifier: GPL-2.0-or-later
 * The decoder against what the tracer really sends: every memory uop finds its slot, every slot a uop.
 * Skipped where the tracer is not built (make check SAN=1).
 */
#include "isa_fixture.h"
#include "stream/stream.h"
#include <fcntl.h>
#include <unistd.h>

struct tally {
	struct isa *isa;
	int word_bytes;
	unsigned long blocks, insns, memory_uops, without_slot, slots, unused_slots;
	char first[256];
};

static void complain(struct tally *t, const struct iblock *b, unsigned i, const char *what)
{
	char text[96];
	if (t->first[0])
		return;
	isa_disassemble(b->code[i], b->insn[i].len, b->insn[i].addr, t->word_bytes, false, text, sizeof text);
	snprintf(t->first, sizeof t->first, "%s: %s", what, text);
}

static void check_block(struct tally *t, const struct iblock *b)
{
	static bool used[65536];
	memset(used, 0, sizeof used);
	for (unsigned i = 0; i < b->uops; i++) {
		const struct uop *u = &b->uop[i];
		if (u->kind != UOP_LOAD && u->kind != UOP_STORE_ADDR)
			continue;
		t->memory_uops++;
		if (u->slot == UOP_NO_SLOT) {
			t->without_slot++;
			complain(t, b, u->insn, "no slot");
			continue;
		}
		for (unsigned s = u->slot, left = u->pieces; left && s < b->slots; s++) {
			left -= b->slot[s].kind != ST_SLOT_REG;
			used[s] = true;
		}
	}
	for (unsigned s = 0; s < b->slots; s++) {
		if (b->slot[s].kind == ST_SLOT_REG)
			continue;
		t->slots++;
		if (!used[s]) {
			t->unused_slots++;
			complain(t, b, b->slot[s].insn, "unused slot");
		}
	}
	t->blocks++;
	t->insns += b->insns;
}

/* Block definitions lie between block executions; only the definition of a block tells the length of its executions. */
struct known { uint16_t slots[64]; };

static void read_span(struct tally *t, const struct stream_span *span, struct known **known, size_t *count)
{
	for (size_t i = 0; i < span->count;) {
		const uint64_t *w = &span->words[i];
		unsigned kind = ST_HEADER_KIND(*w);
		uint32_t low = ST_HEADER_LOW(*w);
		if (kind == ST_BLOCK) {
			assert_true(low < *count && ST_HEADER_EXIT(*w) < 64);
			i += 1u + (*known)[low].slots[ST_HEADER_EXIT(*w)];
			continue;
		}
		if (kind == ST_CHUNK_END || kind == ST_BLOCK_CUT || kind == ST_BLOCK_OPEN || low < 8)
			return;
		if (kind == ST_PROCESS)
			t->word_bytes = ((const struct st_process *)w)->word_bytes;
		if (kind == ST_BLOCK_DEF) {
			struct iblock *b;
			struct err err;
			if (isa_decode(t->isa, t->word_bytes, (const struct st_block_def *)w, low, &b, &err))
				fail_msg("%s", err.text);
			if (b->id >= *count) {
				*count = b->id + 4096u;
				*known = realloc(*known, *count * sizeof **known);
				assert_non_null(*known);
			}
			for (unsigned x = 0; x < b->exits && x < 64; x++)
				(*known)[b->id].slots[x] = b->exit[x].slots;
			check_block(t, b);
			isa_block_free(b);
		}
		i += low / 8;
	}
}

static void run_program(char *const *argv)
{
	char dir[4096];
	const char *top = getenv("TOP");
	snprintf(dir, sizeof dir, "%s/build/libexec", top ? top : ".");
	char tracer[4200];
	snprintf(tracer, sizeof tracer, "%s/softpmu-tracer-amd64-linux", dir);
	if (access(tracer, X_OK) || access(argv[0], X_OK)) {
		print_message("%s or %s is not here\n", tracer, argv[0]);
		skip();
	}
	struct tally t = { .isa = open_isa("skylake"), .word_bytes = 8 };
	struct stream_launch how = { .argv = argv, .tracer_dir = dir };
	struct stream *s;
	struct stream_span span;
	struct err err = { 0 };
	struct known *known = NULL;
	size_t count = 0;
	int saved = dup(1), null = open("/dev/null", O_WRONLY | O_CLOEXEC), rc;
	dup2(null, 1);
	rc = stream_launch(&s, &how, &err);
	dup2(saved, 1);
	close(saved);
	close(null);
	if (rc)
		fail_msg("%s", err.text);
	while ((rc = stream_next(s, &span, &err)) > 0)
		if (rc == STREAM_SPAN)
			read_span(&t, &span, &known, &count);
	stream_close(s);
	free(known);
	isa_destroy(t.isa);
	if (rc < 0)
		fail_msg("%s", err.text);
	print_message("  %s: %lu blocks, %lu instructions, %lu memory uops, %lu without slot, %lu slots, %lu unused\n",
		argv[0],
	              t.blocks, t.insns, t.memory_uops, t.without_slot, t.slots, t.unused_slots);
	if (t.without_slot || t.unused_slots)
		fail_msg("%s", t.first);
	assert_true(t.blocks > 100);
}

static void test_every_access_of_ls_has_its_uop(void **state)
{
	(void)state;
	run_program((char *const[]){ "/bin/ls", "-l", "/", NULL });
}

static void test_every_access_of_openssl_has_its_uop(void **state)
{
	(void)state;
	run_program((char *const[]){ "/usr/bin/openssl", "dgst", "-sha256", "/bin/ls", NULL });
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_every_access_of_ls_has_its_uop),
		cmocka_unit_test(test_every_access_of_openssl_has_its_uop),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
