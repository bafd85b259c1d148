/* SPDX-License-Identifier: GPL-2.0-or-later
 * Prints a data-address profile (memprofile.h): tables for people, with a line below each entry whose addresses show
 * a pattern, and the map; JSON; CSV.
 *
 * The map has a column for each L1D set (or for several, if there are too many), and a row for each stretch of memory
 * as large as a way.  Lines in the same column share a set, so a stride that is a multiple of the way's size is a
 * vertical line.  The last row has the number of lines in each set.
 */
#include "output/memprofile.h"
#include "util/json.h"
#include <stdlib.h>
#include <string.h>

enum { COLUMNS = 64, ROWS = 24, NAME = 1024 };

static const char *const title[MEM_KEYS] = { "instruction", "data object", "page", "set of L1D" };
static const char *const json_name[MEM_KEYS] = { "instructions", "objects", "pages", "sets" };

static double percent(uint64_t part, uint64_t whole)
{
	return whole ? 100.0 * (double)part / (double)whole : 0.0;
}

static double mean_latency(const struct memprofile_entry *e)
{
	return e->latencies ? (double)e->latency_sum / (double)e->latencies : 0;
}

/* Names come out of files: what would move a terminal's cursor is not passed on. */
static void name_of(const struct memprofile_entry *e, enum memprofile_key key, char text[NAME])
{
	if (key == MEM_BY_PAGE)
		snprintf(text, NAME, "%#llx", (unsigned long long)e->where);
	else if (key == MEM_BY_SET)
		snprintf(text, NAME, "set %llu", (unsigned long long)e->where);
	else
		snprintf(text, NAME, "%.700s%s%.120s%s%s%.120s", e->name, *e->dso ? "  [" : "", e->dso,
			*e->dso ? "]" : "", *e->source ? "  " : "", e->source);
	for (char *c = text; *c; c++)
		if ((unsigned char)*c < ' ' || *c == 127)
			*c = '?';
}

/* ---- text ---- */

static void print_titles(FILE *to, const struct memprofile *p, enum memprofile_key key)
{
	fprintf(to, "#\n# By %s\n#\n#  Share  Samples    Loads   Stores", title[key]);
	if (p->has_latency)
		fputs("  Latency: mean    max", to);
	for (unsigned l = 0; p->has_level && l < MEM_LEVELS; l++)
		fprintf(to, " %7s", memprofile_level_name(l));
	if (p->has_level)
		fputs(" TLB miss", to);
	fprintf(to, " Addresses  Lines  %c%s\n", title[key][0] & ~32, title[key] + 1);
}

static void print_pattern(FILE *to, const struct memprofile *p, const struct memprofile_entry *e)
{
	/* The distance of addresses sampled once each comes from the sampling period. */
	if (e->addresses < 3 || (e->with_address < 2 * e->addresses && !e->verdict) ||
		!(e->verdict || (e->even && e->stride) || e->stride >= 64))
		return;
	fprintf(to, "         %llu addresses from %#llx to %#llx", (unsigned long long)e->addresses,
		(unsigned long long)e->low, (unsigned long long)e->high);
	if (e->even)
		fprintf(to, ", every %llu bytes", (unsigned long long)e->stride);
	else if (e->stride > 1)
		fprintf(to, ", multiples of %llu bytes apart", (unsigned long long)e->stride);
	if (e->equal_bits >= 6)
		fprintf(to, "; their low %u bits are equal", e->equal_bits);
	fputc('\n', to);
	if (!e->verdict)
		return;
	fprintf(to, "         => %s: ", memprofile_verdict_name(e->verdict));
	if (e->verdict == MEM_SET_CONFLICT)
		fprintf(to,
			"%u lines in set %u, which has %u ways; %llu lines in %u of %u sets, and L1D has room for %u\n",
			e->worst_lines, e->worst_set, p->l1d.ways, (unsigned long long)e->lines, e->sets, p->l1d.sets,
			p->l1d.sets * p->l1d.ways);
	else
		fprintf(to, "%llu lines, and L1D has room for %u\n", (unsigned long long)e->lines,
			p->l1d.sets * p->l1d.ways);
}

static void print_table(FILE *to, const struct memprofile *p, const struct memreport_options *o,
	enum memprofile_key key)
{
	size_t shown = 0, left = 0;
	char name[NAME];
	print_titles(to, p, key);
	for (size_t i = 0; i < p->entries[key]; i++) {
		const struct memprofile_entry *e = &p->entry[key][i];
		if (percent(e->period, p->period) < o->percent_limit || (o->rows && shown == o->rows)) {
			left++;
			continue;
		}
		shown++;
		name_of(e, key, name);
		fprintf(to, "%7.2f%% %8llu %8llu %8llu", percent(e->period, p->period), (unsigned long long)e->samples,
			(unsigned long long)e->loads, (unsigned long long)e->stores);
		if (p->has_latency && e->latencies)
			fprintf(to, "  %13.1f %6llu", mean_latency(e), (unsigned long long)e->latency_max);
		else if (p->has_latency)
			fprintf(to, "  %13s %6s", "-", "-");
		for (unsigned l = 0; p->has_level && l < MEM_LEVELS; l++)
			fprintf(to, " %7llu", (unsigned long long)e->level[l]);
		if (p->has_level)
			fprintf(to, " %8llu", (unsigned long long)e->tlb_miss);
		fprintf(to, " %9llu ", (unsigned long long)e->addresses);
		if (p->l1d.sets)
			fprintf(to, "%6llu", (unsigned long long)e->lines);
		else
			fprintf(to, "%6s", "-");
		fprintf(to, "  %s\n", name);
		print_pattern(to, p, e);
	}
	if (left)
		fprintf(to, "#        and %zu more with smaller shares\n", left);
}

static char shade(uint64_t n, uint64_t most)
{
	static const char ink[] = ".:-=+*#%@";
	if (!n)
		return ' ';
	return ink[(n * (sizeof ink - 2) + most / 2) / most];
}

static uint64_t column_of(const uint32_t *set, unsigned column, unsigned fold)
{
	uint64_t n = 0;
	for (unsigned i = 0; i < fold; i++)
		n += set[column * fold + i];
	return n;
}

static int by_samples(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
	return x < y ? 1 : x > y ? -1 : 0;
}

/* Returns the least number of samples with which a stripe is printed, so that at most ROWS are. */
static uint64_t least_samples(const struct memprofile *p)
{
	if (p->stripes <= ROWS)
		return 0;
	uint64_t *samples = malloc(p->stripes * sizeof *samples), least = UINT64_MAX;
	if (!samples)
		return 0;
	for (size_t i = 0; i < p->stripes; i++)
		samples[i] = p->stripe[i].samples;
	qsort(samples, p->stripes, sizeof *samples, by_samples);
	least = samples[ROWS - 1];
	free(samples);
	return least;
}

static void print_map(FILE *to, const struct memprofile *p)
{
	unsigned sets = p->l1d.sets, fold = sets > COLUMNS ? sets / COLUMNS : 1, columns = sets / fold;
	uint64_t most = 1, least = least_samples(p), before = 0;
	size_t shown = 0;
	if (!p->stripes || sets % fold)
		return;
	for (size_t i = 0; i < p->stripes; i++)
		for (unsigned c = 0; c < columns; c++)
			if (column_of(p->stripe[i].set, c, fold) > most)
				most = column_of(p->stripe[i].set, c, fold);
	fprintf(to,
		"#\n# Map: a row is %u bytes of memory, as large as a way of L1D, a column %s; darker (%s) is more "
		"samples\n#\n",
		p->l1d.line * sets, fold == 1 ? "is a set" : "is several sets", ".:-=+*#%@");
	for (size_t i = 0; i < p->stripes; i++) {
		const struct memprofile_stripe *s = &p->stripe[i];
		if (s->samples < least || shown == ROWS)
			continue;
		fprintf(to, "%#18llx |", (unsigned long long)s->base);
		for (unsigned c = 0; c < columns; c++)
			fputc(shade(column_of(s->set, c, fold), most), to);
		fprintf(to, "| %llu", (unsigned long long)s->samples);
		if (shown++)
			fprintf(to, "  +%#llx", (unsigned long long)(s->base - before));
		fputc('\n', to);
		before = s->base;
	}
	if (shown < p->stripes)
		fprintf(to, "#%17s and %zu more rows with fewer samples\n", "", p->stripes - shown);
	if (fold > 1)
		return;
	char lines[COLUMNS + 1], over[COLUMNS + 1];
	memset(lines, ' ', columns);
	memset(over, ' ', columns);
	lines[columns] = over[columns] = 0;
	bool any = false;
	for (size_t i = 0; i < p->entries[MEM_BY_SET]; i++) {
		const struct memprofile_entry *e = &p->entry[MEM_BY_SET][i];
		if (!e->lines)
			continue;
		lines[e->where] = e->lines > 35 ? '+' : (char)(e->lines > 9 ? 'a' + (e->lines - 10) : '0' + e->lines);
		if (e->lines > p->l1d.ways) {
			over[e->where] = '!';
			any = true;
		}
	}
	fprintf(to, "%18s |%s|  (a: 10, b: 11, ...; +: over 35)\n", "lines in the set", lines);
	if (any)
		fprintf(to, "%15s %2u |%s|\n", "more than ways:", p->l1d.ways, over);
}

void memreport_text(FILE *to, const struct memprofile *p, const struct memreport_options *o)
{
	fprintf(to, "# Data addresses in %s\n# Samples: %llu, %llu of them with an address, of", o->file_name,
		(unsigned long long)p->samples, (unsigned long long)p->with_address);
	for (size_t i = 0; i < p->events; i++)
		fprintf(to, "%s %s", i ? "," : "", p->event[i]);
	fputc('\n', to);
	if (p->hidden)
		fprintf(to, "# %llu samples without a name are left out\n", (unsigned long long)p->hidden);
	if (p->l1d.sets)
		fprintf(to, "# L1D: %u KB, %u ways, %u sets of lines of %u bytes\n",
			p->l1d.sets * p->l1d.ways * p->l1d.line / 1024, p->l1d.ways, p->l1d.sets, p->l1d.line);
	else
		fputs("# L1D: the file does not say how large it is: no lines, sets and conflicts\n", to);
	for (unsigned k = 0; k < MEM_KEYS; k++)
		if (o->keys >> k & 1 && p->entries[k])
			print_table(to, p, o, k);
	if (o->map)
		print_map(to, p);
}

/* ---- for programs ---- */

static const char *const level_key[MEM_LEVELS] = { "l1", "lfb", "l2", "l3", "ram", "l1_miss", "unknown" };

static void json_entry(FILE *to, const struct memprofile *p, enum memprofile_key key, const struct memprofile_entry *e)
{
	fputs("    {", to);
	switch (key) {
	case MEM_BY_INSTRUCTION:
	case MEM_BY_OBJECT:
		fprintf(to, "\"%s\": ", key == MEM_BY_OBJECT ? "object" : "instruction");
		json_string(to, e->name);
		fputs(", \"dso\": ", to);
		json_string(to, e->dso);
		fputs(", \"source\": ", to);
		json_string(to, e->source);
		if (key == MEM_BY_INSTRUCTION)
			fprintf(to, ", \"address\": %llu", (unsigned long long)e->where);
		break;
	case MEM_BY_PAGE: fprintf(to, "\"page\": %llu", (unsigned long long)e->where); break;
	default: fprintf(to, "\"set\": %llu", (unsigned long long)e->where); break;
	}
	fprintf(to, ", \"share\": %.6g, \"samples\": %llu, \"period\": %llu, \"loads\": %llu, \"stores\": %llu",
		percent(e->period, p->period), (unsigned long long)e->samples, (unsigned long long)e->period,
		(unsigned long long)e->loads, (unsigned long long)e->stores);
	if (e->latencies)
		fprintf(to, ", \"latency\": {\"mean\": %.6g, \"max\": %llu, \"samples\": %llu}", mean_latency(e),
			(unsigned long long)e->latency_max, (unsigned long long)e->latencies);
	fputs(", \"levels\": {", to);
	for (unsigned l = 0; l < MEM_LEVELS; l++)
		fprintf(to, "%s\"%s\": %llu", l ? ", " : "", level_key[l], (unsigned long long)e->level[l]);
	fprintf(to, "}, \"tlb_misses\": %llu", (unsigned long long)e->tlb_miss);
	if (e->addresses)
		fprintf(to,
			", \"addresses\": %llu, \"low\": %llu, \"high\": %llu, \"stride\": %llu, \"even\": %s, "
			"\"equal_bits\": %u",
			(unsigned long long)e->addresses, (unsigned long long)e->low, (unsigned long long)e->high,
			(unsigned long long)e->stride, e->even ? "true" : "false", e->equal_bits);
	if (e->lines)
		fprintf(to,
			", \"lines\": %llu, \"sets\": %u, \"worst_set\": %u, \"worst_lines\": %u, \"verdict\": \"%s\"",
			(unsigned long long)e->lines, e->sets, e->worst_set, e->worst_lines,
			memprofile_verdict_name(e->verdict));
	fputc('}', to);
}

void memreport_json(FILE *to, const struct memprofile *p, const struct memreport_options *o)
{
	fputs("{\n  \"file\": ", to);
	json_string(to, o->file_name);
	fputs(",\n  \"events\": [", to);
	for (size_t i = 0; i < p->events; i++) {
		fputs(i ? ", " : "", to);
		json_string(to, p->event[i]);
	}
	fprintf(to, "],\n  \"samples\": %llu, \"with_address\": %llu, \"hidden\": %llu, \"period\": %llu",
		(unsigned long long)p->samples, (unsigned long long)p->with_address, (unsigned long long)p->hidden,
		(unsigned long long)p->period);
	if (p->l1d.sets)
		fprintf(to, ",\n  \"l1d\": {\"line\": %u, \"sets\": %u, \"ways\": %u}", p->l1d.line, p->l1d.sets,
			p->l1d.ways);
	for (unsigned k = 0; k < MEM_KEYS; k++) {
		if (!(o->keys >> k & 1))
			continue;
		fprintf(to, ",\n  \"%s\": [", json_name[k]);
		bool first = true;
		for (size_t i = 0; i < p->entries[k]; i++) {
			if (percent(p->entry[k][i].period, p->period) < o->percent_limit)
				continue;
			fputs(first ? "\n" : ",\n", to);
			first = false;
			json_entry(to, p, k, &p->entry[k][i]);
		}
		fputs("]", to);
	}
	fputs("\n}\n", to);
}

/* Prints a CSV field with quotes as in RFC 4180. */
static void csv_text(FILE *to, const char *s)
{
	fputc('"', to);
	for (; *s; s++) {
		if (*s == '"')
			fputc('"', to);
		fputc((unsigned char)*s < ' ' ? ' ' : *s, to);
	}
	fputs("\",", to);
}

void memreport_csv(FILE *to, const struct memprofile *p, const struct memreport_options *o)
{
	enum memprofile_key key = 0;
	while (key < MEM_KEYS - 1 && !(o->keys >> key & 1))
		key++;
	bool named = key == MEM_BY_INSTRUCTION || key == MEM_BY_OBJECT;
	fputs(named ? "name,dso,source,address," : key == MEM_BY_PAGE ? "page," : "set,", to);
	fputs("share,samples,period,loads,stores,latency_mean,latency_max,l1,lfb,l2,l3,ram,l1_miss,unknown,tlb_misses,"
	      "addresses,low,high,stride,even,"
	      "equal_bits,lines,sets,worst_set,worst_lines,verdict\n",
		to);
	for (size_t i = 0; i < p->entries[key]; i++) {
		const struct memprofile_entry *e = &p->entry[key][i];
		if (percent(e->period, p->period) < o->percent_limit)
			continue;
		if (named) {
			csv_text(to, e->name);
			csv_text(to, e->dso);
			csv_text(to, e->source);
		}
		if (key == MEM_BY_OBJECT)
			fputs(",", to);
		else
			fprintf(to, key == MEM_BY_SET ? "%llu," : "%#llx,", (unsigned long long)e->where);
		fprintf(to, "%.6g,%llu,%llu,%llu,%llu,", percent(e->period, p->period), (unsigned long long)e->samples,
			(unsigned long long)e->period, (unsigned long long)e->loads, (unsigned long long)e->stores);
		if (e->latencies)
			fprintf(to, "%.6g,%llu,", mean_latency(e), (unsigned long long)e->latency_max);
		else
			fputs(",,", to);
		for (unsigned l = 0; l < MEM_LEVELS; l++)
			fprintf(to, "%llu,", (unsigned long long)e->level[l]);
		fprintf(to, "%llu,%llu,%#llx,%#llx,%llu,%d,%u,%llu,%u,%u,%u,%s\n", (unsigned long long)e->tlb_miss,
			(unsigned long long)e->addresses, (unsigned long long)e->low, (unsigned long long)e->high,
			(unsigned long long)e->stride, e->even, e->equal_bits, (unsigned long long)e->lines, e->sets,
			e->worst_set, e->worst_lines, memprofile_verdict_name(e->verdict));
	}
}
