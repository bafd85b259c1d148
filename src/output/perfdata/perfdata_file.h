/* SPDX-License-Identifier: GPL-2.0-or-later
 * A perf.data file that is being read; private to this folder. */
#ifndef OUTPUT_PERFDATA_FILE_H
#define OUTPUT_PERFDATA_FILE_H
#include "output/perfdata/perfdata.h"
#include <string.h>

struct event {
	struct perfdata_event_info info;
	bool sample_id_all, branch_index;	/* branch_index: PERF_SAMPLE_BRANCH_HW_INDEX */
	uint64_t regs_user, read_format;
	char *name;
};
struct id_entry { uint64_t id; size_t event; };
struct index_entry { uint64_t time; uint64_t offset; };

struct perfdata_file {
	uint8_t *bytes;			/* the file, followed by a NUL byte */
	uint64_t size;
	struct perfdata_header header;
	struct perfdata_section feature[PERFDATA_FEATURES];	/* size 0: absent */
	struct event *event;
	size_t events;
	struct id_entry *id;
	size_t ids;
	struct index_entry *index;
	size_t indexed, next;
	const char *note, *kallsyms;
};

/* A part of the file that is consumed from its start. */
struct cursor { const uint8_t *p; size_t left; bool bad; };

static inline const void *take(struct cursor *c, size_t n)
{
	if (c->bad || n > c->left) {
		c->bad = true;
		return NULL;
	}
	const void *p = c->p;
	c->p += n;
	c->left -= n;
	return p;
}
static inline uint64_t take_u64(struct cursor *c)
{
	uint64_t v = 0;
	const void *p = take(c, 8);
	if (p)
		memcpy(&v, p, 8);
	return v;
}
static inline uint32_t take_u32(struct cursor *c)
{
	uint32_t v = 0;
	const void *p = take(c, 4);
	if (p)
		memcpy(&v, p, 4);
	return v;
}
/* A NUL-terminated string that fills up to n bytes. */
static inline const char *take_text(struct cursor *c, size_t n)
{
	const char *s = take(c, n);
	if (s && (!n || !memchr(s, 0, n))) {
		c->bad = true;
		return NULL;
	}
	return s;
}
static inline const char *take_string(struct cursor *c)
{
	return take_text(c, take_u32(c));
}

static inline bool inside(const struct perfdata_file *f, const struct perfdata_section *s)
{
	return s->offset <= f->size && s->size <= f->size - s->offset;
}
static inline struct cursor at(const struct perfdata_file *f, const struct perfdata_section *s)
{
	return (struct cursor){ f->bytes + s->offset, s->size, false };
}
/* The event of an id, NULL if there is none. */
struct event *perfdata_id_event(const struct perfdata_file *f, uint64_t id);
/* Returns false if the record is of a kind that is not needed, or malformed. */
bool perfdata_decode(const struct perfdata_file *f, uint64_t offset, struct perfdata_record *r);
#endif
