/* SPDX-License-Identifier: GPL-2.0-or-later
 * For tools/uops/generate_uops.py: what the decoder knows about instructions.  Never installed.
 *
 *   forms mnemonics       every mnemonic of Zydis
 *   forms describe TABLE  standard input: one instruction a line in hexadecimal, `-` before one of 32-bit code; prints,
 *                         tab-separated: hex, form, class, width, form of its memory operand, the class' row,
 * instruction
 *                         set, loads, stores, issue slots and uops as built with the table, 1 if it reads flags or
 *                         writes registers that its text does not name
 *   forms sweep FILE...   every form in the executable sections of 64-bit ELF files: hex, form
 */
#include "isa/isa_internal.h"
#include <elf.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

static const char *const width_name[WIDTHS] = { "8", "16", "32", "64", "80", "128", "256", "512", "-" };
static const char *const kind_name[FORMS] = { "-", "m", "s", "rmw" };

static void mnemonics(void)
{
	for (int m = 1; m <= ZYDIS_MNEMONIC_MAX_VALUE; m++)
		puts(ZydisMnemonicGetString((ZydisMnemonic)m));
}

static int describe(const char *table)
{
	struct isa *isa;
	struct err err = { 0 };
	char line[256], name[ISA_FORM_NAME];
	if (isa_create(&isa, table, &err)) {
		fprintf(stderr, "forms: %s\n", err.text);
		return 1;
	}
	while (fgets(line, sizeof line, stdin)) {
		uint8_t code[15];
		unsigned n = 0, v;
		line[strcspn(line, "\n")] = 0;
		bool legacy = *line == '-';
		while (n < sizeof code && sscanf(line + legacy + 2 * n, "%2x", &v) == 1)
			code[n++] = (uint8_t)v;
		ZydisDecodedInstruction zi;
		ZydisDecodedOperand op[ZYDIS_MAX_OPERAND_COUNT];
		if (ZYAN_FAILED(ZydisDecoderDecodeFull(&isa->decoder[legacy], code, n, &zi, op)) || zi.length != n)
			continue;
		bool substitute;
		enum isa_class cls = isa_classify(&zi, op, &substitute);
		struct operands o;
		uint8_t top = 0;
		isa_operands(isa, cls, &zi, op, &top, &o);
		const struct row *r = isa_row(isa, cls, o.width, o.form);
		struct slot_cursor slots = { .count = 0 };
		struct builder b = { .isa = isa };
		struct insn in = { .len = (uint8_t)n };
		isa_build(&b, cls, substitute, &zi, op, &slots, &in);
		unsigned loads = 0, stores = 0;
		/* a loop of it depends on itself through operands that the text lacks */
		bool chain = o.flags_read != 0;
		for (unsigned i = 0; i < zi.operand_count; i++)
			if (op[i].visibility == ZYDIS_OPERAND_VISIBILITY_HIDDEN &&
			    op[i].type == ZYDIS_OPERAND_TYPE_REGISTER && isa->reg[op[i].reg.value] &&
			    op[i].actions & ZYDIS_OPERAND_ACTION_MASK_WRITE)
				chain = true;
		for (unsigned i = 0; i < b.n; i++) {
			loads += b.uop[i].kind == UOP_LOAD;
			stores += b.uop[i].kind == UOP_STORE_DATA;
		}
		isa_form_name(&zi, op, name);
		printf("%s\t%s\t%s\t%s\t%s\t%s\t%s\t%u\t%u\t%u\t%u\t%d\n", line, name, isa_classes[cls].name,
			width_name[o.width], kind_name[o.form], r->name, ZydisISASetGetString(zi.meta.isa_set), loads,
			stores, in.issue_slots, in.uops, chain);
		free(b.uop);
	}
	isa_destroy(isa);
	return 0;
}

static int sweep(const char *path, ZydisDecoder *decoder, struct isa *seen)
{
	struct stat st;
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0 || fstat(fd, &st) || st.st_size < (off_t)sizeof(Elf64_Ehdr)) {
		if (fd >= 0)
			close(fd);
		return 0;
	}
	size_t bytes = (size_t)st.st_size;
	const uint8_t *image = mmap(NULL, bytes, PROT_READ, MAP_PRIVATE, fd, 0);
	close(fd);
	if (image == MAP_FAILED)
		return 0;
	const Elf64_Ehdr *h = (const void *)image;
	bool elf = !memcmp(image, ELFMAG, SELFMAG) && image[EI_CLASS] == ELFCLASS64 && h->e_machine == EM_X86_64 &&
	           h->e_shoff <= bytes && h->e_shnum <= (bytes - h->e_shoff) / sizeof(Elf64_Shdr);
	for (unsigned i = 0; elf && i < h->e_shnum; i++) {
		const Elf64_Shdr *s = (const void *)(image + h->e_shoff + i * sizeof *s);
		if (!(s->sh_flags & SHF_EXECINSTR) || s->sh_type != SHT_PROGBITS || s->sh_offset > bytes ||
		    s->sh_size > bytes - s->sh_offset)
			continue;
		for (size_t at = 0; at < s->sh_size;) {
			ZydisDecodedInstruction zi;
			ZydisDecodedOperand op[ZYDIS_MAX_OPERAND_COUNT];
			const uint8_t *c = image + s->sh_offset + at;
			if (ZYAN_FAILED(ZydisDecoderDecodeFull(decoder, c, s->sh_size - at, &zi, op))) {
				at++;
				continue;
			}
			at += zi.length;
			if (seen->n_rows == ROWS_MAX)
				continue;
			isa_form_name(&zi, op, seen->rows[seen->n_rows].name);
			if (isa_form_add(seen, seen->n_rows))
				continue;
			for (unsigned k = 0; k < zi.length; k++)
				printf("%02x", c[k]);
			printf("\t%s\n", seen->rows[seen->n_rows++].name);
		}
	}
	munmap((void *)image, bytes);
	return 0;
}

int main(int argc, char **argv)
{
	if (argc == 2 && !strcmp(argv[1], "mnemonics")) {
		mnemonics();
		return 0;
	}
	if (argc == 3 && !strcmp(argv[1], "describe"))
		return describe(argv[2]);
	if (argc > 2 && !strcmp(argv[1], "sweep")) {
		static struct isa seen;
		ZydisDecoder decoder;
		ZydisDecoderInit(&decoder, ZYDIS_MACHINE_MODE_LONG_64, ZYDIS_STACK_WIDTH_64);
		seen.rows = calloc(ROWS_MAX, sizeof *seen.rows);
		seen.forms = calloc(FORM_PLACES, sizeof *seen.forms);
		for (int i = 2; seen.rows && seen.forms && i < argc; i++)
			sweep(argv[i], &decoder, &seen);
		return 0;
	}
	fputs("usage: forms mnemonics | describe TABLE | sweep FILE...\n", stderr);
	return 2;
}
