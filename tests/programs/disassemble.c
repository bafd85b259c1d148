/* SPDX-License-Identifier: GPL-2.0-or-later
 * disassemble FILE att|intel [names] <ADDRESSES: prints the disassembler's text of the instructions at these ELF
 * addresses (hex, one per line), one line "END TEXT" each; END is the address after the instruction. With `names`,
 * addresses have names, as in annotate.
 */
#include "isa/isa.h"
#include "symbols/symbols.h"
#include <elf.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

struct image { const uint8_t *bytes; size_t size; int word_bytes; };

/* Finds the file's bytes at an ELF address; returns their number. */
static size_t find(const struct image *m, uint64_t vaddr, const uint8_t **at)
{
	const Elf64_Ehdr *h64 = (const void *)m->bytes;
	const Elf32_Ehdr *h32 = (const void *)m->bytes;
	unsigned n = m->word_bytes == 8 ? h64->e_phnum : h32->e_phnum;
	for (unsigned i = 0; i < n; i++) {
		const Elf64_Phdr *p64 = (const void *)(m->bytes + h64->e_phoff + i * sizeof *p64);
		const Elf32_Phdr *p32 = (const void *)(m->bytes + h32->e_phoff + i * sizeof *p32);
		bool wide = m->word_bytes == 8;
		uint64_t start = wide ? p64->p_vaddr : p32->p_vaddr, size = wide ? p64->p_filesz : p32->p_filesz;
		uint64_t offset = wide ? p64->p_offset : p32->p_offset;
		if ((wide ? p64->p_type : p32->p_type) != PT_LOAD || vaddr < start || vaddr - start >= size)
			continue;
		*at = m->bytes + offset + (vaddr - start);
		return size - (vaddr - start);
	}
	return 0;
}

int main(int argc, char **argv)
{
	struct stat st;
	char line[64], text[1024];
	struct isa_style style = { 0 };
	struct symfile *symbols = NULL;
	struct symbols_names *names = NULL;
	int fd = argc > 2 ? open(argv[1], O_RDONLY) : -1;
	if (fd < 0 || fstat(fd, &st)) {
		fprintf(stderr, "disassemble: no file\n");
		return 2;
	}
	struct image m = { mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE, fd, 0), (size_t)st.st_size, 0 };
	if (m.bytes == MAP_FAILED)
		return 2;
	m.word_bytes = m.bytes[EI_CLASS] == ELFCLASS64 ? 8 : 4;
	style.intel = !strcmp(argv[2], "intel");
	if (argc > 3) {
		if (symfile_open(&symbols, argv[1], NULL, 0, NULL) || symbols_names_open(&names, symbols, NULL))
			return 2;
		style.symbol = symbols_names_find;
		style.ctx = names;
	}
	while (fgets(line, sizeof line, stdin)) {
		uint64_t vaddr = strtoull(line, NULL, 16);
		const uint8_t *at;
		size_t left = find(&m, vaddr, &at);
		unsigned n = left ? isa_text(at, left, vaddr, m.word_bytes, &style, text, sizeof text) : 0;
		printf("%llx %s\n", (unsigned long long)(vaddr + n), left ? text : "(no bytes)");
	}
	symbols_names_close(names);
	symfile_close(symbols);
	return 0;
}
