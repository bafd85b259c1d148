/* SPDX-License-Identifier: GPL-2.0-or-later
 * libFuzzer harness for isa_decode: takes any bytes as a block description, under ASan and UBSan.
 *
 *   clang -std=gnu17 -g -O1 -fsanitize=fuzzer,address,undefined -D_GNU_SOURCE -Iinclude -Isrc tests/fuzz/fuzz_isa.c \
 *       src/isa/[a-z]*.c src/util/err.c -lZydis -o /tmp/fuzz_isa && TOP=$PWD /tmp/fuzz_isa -max_total_time=60
 *
 * The first byte chooses the table, the word size, and whether the rest is a raw description or code. For code the
 * harness makes a well-formed description, so that decoding is reached from the first run on.
 */
#include "isa/isa.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "data_dir.h"

static struct isa *tables[2];

static void use(const struct isa *isa, int word_bytes, const void *def, size_t bytes)
{
	struct iblock *b;
	struct err err;
	if (isa_decode(isa, word_bytes, def, bytes, &b, &err))
		return;
	unsigned next = 0;
	for (unsigned i = 0; i < b->insns; i++) {	/* every uop belongs to one instruction, in order */
		const struct insn *in = &b->insn[i];
		if (in->first_uop != next || next + in->uops > b->uops || (in->flags & INSN_REP &&
			in->rep_first > in->uops))
			abort();
		if (!in->uops && !(in->flags & INSN_FUSED_INTO_PREV))
			abort();
		next += in->uops;
	}
	if (next != b->uops)
		abort();
	for (unsigned i = 0; i < b->uops; i++) {
		const struct uop *u = &b->uop[i];
		if (u->insn >= b->insns || (u->slot != UOP_NO_SLOT && u->slot >= b->slots))
			abort();
		for (int k = 0; k < 4; k++)
			if (u->src[k] >= REG_COUNT || (k < 3 && u->dst[k] >= REG_COUNT))
				abort();
	}
	char text[64];
	isa_disassemble(b->code[0], b->insn[0].len, b->insn[0].addr, word_bytes, false, text, sizeof text);
	isa_block_free(b);
}

static void use_code(const struct isa *isa, int word_bytes, const uint8_t *data, size_t bytes)
{
	static union { struct st_block_def def; uint8_t bytes[1 << 16]; } d;
	struct st_insn_def *in = (struct st_insn_def *)(&d.def + 1);
	unsigned insns = 0, slots = 0;
	struct st_slot slot[256];
	memset(&d.def, 0, sizeof d.def);
	while (bytes >= 16 && insns < 64) {	/* 15 bytes of code, one of length and slots */
		in[insns] = (struct st_insn_def){ .addr = 0x1000 + 15 * insns, .len = (uint8_t)(1 + data[15] % 15) };
		memcpy(in[insns].bytes, data, 15);
		for (unsigned k = data[15] >> 4; k && slots < 256; k >>= 1)
			slot[slots++] = (struct st_slot){ .kind = (uint8_t)(1 + (data[k] & 3)), .insn = (uint8_t)insns,
			                                  .size = data[15 - k] };
		insns++;
		data += 16;
		bytes -= 16;
	}
	d.def.insns = (uint16_t)insns;
	d.def.slots = (uint16_t)slots;
	memcpy(in + insns, slot, slots * sizeof *slot);
	use(isa, word_bytes, &d, sizeof d.def + insns * sizeof *in + slots * sizeof *slot);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
	static const char *const names[] = { "skylake", "golden-cove" };
	if (!bytes)
		return 0;
	int which = data[0] & 1, word_bytes = data[0] & 2 ? 4 : 8;
	if (!tables[which]) {
		char path[4096];
		struct err err;
		snprintf(path, sizeof path, "%s/uops/%s.tsv", data_dir(), names[which]);
		if (isa_create(&tables[which], path, &err)) {
			fprintf(stderr, "%s\n", err.text);
			abort();
		}
	}
	if (data[0] & 4) {
		use_code(tables[which], word_bytes, data + 1, bytes - 1);
		return 0;
	}
	uint64_t *copy = malloc(bytes + 8);	/* of exact size: ASan sees a byte too far */
	if (!copy)
		return 0;
	memcpy(copy, data + 1, bytes - 1);
	uint64_t *exact = realloc(copy, bytes);
	use(tables[which], word_bytes, exact ? exact : copy, bytes - 1);
	free(exact ? exact : copy);
	return 0;
}
