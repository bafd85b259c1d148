// SPDX-License-Identifier: GPL-2.0-or-later
#include "symbols/source_text.h"
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { SOURCE_LIMIT = 16 << 20 };

static void read_source(struct source *s)
{
	struct stat st;
	/* O_NONBLOCK: the name comes from a file and may be that of a FIFO */
	int fd = open(s->path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	if (fd < 0)
		return;
	if (fstat(fd, &st) == 0 && S_ISREG(st.st_mode) && st.st_size > 0 && st.st_size <= SOURCE_LIMIT &&
	    (s->text = malloc((size_t)st.st_size + 1))) {
		ssize_t n = 0;
		while (s->size < (size_t)st.st_size &&
			(n = read(fd, s->text + s->size, (size_t)st.st_size - s->size)) > 0)
			s->size += (size_t)n;
		s->text[s->size] = 0;
		size_t count = 1;
		for (size_t i = 0; i < s->size; i++)
			count += s->text[i] == '\n';
		s->line = calloc(count, sizeof *s->line);
		for (char *p = s->text; s->line && p < s->text + s->size; ) {
			char *end = memchr(p, '\n', (size_t)(s->text + s->size - p));
			s->line[s->lines++] = p;
			if (!end)
				break;
			*end = 0;
			p = end + 1;
		}
	}
	close(fd);
}

const char *source_text(struct sources *all, const char *path, unsigned line)
{
	struct source *s = NULL;
	for (size_t i = 0; i < all->used && !s; i++)
		if (!strcmp(all->file[i].path, path))
			s = &all->file[i];
	if (!s && all->used < SOURCE_TEXT_FILES) {
		s = &all->file[all->used];
		*s = (struct source){ .path = strdup(path) };
		if (!s->path)
			return NULL;
		all->used++;
		read_source(s);
	}
	return s && line && line <= s->lines ? s->line[line - 1] : NULL;
}

void source_text_free(struct sources *all)
{
	for (size_t i = 0; i < all->used; i++) {
		free(all->file[i].path);
		free(all->file[i].text);
		free(all->file[i].line);
	}
}
