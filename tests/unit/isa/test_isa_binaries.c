/* SPDX-License-Identifier: GPL-2.0-or-later
 * Real programs' code, decoded instruction by instruction: none of what an AVX2 machine runs is unknown.
 * A linear sweep over .text also meets data between functions, so a byte that does not decode is skipped.
 */
#include "isa_fixture.h"
#include <elf.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

struct sweep {
	const struct isa *isa;
	ZydisDecoder decoder;
	int word_bytes;
	unsigned long insns, uops, slots, unknown, substitute, newer, bad_links, dropped;
	unsigned long row[ROWS_MAX];
	char first_unknown[128];
};

/* Checks that an instruction reads a temporary only after it wrote it, and that every register is in enum isa_reg. */
static bool links_are_sound(const struct iblock *b)
{
	unsigned written = 0;
	for (unsigned i = 0; i < b->uops; i++) {
		const struct uop *u = &b->uop[i];
		for (int k = 0; k < 4; k++)
			if (u->src[k] >= REG_COUNT || (u->src[k] >= REG_TEMP &&
				!(written & 1u << (u->src[k] - REG_TEMP))))
				return false;
		for (int k = 0; k < 3; k++) {
			if (u->dst[k] >= REG_COUNT)
				return false;
			if (u->dst[k] >= REG_TEMP)
				written |= 1u << (u->dst[k] - REG_TEMP);
		}
	}
	return b->uops > 0 && (b->uop[0].flags & (UOP_SLOT | UOP_BEGIN)) == (UOP_SLOT | UOP_BEGIN) &&
	       (b->uop[b->uops - 1].flags & UOP_END);
}

/* Counts the registers for which no uop of the instruction had room. */
static unsigned dropped_operands(struct sweep *s, const uint8_t *code, unsigned len)
{
	ZydisDecodedInstruction zi;
	ZydisDecodedOperand op[ZYDIS_MAX_OPERAND_COUNT];
	struct slot_cursor slots = { .count = 0 };
	struct builder b = { .isa = s->isa };
	struct insn in = { .len = (uint8_t)len };
	bool substitute;
	ZydisDecoderDecodeFull(&s->decoder, code, len, &zi, op);
	enum isa_class cls = isa_classify(&zi, op, &substitute);
	isa_build(&b, cls, substitute, &zi, op, &slots, &in);
	free(b.uop);
	return b.dropped;
}

/* OpenSSL 3.5 has code for processors that are newer than the model's.  (Zydis before 4.1 has no name for this
 * extension and does not decode it.) */
static bool is_newer(const ZydisDecodedInstruction *zi)
{
	const char *name = ZydisISAExtGetString(zi->meta.isa_ext);
	return name && !strcmp(name, "AVX_IFMA");
}

static void sweep_text(struct sweep *s, const uint8_t *code, size_t bytes, uint64_t addr)
{
	struct { struct st_block_def def; struct st_insn_def insn; struct st_exit_def exit; } d;
	memset(&d, 0, sizeof d);
	d.def = (struct st_block_def){ .insns = 1, .exits = 1 };
	d.exit.insns = 1;
	for (size_t at = 0; at < bytes;) {
		ZydisDecodedInstruction zi;
		struct iblock *b;
		size_t left = bytes - at;
		if (ZYAN_FAILED(ZydisDecoderDecodeInstruction(&s->decoder, NULL, code + at, left, &zi))) {
			at++;
			continue;
		}
		d.insn.addr = addr + at;
		d.insn.len = zi.length;
		memcpy(d.insn.bytes, code + at, zi.length);
		struct err err;
		assert_int_equal(isa_decode(s->isa, s->word_bytes, &d.def, sizeof d, &b, &err), 0);
		s->insns++;
		s->uops += b->uops;
		s->slots += b->insn[0].issue_slots;
		s->row[b->insn[0].row]++;
		s->bad_links += !links_are_sound(b);
		if (b->insn[0].flags & INSN_SUBSTITUTE) {
			s->substitute++;
		} else if (b->insn[0].flags & INSN_UNKNOWN && is_newer(&zi)) {
			s->newer++;
		} else if (b->insn[0].flags & INSN_UNKNOWN) {
			if (!s->unknown++)
				isa_disassemble(code + at, zi.length, addr + at, s->word_bytes, false, s->first_unknown,
				                sizeof s->first_unknown);
		}
		isa_block_free(b);
		s->dropped += dropped_operands(s, d.insn.bytes, zi.length);
		at += zi.length;
	}
}

/* Sweeps .text of an ELF file of either class. */
static void sweep_elf(struct sweep *s, const uint8_t *image, size_t bytes)
{
	bool wide = image[EI_CLASS] == ELFCLASS64;
	s->word_bytes = wide ? 8 : 4;
	ZydisDecoderInit(&s->decoder, wide ? ZYDIS_MACHINE_MODE_LONG_64 : ZYDIS_MACHINE_MODE_LEGACY_32,
	                 wide ? ZYDIS_STACK_WIDTH_64 : ZYDIS_STACK_WIDTH_32);
	const Elf64_Ehdr *h64 = (const void *)image;
	const Elf32_Ehdr *h32 = (const void *)image;
	uint64_t at = wide ? h64->e_shoff : h32->e_shoff;
	unsigned n = wide ? h64->e_shnum : h32->e_shnum;
	for (unsigned i = 0; i < n; i++) {
		const Elf64_Shdr *s64 = (const void *)(image + at + i * sizeof *s64);
		const Elf32_Shdr *s32 = (const void *)(image + at + i * sizeof *s32);
		uint64_t flags = wide ? s64->sh_flags : s32->sh_flags, off = wide ? s64->sh_offset : s32->sh_offset;
		uint64_t size = wide ? s64->sh_size : s32->sh_size, addr = wide ? s64->sh_addr : s32->sh_addr;
		if ((flags & SHF_EXECINSTR) && off <= bytes && size <= bytes - off)
			sweep_text(s, image + off, size > 2u << 20 ? 2u << 20 : size, addr);
	}
}

static void print_histogram(const struct sweep *s)
{
	static unsigned long row[ROWS_MAX];
	memcpy(row, s->row, sizeof row);
	printf("   ");
	for (int k = 0; k < 24; k++) {
		unsigned best = 0;
		for (unsigned i = 0; i < ROWS_MAX; i++)
			if (row[i] > row[best])
				best = i;
		if (!row[best])
			break;
		printf(" %s %.2f%%", isa_row_name(s->isa, best), 100.0 * (double)row[best] / (double)s->insns);
		row[best] = 0;
	}
	printf("\n");
}

static void sweep_file(const char *uarch, const char *path)
{
	static struct sweep s;
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	struct stat st;
	if (fd < 0 || fstat(fd, &st) || st.st_size < (off_t)sizeof(Elf64_Ehdr)) {
		if (fd >= 0)
			close(fd);
		printf("[ note     ] %s is not here\n", path);
		return;
	}
	uint8_t *image = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
	close(fd);
	assert_ptr_not_equal(image, MAP_FAILED);
	struct isa *isa = open_isa(uarch);
	memset(&s, 0, sizeof s);
	s.isa = isa;
	sweep_elf(&s, image, (size_t)st.st_size);
	munmap(image, (size_t)st.st_size);
	printf("  %s, %s: %lu instructions, %.3f slots and %.3f uops each, %lu substitutes, %lu unknown %s\n", uarch,
		path,
	       s.insns, (double)s.slots / (double)s.insns, (double)s.uops / (double)s.insns, s.substitute, s.unknown,
	       s.first_unknown);
	print_histogram(&s);
	assert_true(s.insns > 1000);
	assert_int_equal(s.unknown, 0);
	assert_int_equal(s.bad_links, 0);
	assert_int_equal(s.dropped, 0);
	isa_destroy(isa);
}

static const char *const files[] = {
	"/bin/bash", "/usr/bin/python3", "/lib/x86_64-linux-gnu/libc.so.6", "/lib/x86_64-linux-gnu/libm.so.6",
	"/usr/lib/x86_64-linux-gnu/libcrypto.so.3", "/usr/lib/gcc/x86_64-linux-gnu/12/cc1", "/usr/lib32/libc.so.6",
	"/usr/lib32/libm.so.6",
};

static void test_no_instruction_of_real_programs_is_unknown_on_skylake(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof files / sizeof *files; i++)
		sweep_file("skylake", files[i]);
}

static void test_no_instruction_of_real_programs_is_unknown_on_golden_cove(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof files / sizeof *files; i++)
		sweep_file("golden-cove", files[i]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_no_instruction_of_real_programs_is_unknown_on_skylake),
		cmocka_unit_test(test_no_instruction_of_real_programs_is_unknown_on_golden_cove),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
