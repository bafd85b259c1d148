/* SPDX-License-Identifier: GPL-2.0-or-later
 * Reads the plan of a sweep (plan.h). */
#include "sweep/plan.h"
#include "util/grow.h"
#include "util/near.h"
#include "util/texts.h"
#include "util/quoted_words.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void *plan_keep(struct plan *p, size_t bytes)
{
	void **grown = grow_array(p->memories, p->memory_count, &p->memory_room, 64, sizeof *grown);
	if (!grown)
		return NULL;
	p->memories = grown;
	void *kept = malloc(bytes ? bytes : 1);
	if (kept)
		grown[p->memory_count++] = kept;
	return kept;
}

static int nomem(struct err *err)
{
	return err_set(err, ERR_NOMEM, "out of memory");
}

static int add_text(const char ***list, size_t *count, size_t *room, const char *text, struct err *err)
{
	const char **grown = grow_array(*list, *count, room, 8, sizeof *grown);
	if (!grown)
		return nomem(err);
	*list = grown;
	grown[(*count)++] = text;
	return 0;
}

static int few(const char *keyword, const char *needs, struct err *err)
{
	return err_set(err, ERR_INPUT, "'%s' needs %s", keyword, needs);
}

/* ---- programs ---- */

/* Names stand in results and files: one that could be taken for something else is refused. */
static int check_name(const char *name, struct err *err)
{
	const size_t n = strlen(name);
	if (!n || n > 64)
		return err_set(err, ERR_INPUT, "a name has 1 to 64 characters");
	for (const char *c = name; *c; c++)
		if ((unsigned char)*c <= ' ' || (unsigned char)*c > '~' || *c == ',' || *c == '"')
			return err_set(err, ERR_INPUT, "the name '%.64s' has a blank, a comma, a quote, or a character "
				"that is not ASCII", name);
	return 0;
}

/* Enters program `number` in the index.  False: there is one of its name. */
static bool enter(struct plan *p, size_t number)
{
	const char *name = p->program[number].name;
	size_t at = texts_hash(name, strlen(name)) % p->name_places;
	while (p->names[at]) {
		if (!strcmp(p->program[p->names[at] - 1].name, name))
			return false;
		at = (at + 1) % p->name_places;
	}
	p->names[at] = (uint32_t)number + 1;
	return true;
}

static int add_program(struct plan *p, char **word, size_t words, struct err *err)
{
	const bool stream = !strcmp(word[0], "stream");
	if (words < 3 || (stream && words > 3))
		return few(word[0], stream ? "a name and a file" : "a name and a program", err);
	if (check_name(word[1], err))
		return ERR_INPUT;
	if (!*word[2])
		return err_set(
			err, ERR_INPUT, "%s '%s': an empty %s", word[0], word[1], stream ? "file name" : "program");
	if (p->programs == PLAN_PROGRAMS)
		return err_set(err, ERR_INPUT, "more than %d programs", PLAN_PROGRAMS);
	const int grew = grow_indexed((void **)&p->program, p->programs, &p->program_room, 32, sizeof *p->program,
		&p->names, &p->name_places);
	if (grew < 0)
		return nomem(err);
	for (size_t i = 0; grew && i < p->programs; i++)
		enter(p, i);
	p->program[p->programs] = (struct plan_program){ .name = word[1], .argv = stream ? NULL : word + 2,
		.stream = stream ? word[2] : NULL };
	if (!enter(p, p->programs))
		return err_set(err, ERR_INPUT, "there is a program '%s' already", word[1]);
	p->programs++;
	return 0;
}

/* ---- machines ---- */

static int add_factor(struct plan *p, char **word, size_t words, bool drawn, struct err *err)
{
	const bool feature = !strcmp(word[0], "feature");
	struct plan_factor f = { .field = words > 1 ? word[1] : "", .feature = feature, .drawn = drawn,
		.line = p->line };
	if (words < 3 || !*f.field)
		return few(word[0], "a name and levels", err);
	if (strchr(f.field, '='))
		return err_set(err, ERR_INPUT, "'%.100s': name and levels are words of their own, without =", f.field);
	for (size_t i = 0; i < p->factors; i++)
		if (!strcmp(p->factor[i].field, f.field) && p->factor[i].feature == feature)
			return err_set(err, ERR_INPUT, "%.100s is set in line %u already", f.field, p->factor[i].line);
	if (p->factors == PLAN_FACTORS)
		return err_set(err, ERR_INPUT, "more than %d fields and features", PLAN_FACTORS);
	struct plan_factor *grown = grow_array(p->factor, p->factors, &p->factor_room, 8, sizeof *grown);
	if (!grown || !(f.level = plan_keep(p, PLAN_LEVELS * sizeof *f.level)))
		return nomem(err);
	p->factor = grown;
	for (size_t i = 2; i < words; i++) {
		const int rc = plan_levels(p, &f, word[i], err);
		if (rc)
			return rc;
	}
	grown[p->factors++] = f;
	return 0;
}

static int add_machine(struct plan *p, char **word, size_t words, struct err *err)
{
	struct plan_machine m = { .name = words > 1 ? word[1] : "", .core = words > 2 ? word[2] : "", .line = p->line };
	if (words < 3 || !*m.core)
		return few(word[0], "a name and a core", err);
	if (check_name(m.name, err))
		return ERR_INPUT;
	for (size_t i = 0; i < p->machines; i++)
		if (!strcmp(p->machine[i].name, m.name))
			return err_set(err, ERR_INPUT, "there is a machine '%s' already", m.name);
	if (p->machines == PLAN_MACHINES)
		return err_set(err, ERR_INPUT, "more than %d machines", PLAN_MACHINES);
	struct plan_machine *grown = grow_array(p->machine, p->machines, &p->machine_room, 8, sizeof *grown);
	if (!grown || !(m.setting = plan_keep(p, words * sizeof *m.setting)))
		return nomem(err);
	p->machine = grown;
	for (size_t i = 3; i < words; i += 3) {
		const bool feature = !strcmp(word[i], "feature");
		if ((!feature && strcmp(word[i], "set")) || i + 2 >= words || !*word[i + 1] || !*word[i + 2])
			return err_set(err, ERR_INPUT, "machine '%s': behind the core come 'set FIELD LEVEL' and "
				"'feature NAME LEVEL'", m.name);
		m.setting[m.settings++] = (struct plan_setting){ word[i + 1], word[i + 2], feature };
	}
	grown[p->machines++] = m;
	return 0;
}

static bool whole(const char *text, double least, double most, uint64_t *out)
{
	double value;
	if (!plan_number(text, text + strlen(text), &value) || value != (double)(uint64_t)value || value < least ||
		value > most)
		return false;
	*out = (uint64_t)value;
	return true;
}

static int add_draw(struct plan *p, char **word, size_t words, struct err *err)
{
	uint64_t count;
	if (words > 1 && (!strcmp(word[1], "set") || !strcmp(word[1], "feature")))
		return add_factor(p, word + 1, words - 1, true, err);
	if (words != 3 || !whole(word[1], 2, PLAN_DRAWS, &count) || !whole(word[2], 0, 1e15, &p->seed))
		return err_set(err, ERR_INPUT,
			"'draw' needs 'set' or 'feature', or a number of machines from 2 to %d and "
			"a seed",
			PLAN_DRAWS);
	if (p->draws)
		return err_set(err, ERR_INPUT, "there is a line 'draw COUNT SEED' already");
	p->draws = (size_t)count;
	return 0;
}

static int add_cores(struct plan *p, char **word, size_t words, struct err *err)
{
	if (words < 2)
		return few(word[0], "the names of cores", err);
	for (size_t i = 1; i < words; i++) {
		for (size_t k = 0; k < p->cores; k++)
			if (!strcmp(p->core[k], word[i]))
				return err_set(err, ERR_INPUT, "the core '%.100s' is named twice", word[i]);
		if (!*word[i])
			return few(word[0], "the names of cores", err);
		if (p->cores == PLAN_LEVELS)
			return err_set(err, ERR_INPUT, "more than %d cores", PLAN_LEVELS);
		const int rc = add_text(&p->core, &p->cores, &p->core_room, word[i], err);
		if (rc)
			return rc;
	}
	return 0;
}

/* ---- the rest ---- */

static int set_elimination(struct plan *p, char **word, size_t words, struct err *err)
{
	p->by_points = words > 1 && !strcmp(word[1], "points");
	char *percent = words > 1u + p->by_points ? word[1 + p->by_points] : NULL;
	uint64_t first = 4;
	double confidence = 95;
	size_t n = percent ? strlen(percent) : 0;
	if (n && percent[n - 1] == '%')
		n--;
	if (words > 3 || (percent && !plan_number(percent, percent + n, &confidence)) || confidence < 50 ||
		confidence > 99.9999 || (words > 2 && !p->by_points && !whole(word[2], 3, PLAN_PROGRAMS, &first)))
		return err_set(err, ERR_INPUT,
			"'eliminate' takes a confidence from 50 to 99.9999 %% and a number of programs "
			"from 3 on, or 'points' and a confidence");
	p->confidence = confidence / 100;
	p->first = (size_t)first;
	return 0;
}

static int set_timing(struct plan *p, char **word, size_t words, struct err *err)
{
	if (p->detail || p->sample)
		return err_set(err, ERR_INPUT, "'detail' or 'sample' stands in an earlier line");
	if (!strcmp(word[0], "sample") && words <= 2) {
		p->sample = words > 1 ? word[1] : "auto";
		if (strspn(p->sample, "0123456789kMG,auto") != strlen(p->sample) || !*p->sample)
			return err_set(err, ERR_INPUT, "'sample' takes auto or N,U,W");
		return 0;
	}
	if (words != 1)
		return err_set(
			err, ERR_INPUT, "'%s' takes %s", word[0], *word[0] == 's' ? "one word" : "no more words");
	p->detail = true;
	return 0;
}

static int one_word(struct plan *p, char **word, size_t words, struct err *err)
{
	if (words != 2 || !*word[1])
		return err_set(err, ERR_INPUT, "'%s' takes one word", word[0]);
	switch (*word[0]) {
	case 'e':	/* env, events */
		if (word[0][1] == 'n')
			return add_text(&p->env, &p->envs, &p->env_room, word[1], err);
		return add_text(&p->events, &p->event_lists, &p->event_room, word[1], err);
	case 'o':
		if (p->objective)
			return err_set(err, ERR_INPUT, "there is an objective already");
		p->objective = word[1];
		return 0;
	case 'm':
		return whole(word[1], 1 << 20, 1e15, &p->memory) ? 0
			: err_set(err, ERR_INPUT, "'memory' takes a size from 1M on");
	default:
		return whole(word[1], 1, 1e9, &p->seconds) ? 0
			: err_set(err, ERR_INPUT, "'time' takes a number of seconds");
	}
}

static int live_points(struct plan *p, char **word, size_t words, struct err *err)
{
	p->live_points = true;
	return words == 1 ? 0 : err_set(err, ERR_INPUT, "'%s' takes no more words", word[0]);
}

static int energy(struct plan *p, char **word, size_t words, struct err *err)
{
	p->energy = true;
	return words == 1 ? 0 : err_set(err, ERR_INPUT, "'%s' takes no more words", word[0]);
}

static int grid(struct plan *p, char **word, size_t words, struct err *err)
{
	return add_factor(p, word, words, false, err);
}

static const struct keyword {
	const char *name;
	int (*take)(struct plan *p, char **word, size_t words, struct err *err);
} keywords[] = {
	{ "program", add_program }, { "stream", add_program }, { "env", one_word }, { "core", add_cores },
	{ "set", grid }, { "feature", grid }, { "draw", add_draw }, { "machine", add_machine },
	{ "events", one_word }, { "energy", energy }, { "objective", one_word }, { "detail", set_timing },
	{ "sample", set_timing }, { "eliminate", set_elimination }, { "memory", one_word }, { "time", one_word },
	{ "live-points", live_points },
};

static int unknown(const char *word, struct err *err)
{
	struct near near;
	char text[64];
	near_start(&near, word);
	for (size_t i = 0; i < sizeof keywords / sizeof *keywords; i++)
		near_offer(&near, keywords[i].name, strlen(keywords[i].name));
	return near_text(&near, "", text, sizeof text)
		? err_set(err, ERR_INPUT, "'%.100s' is no keyword; nearest: %s", word, text)
		: err_set(err, ERR_INPUT, "'%.100s' is no keyword of a plan", word);
}

/* text: one line, kept by the plan. */
static int take_line(struct plan *p, char *text, struct err *err)
{
	char *word[PLAN_WORDS];
	const int words = words_split(text, word, PLAN_WORDS);
	if (words < 0)
		return err_set(err, ERR_INPUT, "a quotation does not end, or there are more than %d words", PLAN_WORDS);
	if (!words)
		return 0;
	char **kept = plan_keep(p, ((size_t)words + 1) * sizeof *kept);
	if (!kept)
		return nomem(err);
	memcpy(kept, word, (size_t)words * sizeof *kept);
	kept[words] = NULL;
	for (size_t i = 0; i < sizeof keywords / sizeof *keywords; i++)
		if (!strcmp(kept[0], keywords[i].name))
			return keywords[i].take(p, kept, (size_t)words, err);
	return unknown(kept[0], err);
}

/* What no line alone is wrong about. */
static int check(struct plan *p, const char *name, struct err *err)
{
	bool drawn = false;
	for (size_t i = 0; i < p->factors; i++)
		drawn |= p->factor[i].drawn;
	if (!p->programs)
		return err_set(
			err, ERR_INPUT, "%s names no program (program NAME PROGRAM ..., stream NAME FILE)", name);
	if (!p->cores && !p->machines)
		return err_set(err, ERR_INPUT, "%s names no core (core NAME ...)", name);
	if (!p->cores && p->factors)
		return err_set(err, ERR_INPUT, "%s, line %u: set, feature and draw need a line 'core'", name,
			p->factor[0].line);
	if (drawn != (p->draws > 0))
		return err_set(err, ERR_INPUT, drawn ? "%s draws fields, and has no line 'draw COUNT SEED'"
			: "%s has 'draw COUNT SEED', and draws no field", name);
	if (!p->objective)
		p->objective = "time";
	p->energy |= !strcmp(p->objective, "energy") || !strcmp(p->objective, "edp");
	if (!p->memory)
		p->memory = UINT64_C(1) << 30;
	if (!p->seconds)
		p->seconds = 3600;
	return 0;
}

int plan_parse(struct plan *p, const char *text, size_t bytes, const char *name, struct err *err)
{
	*p = (struct plan){ 0 };
	for (size_t at = 0; at < bytes;) {
		const char *end = memchr(text + at, '\n', bytes - at);
		const size_t n = end ? (size_t)(end - text) - at : bytes - at;
		struct err why = { 0 };
		int rc = 0;
		p->line++;
		char *line = n >= PLAN_LINE || memchr(text + at, 0, n) ? NULL : plan_keep(p, n + 1);
		if (!line) {
			rc = n >= PLAN_LINE || memchr(text + at, 0, n)
				? err_set(&why, ERR_INPUT, "the line is too long, or holds a NUL") : nomem(&why);
		} else {
			memcpy(line, text + at, n);
			line[n] = 0;
			rc = take_line(p, line, &why);
		}
		if (rc)
			return err_set(err, rc, "%.200s, line %u: %.700s", name, p->line, why.text);
		at += n + 1;
	}
	return check(p, name, err);
}

int plan_read(struct plan *p, const char *path, struct err *err)
{
	enum { MOST = 64 << 20 };
	FILE *from = fopen(path, "re");
	char *text = NULL;
	size_t used = 0, room = 0, n = 1;
	int rc = from ? 0 : err_system(err, "cannot read %s", path);
	*p = (struct plan){ 0 };
	while (!rc && n) {
		if (used == room) {
			char *more = used >= MOST ? NULL : realloc(text, room = room ? 2 * room : 65536);
			if (!more) {
				rc = used >= MOST ? err_set(err, ERR_INPUT, "%s: is larger than 64 MB", path)
						  : nomem(err);
				break;
			}
			text = more;
		}
		n = fread(text + used, 1, room - used, from);
		used += n;
		if (!n && ferror(from))
			rc = err_system(err, "cannot read %s", path);
	}
	if (!rc)
		rc = plan_parse(p, text, used, path, err);
	if (from)
		fclose(from);
	free(text);
	return rc;
}

void plan_free(struct plan *p)
{
	for (size_t i = 0; i < p->memory_count; i++)
		free(p->memories[i]);
	free(p->memories);
	free(p->program);
	free(p->core);
	free(p->env);
	free(p->events);
	free(p->factor);
	free(p->machine);
	free(p->names);
	*p = (struct plan){ 0 };
}
