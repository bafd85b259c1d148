/* SPDX-License-Identifier: GPL-2.0-or-later
 * A data-address profile: the samples of a perf.data file added up by the accessing instruction, and by the data
 * object, the page and the L1D set that it accessed.
 *
 * Shares are shares of the samples' periods, which estimate accesses (of the sampled events), loads and stores
 * together.  Only lines and addresses that samples hit are counted; the program may have used more.
 *
 * Left out: physical addresses, and with them sets of L2 and L3.
 */
#ifndef OUTPUT_MEMPROFILE_H
#define OUTPUT_MEMPROFILE_H
#include "output/perfdata/perfdata.h"
#include "symbols/symbols.h"
#include <stdio.h>

enum memprofile_key { MEM_BY_INSTRUCTION, MEM_BY_OBJECT, MEM_BY_PAGE, MEM_BY_SET, MEM_KEYS };
/* Where the data were.  MEM_L1_MISS: not in L1, nothing more is known; MEM_NONE: the sample does not say. */
enum memprofile_level { MEM_L1, MEM_LFB, MEM_L2, MEM_L3, MEM_RAM, MEM_L1_MISS, MEM_NONE, MEM_LEVELS };
enum memprofile_verdict {
	MEM_NOTHING,
	MEM_SET_CONFLICT,	/* a set has more lines than ways, although all lines together would fit the cache */
	MEM_CAPACITY,		/* there are more lines than the cache holds */
};
enum { MEM_PAGE_BYTES = 4096 };

struct memprofile_cache { unsigned line, sets, ways; };	/* sets 0: not known */

struct memprofile_options {
	struct memprofile_cache l1d;	/* used if the file does not give the cache; sets 0: unknown */
	bool hide_unresolved;		/* leave out samples whose instruction or data has no name */
	bool loads, stores;		/* samples to use; both false: all, including those without an address */
};

struct memprofile_entry {
	const char *name;	/* instruction: "symbol+0x12"; object: its name; else "" */
	const char *dso;	/* instruction and object: the file's short name, or "" */
	const char *source;	/* instruction: "file.c:12"; heap block: where it was allocated; else "" */
	uint64_t where;		/* instruction: its address; page: its address; set: its number */
	uint64_t samples, loads, stores, period;
	uint64_t latency_sum, latency_max, latencies;	/* cycles; latencies: number of samples that have one */
	uint64_t level[MEM_LEVELS];	/* number of samples */
	uint64_t tlb_miss;		/* samples that missed the first-level TLB */
	uint64_t with_address;
	/* for the samples with an address: */
	uint64_t low, high;		/* lowest and highest address */
	uint64_t addresses;		/* number of different addresses */
	uint64_t stride;		/* greatest common divisor of their distances; 0: there is only one */
	bool even;			/* all neighbours are `stride` apart */
	unsigned equal_bits;		/* number of low bits in which all are equal; 64: there is only one */
	uint64_t lines;			/* number of different lines; 0: the cache is not known */
	unsigned sets;			/* number of sets with these lines */
	unsigned worst_set, worst_lines;/* the set with most lines, and their number */
	enum memprofile_verdict verdict;
	uint32_t number;		/* private */
};

struct memprofile {
	struct memprofile_cache l1d;
	char **event;			/* names of the events with samples used here */
	size_t events;
	uint64_t samples, with_address, hidden, period;
	bool has_latency, has_level;	/* some sample has one */
	/* of each sample used here that has an address, in the order of profile_walk: the index of its object's entry;
	 * as many as `with_address` */
	uint32_t *object;
	struct memprofile_entry *entry[MEM_KEYS];	/* sorted by share; sets by number, pages by address */
	size_t entries[MEM_KEYS];
	/* The map: stretches of memory as large as a way, sorted by address; set: samples in each set.  For
	 * memreport.c only. */
	struct memprofile_stripe { uint64_t base, samples; uint32_t *set; } *stripe;
	size_t stripes;
	/* private */
	struct memprofile_work *work;
};

/* The file must outlive the profile. */
int memprofile_load(struct memprofile **out, struct perfdata_file *file, const struct memprofile_options *o,
	struct err *err);
void memprofile_free(struct memprofile *p);
/* source: perf_mem_data_src of a sample */
enum memprofile_level memprofile_level_of(uint64_t source);
const char *memprofile_level_name(enum memprofile_level level);
const char *memprofile_verdict_name(enum memprofile_verdict verdict);	/* "" for nothing */

/* ---- printing (memreport.c) ---- */
struct memreport_options {
	const char *file_name;
	unsigned keys;			/* set of 1 << enum memprofile_key: the tables to print */
	double percent_limit;		/* tables sorted by share omit entries below it */
	size_t rows;			/* most rows of a table; 0: all */
	bool map;
};
void memreport_text(FILE *to, const struct memprofile *p, const struct memreport_options *o);
/* {"file", "events", "samples", "with_address", "l1d": {"line", "sets", "ways"}, then a list for each table in o->keys:
 * "instructions", "objects", "pages", "sets"}. */
void memreport_json(FILE *to, const struct memprofile *p, const struct memreport_options *o);
/* Prints the table of the lowest key in o->keys: a line of titles, then a line for each entry. */
void memreport_csv(FILE *to, const struct memprofile *p, const struct memreport_options *o);
#endif
