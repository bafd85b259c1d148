/* SPDX-License-Identifier: GPL-2.0-or-later
 * The list of benchmarks (gate_list.h). */
#include "cli/gate/gate_list.h"
#include "util/grow.h"
#include "util/quoted_words.h"
#include <stdlib.h>
#include <string.h>

/* The words, in memory that the list owns; NULL: no memory. */
static char **keep(struct gate_list *l, char *const *word, size_t words)
{
	size_t bytes = (words + 1) * sizeof *word;
	for (size_t i = 0; i < words; i++)
		bytes += strlen(word[i]) + 1;
	char ***grown = grow_array(l->line, l->lines, &l->line_room, 16, sizeof *grown);
	if (grown)
		l->line = grown;
	char **kept = grown ? malloc(bytes) : NULL;
	if (!kept)
		return NULL;
	char *text = (char *)(kept + words + 1);
	for (size_t i = 0; i < words; i++) {
		kept[i] = strcpy(text, word[i]);
		text += strlen(text) + 1;
	}
	kept[words] = NULL;
	grown[l->lines++] = kept;
	return kept;
}

static bool add_text(const char ***list, size_t *count, size_t *room, const char *text)
{
	const char **grown = grow_array(*list, *count, room, 8, sizeof *grown);
	if (!grown)
		return false;
	*list = grown;
	grown[(*count)++] = text;
	return true;
}

static int add_work(struct gate_list *l, char **word, size_t words, struct err *err)
{
	if (words < 3)
		return err_set(err, ERR_INPUT, "'%s' needs a name and a program", word[0]);
	for (size_t i = 0; i < l->works; i++)
		if (!strcmp(l->work[i].name, word[1]))
			return err_set(err, ERR_INPUT, "there is a benchmark '%.200s' already", word[1]);
	struct gate_work *grown = grow_array(l->work, l->works, &l->work_room, 8, sizeof *grown);
	if (!grown)
		return err_set(err, ERR_NOMEM, "out of memory");
	l->work = grown;
	grown[l->works++] = (struct gate_work){ .name = word[1], .argv = word + 2,
		.regions = !strcmp(word[0], "regions") };
	return 0;
}

int gate_list_line(struct gate_list *l, char *text, struct err *err)
{
	char *word[GATE_LIST_WORDS];
	const int words = words_split(text, word, GATE_LIST_WORDS);
	if (words < 0)
		return err_set(err, ERR_INPUT, "a quotation does not end, or there are more than %d words",
			GATE_LIST_WORDS);
	if (!words)
		return 0;
	char **kept = keep(l, word, (size_t)words);
	if (!kept)
		return err_set(err, ERR_NOMEM, "out of memory");
	const char *keyword = kept[0];
	if (!strcmp(keyword, "bench") || !strcmp(keyword, "regions"))
		return add_work(l, kept, (size_t)words, err);
	const bool events = !strcmp(keyword, "events"), limit = !strcmp(keyword, "limit");
	if (!events && !limit && strcmp(keyword, "env"))
		return err_set(err, ERR_INPUT, "'%.100s' is none of bench, regions, events, limit, env", keyword);
	if (words != 2 || !*kept[1])
		return err_set(err, ERR_INPUT, "'%s' takes one word", keyword);
	const bool added = events ? add_text(&l->events, &l->event_lists, &l->event_room, kept[1])
			 : limit  ? add_text(&l->limits, &l->limit_count, &l->limit_room, kept[1])
				  : add_text(&l->env, &l->env_count, &l->env_room, kept[1]);
	return added ? 0 : err_set(err, ERR_NOMEM, "out of memory");
}

int gate_list_read(struct gate_list *l, const char *path, struct err *err)
{
	char *line = malloc(GATE_LIST_LINE);
	FILE *from = line ? fopen(path, "re") : NULL;
	unsigned number = 0;
	int rc = 0;
	*l = (struct gate_list){ 0 };
	if (!from) {
		free(line);
		return line ? err_system(err, "cannot read %s", path) : err_set(err, ERR_NOMEM, "out of memory");
	}
	while (!rc && fgets(line, GATE_LIST_LINE, from)) {
		struct err why = { 0 };
		const size_t n = strlen(line);
		number++;
		if (n && line[n - 1] == '\n')
			line[n - 1] = 0;
		else if (!feof(from) || n + 1 == GATE_LIST_LINE)
			rc = err_set(&why, ERR_INPUT, "the line is too long, or holds a NUL");
		if (!rc)
			rc = gate_list_line(l, line, &why);
		if (rc)
			err_set(err, rc, "%s, line %u: %.900s", path, number, why.text);
	}
	if (!rc && ferror(from))
		rc = err_system(err, "cannot read %s", path);
	fclose(from);
	free(line);
	if (!rc && !l->works)
		rc = err_set(err, ERR_INPUT, "%s lists no benchmark (bench NAME PROGRAM ...)", path);
	return rc;
}

void gate_list_free(struct gate_list *l)
{
	for (size_t i = 0; i < l->lines; i++)
		free(l->line[i]);
	free(l->line);
	free(l->work);
	free(l->events);
	free(l->limits);
	free(l->env);
	*l = (struct gate_list){ 0 };
}
