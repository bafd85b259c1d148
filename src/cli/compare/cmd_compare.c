/* SPDX-License-Identifier: GPL-2.0-or-later
 * softpmu compare: two files of counts, or two profiles, with their differences. */
#include "cli/cli.h"
#include "cli/common/cli_count.h"
#include "cli/compare/compare_stat.h"
#include "output/profile.h"
#include "util/grow.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

struct comparing {
	const char *file[2], *event, *separator;
	double limit;
	unsigned files;
};

extern const struct cli_command cmd_compare;
enum { FILE_MOST = 64 << 20 };

static int set_separator(void *target, const struct option *o, const char *value, struct err *err)
{
	(void)o, (void)err;
	return cli_separator(value, &((struct comparing *)target)->separator) ? 0 : ERR_INPUT;
}

static const struct option options[] = {
	OPT_TEXT('e', "event", "EVENT", struct comparing, event, "Of profiles, compare this event. Default: the first "
		"that both have.", .filled = true),
	OPT_PERCENT(0, "percent-limit", "PERCENT", struct comparing, limit, "Of profiles, leave out functions whose "
		"share differs by less than PERCENT of the whole. Default: 0.01."),
	OPT_CALL('x', "field-separator", "SEPARATOR", set_separator, "The separator of files that stat -x wrote. "
		"Default: a comma."),
	OPT_END
};

static int a_file(void *target, const char *word, struct err *err)
{
	struct comparing *c = target;
	if (c->files == 2)
		return err_set(err, ERR_INPUT, "'%s' is one word too many: two files are compared", word);
	c->file[c->files++] = word;
	return 0;
}

/* ---- counts ----------------------------------------------------------------------------------------------- */

/* The whole file, with a NUL behind it; the caller frees it. */
static char *read_text(const char *path, struct err *err)
{
	size_t used = 0, room = 1 << 16, got;
	char *text = malloc(room + 1);
	FILE *from = fopen(path, "re");
	if (!from || !text) {
		err_system(err, "cannot read %s", path);
		free(text);
		if (from)
			fclose(from);
		return NULL;
	}
	while ((got = fread(text + used, 1, room - used, from)) > 0) {
		used += got;
		if (used < room)
			continue;
		char *grown = room < FILE_MOST ? realloc(text, 2 * room + 1) : NULL;
		if (!grown) {
			err_set(err, ERR_INPUT, "%s: it is too long", path);
			break;
		}
		text = grown;
		room *= 2;
	}
	if (ferror(from))
		err_system(err, "cannot read %s", path);
	fclose(from);
	if (err->code) {
		free(text);
		return NULL;
	}
	text[used] = 0;
	return text;
}

/* "+1.25 %"; text: room for 24 bytes. */
static const char *percent(char *text, double a, double b)
{
	if (a == b)
		snprintf(text, 24, "0 %%");
	else if (a == 0)
		snprintf(text, 24, "new");
	else
		snprintf(text, 24, "%+.2f %%", 100 * (b - a) / a);
	return text;
}

/* Whole numbers without a fraction. */
static const char *amount(char *text, double v, const char *sign)
{
	snprintf(text, 40, v == floor(v) && fabs(v) < 1e15 ? "%s%.0f" : "%s%.6g", v > 0 ? sign : "", v);
	return text;
}

static void print_count(const char *name, const struct compare_count *a, const struct compare_count *b)
{
	char x[40] = "-", y[40] = "-", d[40] = "", p[24] = "";
	if (a && a->counted)
		amount(x, a->value, "");
	if (b && b->counted)
		amount(y, b->value, "");
	if (a && b && a->counted && b->counted) {
		amount(d, b->value - a->value, "+");
		percent(p, a->value, b->value);
	}
	printf("%-32s %17s %17s %17s %10s\n", name, x, y, d, p);
}

static int compare_counts(const struct comparing *c)
{
	struct compare_counts counts[2] = { 0 };
	struct err err = { 0 };
	for (unsigned i = 0; i < 2 && !err.code; i++) {
		char *text = read_text(c->file[i], &err);
		if (text)
			compare_stat_read(counts + i, text, c->file[i], c->separator, &err);
		free(text);
	}
	if (err.code) {
		cli_error("%s", err.text);
	} else {
		printf("%-32s %17s %17s %17s %10s\n", "", "A", "B", "B - A", "");
		for (size_t i = 0; i < counts[0].counts; i++)
			print_count(counts[0].count[i].name, counts[0].count + i,
				compare_stat_find(counts + 1, counts[0].count[i].name));
		for (size_t i = 0; i < counts[1].counts; i++)
			if (!compare_stat_find(counts, counts[1].count[i].name))
				print_count(counts[1].count[i].name, NULL, counts[1].count + i);
	}
	compare_stat_free(counts);
	compare_stat_free(counts + 1);
	return err.code ? 1 : 0;
}

/* ---- profiles --------------------------------------------------------------------------------------------- */

struct function { const char *dso, *name; uint64_t part[2]; };
struct functions { struct function *item; size_t count, room; uint64_t whole[2]; };

static bool add_function(struct functions *all, const char *dso, const char *name, unsigned side, uint64_t part)
{
	for (size_t i = 0; i < all->count; i++)
		if (!strcmp(all->item[i].name, name) && !strcmp(all->item[i].dso, dso)) {
			all->item[i].part[side] += part;
			return true;
		}
	struct function *grown = grow_array(all->item, all->count, &all->room, 64, sizeof *grown);
	if (!grown)
		return false;
	all->item = grown;
	grown[all->count] = (struct function){ .dso = dso, .name = name };
	grown[all->count++].part[side] = part;
	return true;
}

static double share(const struct functions *all, const struct function *f, unsigned side)
{
	return all->whole[side] ? 100 * (double)f->part[side] / (double)all->whole[side] : 0;
}

static int by_difference(const void *a, const void *b)
{
	const struct function *p = a, *q = b;
	const double x = fabs((double)p->part[1] - (double)p->part[0]),
		     y = fabs((double)q->part[1] - (double)q->part[0]);
	const int by_dso = strcmp(p->dso, q->dso);
	return x > y ? -1 : x < y ? 1 : by_dso ? by_dso : strcmp(p->name, q->name);
}

/* Index of the event in the profile; SIZE_MAX: it has none of this name. */
static size_t event_of(const struct profile *p, const char *name)
{
	for (size_t i = 0; i < p->events; i++)
		if (!strcmp(p->event[i].info->name, name))
			return i;
	return SIZE_MAX;
}

static void print_functions(const struct comparing *c, struct functions *all, const char *event)
{
	char p[24], x[40], y[40], d[40];
	qsort(all->item, all->count, sizeof *all->item, by_difference);
	printf("%s: A %llu, B %llu, %s\n", event, (unsigned long long)all->whole[0], (unsigned long long)all->whole[1],
		percent(p, (double)all->whole[0], (double)all->whole[1]));
	printf("%8s %8s %15s %15s %15s %10s\n", "share A", "share B", "A", "B", "B - A", "");
	for (size_t i = 0; i < all->count; i++) {
		const struct function *f = all->item + i;
		const double a = (double)f->part[0], b = (double)f->part[1];
		const double most = (double)(all->whole[0] > all->whole[1] ? all->whole[0] : all->whole[1]);
		if (100 * fabs(b - a) < c->limit * most)
			continue;
		printf("%6.2f %% %6.2f %% %15s %15s %15s %10s  %s [%s]\n", share(all, f, 0), share(all, f, 1),
			amount(x, a, ""), amount(y, b, ""), amount(d, b - a, "+"), percent(p, a, b), f->name, f->dso);
	}
}

static int compare_profiles(const struct comparing *c)
{
	const struct profile_options o = { .key = { PROFILE_DSO, PROFILE_SYMBOL }, .keys = 2 };
	struct perfdata_file *file[2] = { 0 };
	struct profile *profile[2] = { 0 };
	struct functions all = { 0 };
	struct err err = { 0 };
	size_t event[2] = { SIZE_MAX, SIZE_MAX };
	bool printed = false, good = true;
	for (unsigned i = 0; i < 2 && good; i++) {
		good = !cli_open_data(&file[i], c->file[i]);
		printed = !good;
		good = good && !profile_load(&profile[i], file[i], &o, &err);
	}
	for (size_t i = 0; good && i < profile[0]->events && event[1] == SIZE_MAX; i++)
		if (!c->event || !strcmp(profile[0]->event[i].info->name, c->event)) {
			event[0] = i;
			event[1] = event_of(profile[1], profile[0]->event[i].info->name);
		}
	if (good && event[1] == SIZE_MAX)
		good = !err_set(&err, ERR_INPUT, "%s and %s have no event%s%s in common", c->file[0], c->file[1],
			c->event ? " " : "", c->event ? c->event : "");
	for (unsigned s = 0; s < 2 && good; s++) {
		const struct profile_event *e = profile[s]->event + event[s];
		all.whole[s] = e->period;
		for (size_t i = 0; i < e->entries && good; i++)
			if (!add_function(&all, e->entry[i].dso, e->entry[i].symbol ? e->entry[i].symbol->name : "(no "
				"symbol)",
				    s, e->entry[i].self))
				good = !err_set(&err, ERR_NOMEM, "out of memory");
	}
	if (good)
		print_functions(c, &all, profile[0]->event[event[0]].info->name);
	else if (!printed)
		cli_error("%s", err.text);
	for (unsigned i = 0; i < 2; i++) {
		profile_free(profile[i]);
		perfdata_close(file[i]);
	}
	free(all.item);
	return good ? 0 : 1;
}

/* ---- the command ------------------------------------------------------------------------------------------ */

static bool is_profile(const char *path)
{
	char head[8] = "";
	FILE *f = fopen(path, "re");
	const bool is = f && fread(head, 1, sizeof head, f) == sizeof head && !memcmp(head, "PERFILE2", 8);
	if (f)
		fclose(f);
	return is;
}

static int run(int argc, char **argv)
{
	struct comparing c = { .separator = ",", .limit = 0.01 };
	const int go = cli_options_and_words(&cmd_compare, &c, argc, argv, a_file);
	if (go <= 0)
		return go ? 2 : 0;
	if (c.files < 2) {
		cli_error("compare needs two files: of stat (-x, -j or -o), or of record");
		return 2;
	}
	const bool profiles = is_profile(c.file[0]);
	if (profiles != is_profile(c.file[1])) {
		cli_error("%s is a profile, and %s is none", c.file[!profiles], c.file[profiles]);
		return 1;
	}
	return profiles ? compare_profiles(&c) : compare_counts(&c);
}

const struct cli_command cmd_compare = {
	.name = "compare", .options = options, .run = run, .usage = "[options] A B",
	.summary = "print the differences of two files of counts, or of two profiles",
	.about = "A and B are files that stat wrote (-x, -j, or its table by -o), or profiles (perf.data) of softpmu "
		"or perf. Prints each count of both, the difference and how many percent of A it is; of profiles, "
		"each function's share and count of an event, the largest difference first.",
};
