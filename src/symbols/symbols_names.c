/* SPDX-License-Identifier: GPL-2.0-or-later
 * Names of addresses for the disassembly, "name" or "name+0x12" as objdump writes them.  A slot of the GOT has the
 * name of the symbol that the dynamic linker puts there ("stdout@GLIBC_2.2.5"); all else has that of the last
 * symbol before it in its section.
 *
 * Left out: names from another section if this one has no symbol before the address.  objdump prints those in stripped
 * files ("<abort@plt+0x98f0>"), but they mislead.
 *
 * Sources: System V ABI, AMD64 and Intel386 supplements, section "Relocation Types"; LSB Core, "Symbol Versioning".
 */
#include "symbols/symbols_private.h"
#include "util/grow.h"
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct slot { uint64_t vaddr; char *name; };
struct range { uint64_t start, end; };
struct symbols_names {
	const struct symfile *file;
	struct slot *slot;		/* in order of address */
	size_t slots, room;
	struct range *section;
	size_t sections;
};

enum { SLOTS_MAX = 1 << 20, VERSIONS_MAX = 0x8000 };

/* ---- versions ---- */

struct versions { const char **name; Elf_Data *of_symbol; };	/* name: by version index */

/* Moves *at by `step` to a list's next entry; false at the list's end or if that is beyond int's range. */
static bool forward(int *at, uint32_t step)
{
	if (!step || step > (uint32_t)(INT_MAX - *at))
		return false;
	*at += (int)step;
	return true;
}

static void name_needed(struct versions *v, Elf *elf, Elf_Data *data, const GElf_Shdr *header, int at, unsigned *left)
{
	GElf_Vernaux a;
	do {
		if (!*left || !gelf_getvernaux(data, at, &a))
			return;
		--*left;
		v->name[a.vna_other & (VERSIONS_MAX - 1)] = elf_strptr(elf, header->sh_link, a.vna_name);
	} while (forward(&at, a.vna_next));
}

/* Fills in the names of one section of needed or defined versions. */
static void read_versions(struct versions *v, Elf *elf, Elf_Scn *scn, const GElf_Shdr *header)
{
	Elf_Data *data = elf_getdata(scn, NULL);
	unsigned left = VERSIONS_MAX;	/* limit of entries: a broken file may have lists that overlap */
	uint32_t next;
	int at = 0;
	if (!data)
		return;
	do {
		GElf_Verneed need;
		GElf_Verdef def;
		GElf_Verdaux name;
		bool defines = header->sh_type == SHT_GNU_verdef;
		if (!left-- || (defines ? !gelf_getverdef(data, at, &def) : !gelf_getverneed(data, at, &need)))
			return;
		int aux = at;
		if (forward(&aux, defines ? def.vd_aux : need.vn_aux)) {
			if (!defines)
				name_needed(v, elf, data, header, aux, &left);
			else if (gelf_getverdaux(data, aux, &name))
				v->name[def.vd_ndx & (VERSIONS_MAX - 1)] =
					elf_strptr(elf, header->sh_link, name.vda_name);
		}
		next = defines ? def.vd_next : need.vn_next;
	} while (forward(&at, next));
}

static const char *version(const struct versions *v, size_t symbol)
{
	GElf_Versym index;
	if (!v->of_symbol || !gelf_getversym(v->of_symbol, (int)symbol, &index) || !(index & 0x7fff))
		return NULL;
	return (index & 0x7fff) == 1 ? "Base" : v->name[index & 0x7fff];
}

/* ---- slots ---- */

/* True for relocations that put a symbol's address into a slot. */
static bool fills_slot(GElf_Half machine, unsigned type)
{
	return machine == EM_X86_64 ? type == R_X86_64_GLOB_DAT || type == R_X86_64_JUMP_SLOT
	                            : machine == EM_386 && (type == R_386_GLOB_DAT || type == R_386_JMP_SLOT);
}

static int add_slot(struct symbols_names *n, uint64_t vaddr, const char *symbol, const char *version, bool defined)
{
	struct slot *grown = grow_array(n->slot, n->slots, &n->room, 64, sizeof *grown);
	if (!grown)
		return ERR_NOMEM;
	n->slot = grown;
	char *shown = symbols_demangle(symbol), *text;
	const char *at = !version ? "" : defined ? "@@" : "@";
	int bytes = asprintf(&text, "%s%s%s", shown ? shown : symbol, at, version ? version : "");
	free(shown);
	if (bytes < 0)
		return ERR_NOMEM;
	n->slot[n->slots++] = (struct slot){ vaddr, text };
	return 0;
}

static int read_slots(struct symbols_names *n, Elf *elf, const struct versions *v, Elf_Scn *scn,
	const GElf_Shdr *header)
{
	GElf_Ehdr file;
	GElf_Shdr symbols;
	Elf_Data *data = elf_getdata(scn, NULL);
	Elf_Scn *symbols_scn = elf_getscn(elf, header->sh_link);
	if (!data || !header->sh_entsize || !symbols_scn || !gelf_getshdr(symbols_scn, &symbols) ||
	    symbols.sh_type != SHT_DYNSYM || !gelf_getehdr(elf, &file))
		return 0;
	Elf_Data *names = elf_getdata(symbols_scn, NULL);
	for (size_t i = 0; names && i < header->sh_size / header->sh_entsize && n->slots < SLOTS_MAX; i++) {
		GElf_Rela a;
		GElf_Rel r;
		GElf_Sym sym;
		if (header->sh_type == SHT_RELA ? !gelf_getrela(data, (int)i, &a) : !gelf_getrel(data, (int)i, &r))
			break;
		if (header->sh_type == SHT_REL)
			a = (GElf_Rela){ .r_offset = r.r_offset, .r_info = r.r_info };
		size_t index = GELF_R_SYM(a.r_info);
		if (!fills_slot(file.e_machine, GELF_R_TYPE(a.r_info)) || !index ||
		    !gelf_getsym(names, (int)index, &sym))
			continue;
		const char *name = elf_strptr(elf, symbols.sh_link, sym.st_name);
		if (name && *name && add_slot(n, a.r_offset, name, version(v, index), sym.st_shndx != SHN_UNDEF))
			return ERR_NOMEM;
	}
	return 0;
}

static int by_vaddr(const void *a, const void *b)
{
	const struct slot *x = a, *y = b;
	return (x->vaddr > y->vaddr) - (x->vaddr < y->vaddr);
}

static int read_file(struct symbols_names *n, Elf *elf)
{
	size_t count;
	struct versions v = { calloc(VERSIONS_MAX, sizeof *v.name), NULL };
	int code = 0;
	if (!v.name || elf_getshdrnum(elf, &count) || !(n->section = calloc(count + 1, sizeof *n->section))) {
		free(v.name);
		return ERR_NOMEM;
	}
	for (Elf_Scn *scn = elf_nextscn(elf, NULL); scn; scn = elf_nextscn(elf, scn)) {
		GElf_Shdr sh;
		if (!gelf_getshdr(scn, &sh))
			continue;
		if (sh.sh_flags & SHF_ALLOC && !(sh.sh_flags & SHF_TLS) && n->sections < count)
			n->section[n->sections++] = (struct range){ sh.sh_addr, sh.sh_addr + sh.sh_size };
		if (sh.sh_type == SHT_GNU_verneed || sh.sh_type == SHT_GNU_verdef)
			read_versions(&v, elf, scn, &sh);
		else if (sh.sh_type == SHT_GNU_versym)
			v.of_symbol = elf_getdata(scn, NULL);
	}
	for (Elf_Scn *scn = elf_nextscn(elf, NULL); scn && !code; scn = elf_nextscn(elf, scn)) {
		GElf_Shdr sh;
		if (gelf_getshdr(scn, &sh) && (sh.sh_type == SHT_RELA || sh.sh_type == SHT_REL) &&
		    sh.sh_flags & SHF_ALLOC)
			code = read_slots(n, elf, &v, scn, &sh);
	}
	if (n->slots)
		qsort(n->slot, n->slots, sizeof *n->slot, by_vaddr);
	free(v.name);
	return code;
}

int symbols_names_open(struct symbols_names **out, const struct symfile *f, struct err *err)
{
	struct symbols_names *n = calloc(1, sizeof *n);
	if (!n)
		return err_set(err, ERR_NOMEM, "out of memory");
	n->file = f;
	elf_version(EV_CURRENT);
	Elf *elf = f->fd >= 0 ? elf_begin(f->fd, ELF_C_READ_MMAP, NULL) : NULL;
	int code = elf && elf_kind(elf) == ELF_K_ELF ? read_file(n, elf) : 0;
	elf_end(elf);
	if (code) {
		symbols_names_close(n);
		return err_set(err, code, "out of memory");
	}
	*out = n;
	return 0;
}

void symbols_names_close(struct symbols_names *n)
{
	if (!n)
		return;
	for (size_t i = 0; i < n->slots; i++)
		free(n->slot[i].name);
	free(n->slot);
	free(n->section);
	free(n);
}

/* ---- look-up ---- */

static const struct range *section_of(const struct symbols_names *n, uint64_t vaddr)
{
	for (size_t i = 0; i < n->sections; i++)
		if (vaddr >= n->section[i].start && vaddr < n->section[i].end)
			return &n->section[i];
	return NULL;
}


static const struct slot *slot_at(const struct symbols_names *n, uint64_t vaddr)
{
	struct slot key = { vaddr, NULL };
	return n->slots ? bsearch(&key, n->slot, n->slots, sizeof key, by_vaddr) : NULL;
}

/* The slot through which a stub jumps, as in .plt.got and .plt.sec: [endbr64] [bnd] jmp *slot(%rip). */
static const struct slot *slot_of_stub(const struct symbols_names *n, uint64_t vaddr, uint64_t address)
{
	static const uint8_t endbr[] = { 0xf3, 0x0f, 0x1e, 0xfa };
	uint8_t code[11];
	int32_t distance;
	const bool may_be = n->file->word_bytes == 8 && n->slots;
	size_t at = 0, have = may_be ? symfile_read(n->file, address, code, sizeof code) : 0;
	if (have == sizeof code && !memcmp(code, endbr, sizeof endbr))
		at = sizeof endbr;
	if (have > at && code[at] == 0xf2)
		at++;
	if (have < at + 6 || code[at] != 0xff || code[at + 1] != 0x25)
		return NULL;
	memcpy(&distance, &code[at + 2], sizeof distance);
	return slot_at(n, vaddr + at + 6 + (uint64_t)(int64_t)distance);
}

bool symbols_names_find(void *ctx, uint64_t vaddr, char *name, size_t bytes)
{
	const struct symbols_names *n = ctx;
	const struct slot *slot = slot_at(n, vaddr);
	if (slot) {
		snprintf(name, bytes, "%s", slot->name);
		return true;
	}
	const struct range *section = section_of(n, vaddr);
	uint64_t address;
	if (!section || !symfile_address(n->file, vaddr, &address))
		return false;
	const struct symbol *s = symfile_last_before(n->file, address);
	uint64_t distance = s ? address - s->start : 0;
	if (!s || distance > vaddr - section->start) {
		slot = slot_of_stub(n, vaddr, address);
		if (slot)
			snprintf(name, bytes, "%.*s@plt", (int)strcspn(slot->name, "@"), slot->name);
		return slot != NULL;
	}
	if (distance)
		snprintf(name, bytes, "%s+0x%llx", s->name, (unsigned long long)distance);
	else
		snprintf(name, bytes, "%s", s->name);
	return true;
}
