/* SPDX-License-Identifier: GPL-2.0-or-later
 * The inlined functions at an address, as symbols (symbols.h, symbols_place_inlined).
 *
 * Names are made as those of other symbols, from the name in the file, so a function has one name whether or not a
 * call of it is inlined. */
#include "symbols/symbols_private.h"
#include "util/grow.h"
#include "util/texts.h"
#include <stdlib.h>
#include <string.h>

enum { INLINED_MAX = 63 };	/* functions in each other that are told apart */

struct found { uint64_t address; size_t first, count; };	/* range of list[] */
struct made { const struct symbol *around; const char *file_name; struct symbol *symbol; };

struct inlined {
	struct found *found;		/* by hash of the address; count is one more than there are, 0: free */
	size_t addresses, slots;
	const struct symbol **list;
	size_t lists, list_room;
	struct made *made;		/* by hash of the rest; symbol NULL: free */
	size_t symbols, made_slots;
	struct texts names;
};

void inlined_free(struct inlined *i)
{
	if (!i)
		return;
	for (size_t k = 0; k < i->made_slots; k++)
		if (i->made[k].symbol) {
			free(i->made[k].symbol->name);
			free(i->made[k].symbol);
		}
	texts_free(&i->names);
	free(i->made);
	free(i->found);
	free(i->list);
	free(i);
}

static size_t address_hash(uint64_t address)
{
	address *= UINT64_C(0x9e3779b97f4a7c15);
	return (size_t)(address ^ address >> 29);
}

static size_t made_hash(const struct symbol *around, const char *file_name)
{
	return address_hash((uintptr_t)around ^ (uint64_t)(uintptr_t)file_name << 7);
}

/* The slot of an address, free or not; NULL without memory. */
static struct found *slot_of(struct inlined *i, uint64_t address)
{
	if (2 * (i->addresses + 1) > i->slots) {
		const size_t slots = i->slots ? 2 * i->slots : 256;
		struct found *fresh = calloc(slots, sizeof *fresh);
		if (!fresh)
			return NULL;
		for (size_t k = 0; k < i->slots; k++) {
			size_t at = address_hash(i->found[k].address) & (slots - 1);
			if (!i->found[k].count)
				continue;
			while (fresh[at].count)
				at = (at + 1) & (slots - 1);
			fresh[at] = i->found[k];
		}
		free(i->found);
		i->found = fresh;
		i->slots = slots;
	}
	size_t at = address_hash(address) & (i->slots - 1);
	while (i->found[at].count && i->found[at].address != address)
		at = (at + 1) & (i->slots - 1);
	return i->found + at;
}

/* The symbol of a function that is inlined into another; NULL without memory. */
static const struct symbol *symbol_of(struct inlined *i, const struct symbol *around, const struct symbols_line *line)
{
	const char *name = texts_keep(&i->names, *line->linkage ? line->linkage : line->function);
	if (!name)
		return NULL;
	if (2 * (i->symbols + 1) > i->made_slots) {
		const size_t slots = i->made_slots ? 2 * i->made_slots : 256;
		struct made *fresh = calloc(slots, sizeof *fresh);
		if (!fresh)
			return NULL;
		for (size_t k = 0; k < i->made_slots; k++) {
			size_t at = made_hash(i->made[k].around, i->made[k].file_name) & (slots - 1);
			if (!i->made[k].symbol)
				continue;
			while (fresh[at].symbol)
				at = (at + 1) & (slots - 1);
			fresh[at] = i->made[k];
		}
		free(i->made);
		i->made = fresh;
		i->made_slots = slots;
	}
	size_t at = made_hash(around, name) & (i->made_slots - 1);
	for (; i->made[at].symbol; at = (at + 1) & (i->made_slots - 1))
		if (i->made[at].around == around && i->made[at].file_name == name)
			return i->made[at].symbol;
	struct symbol *s = malloc(sizeof *s);
	char *shown = symbols_demangle(name);
	if (!shown)
		shown = strdup(name);
	if (!s || !shown) {
		free(s);
		free(shown);
		return NULL;
	}
	*s = *around;
	s->name = shown;
	s->linkage = *line->linkage ? (char *)name : NULL;	/* of `names` */
	s->inlined = true;
	i->made[at] = (struct made){ around, name, s };
	i->symbols++;
	return s;
}

/* Looks an address up in the debugging information.  Returns how many functions were put on the list. */
static size_t look_up(struct inlined *i, struct symfile *f, uint64_t address, const struct symbol *around)
{
	struct symbols_line line[INLINED_MAX + 1];
	const size_t lines = symfile_lines(f, address, line, INLINED_MAX + 1), first = i->lists;
	for (size_t k = 0; k < lines && line[k].inlined; k++) {
		const struct symbol **grown = grow_array(i->list, i->lists, &i->list_room, 256, sizeof *grown);
		if (!grown)
			break;
		i->list = grown;
		if ((!*line[k].function && !*line[k].linkage) || !(i->list[i->lists] = symbol_of(i, around, line + k)))
			break;
		i->lists++;
	}
	return i->lists - first;
}

size_t symbols_place_inlined(const struct symbols_place *place, bool caller, const struct symbol *const **list)
{
	struct symfile *f = symbols_place_file(place);
	const uint64_t address = place->address - caller;
	*list = NULL;
	/* a return address behind the end of its function belongs to the next one */
	if (!f || f->jit || !place->symbol || address < place->symbol->start)
		return 0;
	if (!f->inlined && !(f->inlined = calloc(1, sizeof *f->inlined)))
		return 0;
	struct found *at = slot_of(f->inlined, address);
	if (!at)
		return 0;
	if (!at->count) {
		const size_t first = f->inlined->lists;
		const size_t count = look_up(f->inlined, f, address, place->symbol);
		*at = (struct found){ address, first, count + 1 };
		f->inlined->addresses++;
	}
	*list = at->count > 1 ? f->inlined->list + at->first : NULL;
	return at->count - 1;
}
