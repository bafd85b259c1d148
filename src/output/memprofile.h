/* SPDX-License-Identifier: GPL-2.0-or-later
 * A data-address profile: the samples of a perf.data file added up by the instruction that accessed, by the data object, the page and the
 * set of the first-level data cache that it accessed.
 *
 * Shares are of the samples' periods: estimated accesses (of the events that were sampled), loads and stores together.  What lines or
 * addresses are counted are those that samples hit: the program may have used more.
 *
 * Left out: physical addresses, and with them sets of L2 and L3.
 */
#ifndef OUTPUT_MEMPROFILE_H
#define OUTPUT_MEMPROFILE_H
#include "output/perfdata.h"
#include "symbols/symbols.h"
#include <stdio.h>

enum memprofile_key { MEM_BY_INSTRUCTION, MEM_BY_OBJECT, MEM_BY_PAGE, MEM_BY_SET, MEM_KEYS };
/* MEM_NONE: the sample does not say */
enum memprofile_level { MEM_L1, MEM_LFB, MEM_L2, MEM_L3, MEM_RAM, MEM_L1_MISS /* and no more is known */, MEM_NONE, MEM_LEVELS };
enum memprofile_verdict {
	MEM_NOTHING,
	MEM_SET_CONFLICT,	/* more lines in one set than it has ways, while all together would fit the cache */
	MEM_CAPACITY,		/* more lines than the cache holds */
};
enum { MEM_PAGE_BYTES = 4096 };

struct memprofile_cache { unsigned line, sets, ways; };	/* sets 0: not known */

struct memprofile_options {
	struct memprofile_cache l1d;	/* where the file does not say; sets 0: unknown then */
	bool hide_unresolved;		/* leave out samples whose instruction or data has no name */
	bool loads, stores;		/* of which kind; both false: all samples, those without an address, too */
};

struct memprofile_entry {
	const char *name;	/* instruction: "symbol+0x12"; object: its name; else "" */
	const char *dso;	/* instruction and object: the file's short name, or "" */
	const char *source;	/* instruction: "file.c:12"; heap block: where it was allocated; else "" */
	uint64_t where;		/* instruction: its address; page: its address; set: its number */
	uint64_t samples, loads, stores, period;
	uint64_t latency_sum, latency_max, latencies;	/* cycles; latencies: of so many samples */
	uint64_t level[MEM_LEVELS];	/* samples */
	uint64_t tlb_miss;		/* samples that missed the first-level TLB */
	uint64_t with_address;
	/* of the samples with an address: */
	uint64_t low, high;		/* least and largest */
	uint64_t addresses;		/* different ones */
	uint64_t stride;		/* greatest common divisor of their distances; 0: one address */
	bool even;			/* all neighbours are that far apart */
	unsigned equal_bits;		/* low bits that all of them share; 64: one address */
	uint64_t lines;			/* different lines; 0: the cache is not known */
	unsigned sets;			/* that these are in */
	unsigned worst_set, worst_lines;/* the set with most of them */
	enum memprofile_verdict verdict;
};

struct memprofile {
	struct memprofile_cache l1d;
	char **event;			/* names of those with samples used here */
	size_t events;
	uint64_t samples, with_address, hidden, period;
	bool has_latency, has_level;	/* any sample says */
	struct memprofile_entry *entry[MEM_KEYS];	/* by share, but sets by number and pages by address */
	size_t entries[MEM_KEYS];
	/* the map: stretches of memory as large as a way, in order of address; private but to memreport.c */
	struct memprofile_stripe { uint64_t base, samples; uint32_t *set; /* samples in each set */ } *stripe;
	size_t stripes;
	/* private */
	struct memprofile_work *work;
};

/* The file must outlive the profile. */
int  memprofile_load(struct memprofile **out, struct perfdata_file *file, const struct memprofile_options *o, struct err *err);
void memprofile_free(struct memprofile *p);
const char *memprofile_level_name(enum memprofile_level level);
const char *memprofile_verdict_name(enum memprofile_verdict verdict);	/* "" for nothing */

/* ---- printing (memreport.c) ---- */
struct memreport_options {
	const char *file_name;
	unsigned keys;			/* set of 1 << enum memprofile_key: which tables */
	double percent_limit;		/* entries below it are left out of tables by share */
	size_t rows;			/* most a table; 0: all */
	bool map;
};
void memreport_text(FILE *to, const struct memprofile *p, const struct memreport_options *o);
/* {"file", "events", "samples", "with_address", "l1d": {"line", "sets", "ways"}, then a list each of the tables asked for: "instructions", "objects",
 * "pages", "sets"}. */
void memreport_json(FILE *to, const struct memprofile *p, const struct memreport_options *o);
/* The table of the lowest key in o->keys: a line of titles, then an entry a line. */
void memreport_csv(FILE *to, const struct memprofile *p, const struct memreport_options *o);
#endif
