/* SPDX-License-Identifier: GPL-2.0-or-later
 * Names of PLT entries: NAME@plt, where NAME is the symbol whose address the loader writes into the slot through which
 * the entry jumps.  The order of the relocations says nothing: in a file with indirect functions (libc.so.6, every
 * static program) entries and relocations stand in different orders.
 *
 * An entry for an indirect function has a relocation without a symbol; its name is that of the resolver's address
 * (strlen@plt), as in perf from 6.3 on, or as objdump writes it (*ABS*+0x9f550@plt) if no symbol is there.
 *
 * Source: System V ABI, AMD64 supplement, "Procedure Linkage Table"; Intel386 supplement, the same section;
 * .plt.sec and .plt.got: binutils, ld.
 */
#include "symbols/symbols_private.h"
#include "util/grow.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Entries have 16 bytes, but 8 in .plt.got and in the .plt of static programs. */
enum { ENTRY = 16, STEP = 8, SLOTS_MAX = 1 << 20 };

struct slot {
	uint64_t vaddr;
	const char *name;	/* of the ELF file or of its symbol; NULL: none */
	uint64_t resolver;	/* of an indirect function without a name */
};
struct table {
	struct symfile *f;
	GElf_Half machine;
	struct slot *slot;	/* in order of address */
	size_t slots, room;
	uint64_t got;		/* what EBX points to in position-independent code of 32 bits */
};

static int add_slot(struct table *t, const struct slot *s)
{
	struct slot *grown = grow_array(t->slot, t->slots, &t->room, 64, sizeof *grown);
	if (!grown)
		return ERR_NOMEM;
	t->slot = grown;
	t->slot[t->slots++] = *s;
	return 0;
}

/* The name of the symbol at an indirect function's resolver. */
static void name_resolver(const struct table *t, struct slot *s, const GElf_Rela *a, bool in_slot)
{
	uint64_t address;
	uint8_t word[4];
	s->resolver = (uint64_t)a->r_addend;
	if (in_slot) {	/* 32 bits: relocations have no addend of their own */
		if (!symfile_address(t->f, s->vaddr, &address) ||
		    symfile_read(t->f, address, word, sizeof word) != sizeof word)
			return;
		s->resolver = word[0] | word[1] << 8 | word[2] << 16 | (uint32_t)word[3] << 24;
	}
	if (!symfile_address(t->f, s->resolver, &address))
		return;
	const struct symbol *symbol = symfile_find(t->f, address);
	if (symbol && symbol->start == address)
		s->name = symbol->name;
}

static int read_relocations(struct table *t, Elf *elf, Elf_Scn *scn, const GElf_Shdr *header)
{
	const bool x64 = t->machine == EM_X86_64;
	GElf_Shdr symbols;
	Elf_Data *data = elf_getdata(scn, NULL);
	Elf_Scn *symbols_scn = elf_getscn(elf, header->sh_link);
	if (!data || !header->sh_entsize)
		return 0;
	/* a static program's have no table of symbols */
	Elf_Data *names = symbols_scn && gelf_getshdr(symbols_scn, &symbols) && symbols.sh_type == SHT_DYNSYM ?
		elf_getdata(symbols_scn, NULL) : NULL;
	for (size_t i = 0; i < header->sh_size / header->sh_entsize && t->slots < SLOTS_MAX; i++) {
		GElf_Rela a;
		GElf_Rel r;
		GElf_Sym sym;
		if (header->sh_type == SHT_RELA ? !gelf_getrela(data, (int)i, &a) : !gelf_getrel(data, (int)i, &r))
			break;
		if (header->sh_type == SHT_REL)
			a = (GElf_Rela){ .r_offset = r.r_offset, .r_info = r.r_info };
		const unsigned type = GELF_R_TYPE(a.r_info);
		struct slot s = { .vaddr = a.r_offset };
		if (type == (x64 ? R_X86_64_IRELATIVE : R_386_IRELATIVE))
			name_resolver(t, &s, &a, header->sh_type == SHT_REL);
		else if (type != (x64 ? R_X86_64_JUMP_SLOT : R_386_JMP_SLOT) &&
		         type != (x64 ? R_X86_64_GLOB_DAT : R_386_GLOB_DAT))
			continue;
		else if (names && gelf_getsym(names, (int)GELF_R_SYM(a.r_info), &sym))
			s.name = elf_strptr(elf, symbols.sh_link, sym.st_name);
		if (s.name && !*s.name)
			s.name = NULL;
		if ((s.name || s.resolver) && add_slot(t, &s))
			return ERR_NOMEM;
	}
	return 0;
}

/* The slot through which the code jumps: [endbr] [bnd] jmp *slot; NULL: other code, or a slot without a name. */
static const struct slot *slot_of(const struct table *t, const uint8_t *code, size_t have, uint64_t vaddr)
{
	static const uint8_t endbr[] = { 0xf3, 0x0f, 0x1e };	/* fa: 64 bits, fb: 32 */
	size_t at = 0, low = 0, high = t->slots;
	int32_t number;
	uint64_t to;
	if (have >= 4 && !memcmp(code, endbr, sizeof endbr) && (code[3] | 1) == 0xfb)
		at = 4;
	if (have > at && code[at] == 0xf2)
		at++;
	if (have < at + 6 || code[at] != 0xff)
		return NULL;
	memcpy(&number, &code[at + 2], sizeof number);
	if (t->machine == EM_X86_64 && code[at + 1] == 0x25)
		to = vaddr + at + 6 + (uint64_t)(int64_t)number;
	else if (t->machine == EM_386 && code[at + 1] == 0x25)
		to = (uint32_t)number;
	else if (t->machine == EM_386 && code[at + 1] == 0xa3)
		to = (uint32_t)(t->got + (uint32_t)number);
	else
		return NULL;
	while (low < high) {
		size_t middle = low + (high - low) / 2;
		if (t->slot[middle].vaddr < to)
			low = middle + 1;
		else
			high = middle;
	}
	return low < t->slots && t->slot[low].vaddr == to ? &t->slot[low] : NULL;
}

static int add_entry(const struct table *t, const struct slot *s, uint64_t start, uint64_t end)
{
	char *shown = s->name ? symbols_demangle(s->name) : NULL, *text;
	int n = s->name ? asprintf(&text, "%s@plt", shown ? shown : s->name) :
		asprintf(&text, "*ABS*+0x%llx@plt", (unsigned long long)s->resolver);
	free(shown);
	int code = n < 0 ? ERR_NOMEM : symfile_add(t->f, start, end, text, STB_GLOBAL, true);
	if (n >= 0)
		free(text);
	return code;
}

static int read_entries(struct table *t, Elf_Scn *scn, const GElf_Shdr *header)
{
	Elf_Data *data = elf_getdata(scn, NULL);
	const size_t bytes = data && data->d_buf ? data->d_size : 0;
	size_t from = 0;
	const struct slot *open = NULL;	/* the entry that begins at `from` */
	for (size_t at = 0;; at += STEP) {
		const bool over = at >= bytes;
		const struct slot *next = over ? NULL :
			slot_of(t, (const uint8_t *)data->d_buf + at, bytes - at, header->sh_addr + at);
		if (open && (next || over || at == from + ENTRY)) {
			const size_t end = over ? bytes : at;
			if (add_entry(t, open, header->sh_offset + from, header->sh_offset + end))
				return ERR_NOMEM;
			open = NULL;
		}
		if (over)
			return 0;
		if (next) {
			open = next;
			from = at;
		}
	}
}

static int by_vaddr(const void *a, const void *b)
{
	const struct slot *x = a, *y = b;
	return (x->vaddr > y->vaddr) - (x->vaddr < y->vaddr);
}

int symfile_read_plt(struct symfile *f, Elf *elf)
{
	GElf_Ehdr file;
	GElf_Shdr sh;
	size_t strings;
	int code = 0;
	struct table t = { .f = f };
	if (!gelf_getehdr(elf, &file) || elf_getshdrstrndx(elf, &strings) ||
	    (file.e_machine != EM_X86_64 && file.e_machine != EM_386))
		return 0;
	t.machine = file.e_machine;
	bool got_plt = false;
	for (Elf_Scn *scn = elf_nextscn(elf, NULL); scn && !code; scn = elf_nextscn(elf, scn)) {
		if (!gelf_getshdr(scn, &sh) || !(sh.sh_flags & SHF_ALLOC))
			continue;
		const char *name = elf_strptr(elf, strings, sh.sh_name);
		if (name && (!strcmp(name, ".got.plt") || (!strcmp(name, ".got") && !got_plt))) {
			got_plt = name[4] == '.';
			t.got = sh.sh_addr;
		}
		if (sh.sh_type == SHT_RELA || sh.sh_type == SHT_REL)
			code = read_relocations(&t, elf, scn, &sh);
	}
	if (t.slots)
		qsort(t.slot, t.slots, sizeof *t.slot, by_vaddr);
	for (Elf_Scn *scn = elf_nextscn(elf, NULL); scn && !code && t.slots; scn = elf_nextscn(elf, scn)) {
		const char *name = gelf_getshdr(scn, &sh) ? elf_strptr(elf, strings, sh.sh_name) : NULL;
		if (name && sh.sh_type == SHT_PROGBITS && sh.sh_flags & SHF_EXECINSTR && !strncmp(name, ".plt", 4))
			code = read_entries(&t, scn, &sh);
	}
	free(t.slot);
	return code;
}
