/* SPDX-License-Identifier: GPL-2.0-or-later
 * Reads perf.data files, ours and perf's own, as hostile input: every offset and length is checked against the file.
 *
 * The whole file is read into memory; an index of (time, offset) sorts the records.  Records of kinds that a profile
 * does not need are skipped; compressed records are refused by name.  If the data section was never closed (size 0),
 * everything up to the first record that does not fit is used.
 */
#include "output/perfdata/perfdata_file.h"
#include "util/grow.h"
#include <errno.h>
#include <fcntl.h>
#include <linux/perf_event.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
	RECORD_COMPRESSED = 81,		/* perf.data-file-format.txt, "PERF_RECORD_COMPRESSED"; 83 is its successor */
	RECORD_COMPRESSED2 = 83,
	EVENTS_MAX = 4096,
	/* ibid., "PERF_RECORD_HEADER_ATTR", "PERF_RECORD_HEADER_FEATURE", "pipe mode" */
	RECORD_HEADER_ATTR = 64, RECORD_HEADER_FEATURE = 80, PIPE_HEADER_BYTES = 16,
	MISC_BUILD_ID_SIZE = 1 << 15,
};
#define KNOWN_SAMPLE_BITS ((UINT64_C(1) << 25) - 1)	/* up to PERF_SAMPLE_WEIGHT_STRUCT */

/* ---- attributes ---- */

static int by_id(const void *a, const void *b)
{
	const struct id_entry *x = a, *y = b;
	return x->id < y->id ? -1 : x->id > y->id;
}

static int add_ids(struct perfdata_file *f, const struct perfdata_section *s, size_t event, struct err *err)
{
	size_t n = s->size / 8;
	if (!n)
		return 0;
	struct id_entry *id = realloc(f->id, (f->ids + n) * sizeof *id);
	if (!id)
		return err_set(err, ERR_NOMEM, "out of memory");
	f->id = id;
	struct cursor c = at(f, s);
	for (size_t i = 0; i < n; i++)
		f->id[f->ids++] = (struct id_entry){ take_u64(&c), event };
	return 0;
}

static const char *generic_name(uint32_t type, uint64_t config, char *text, size_t room)
{
	static const char *const hardware[] = {
		"cycles", "instructions", "cache-references", "cache-misses", "branches", "branch-misses", "bus-cycles",
		"stalled-cycles-frontend", "stalled-cycles-backend", "ref-cycles",
	}, *const software[] = { "cpu-clock", "task-clock", "page-faults", "context-switches", "cpu-migrations" };
	if (type == PERF_TYPE_HARDWARE && config < sizeof hardware / sizeof *hardware)
		return hardware[config];
	if (type == PERF_TYPE_SOFTWARE && config < sizeof software / sizeof *software)
		return software[config];
	if (type == PERF_TYPE_RAW)
		snprintf(text, room, "raw 0x%llx", (unsigned long long)config);
	else
		snprintf(text, room, "type %u config 0x%llx", type, (unsigned long long)config);
	return text;
}

/* bytes: of the attribute, as the file has it. */
static int read_attr(struct perfdata_file *f, size_t i, const void *attr, size_t bytes,
	const struct perfdata_section *ids, struct err *err)
{
	struct event *e = &f->event[i];
	struct perf_event_attr a = { 0 };
	char text[64];
	memcpy(&a, attr, bytes < sizeof a ? bytes : sizeof a);
	if (!inside(f, ids))
		return err_set(err, ERR_INPUT,
			"not a readable perf.data: the ids of event %zu lie outside of the file", i);
	if (a.sample_type & ~KNOWN_SAMPLE_BITS)
		return err_set(err, ERR_UNSUPPORTED,
			"event %zu has a sample type that this reader does not know (0x%llx)", i,
			(unsigned long long)a.sample_type);
	e->info = (struct perfdata_event_info){
		.type = a.type, .config = a.config, .sample_type = a.sample_type,
		.period = a.freq ? 0 : a.sample_period, .frequency = a.freq ? a.sample_freq : 0,
		.has_chain = a.sample_type & PERF_SAMPLE_CALLCHAIN,
		.has_branches = a.sample_type & PERF_SAMPLE_BRANCH_STACK,
	};
	e->sample_id_all = a.sample_id_all;
	e->branch_index = a.branch_sample_type & PERF_SAMPLE_BRANCH_HW_INDEX;
	e->regs_user = a.sample_regs_user;
	e->read_format = a.read_format;
	if (!(e->name = strdup(generic_name(a.type, a.config, text, sizeof text))))
		return err_set(err, ERR_NOMEM, "out of memory");
	return add_ids(f, ids, i, err);
}

static int allocate_events(struct perfdata_file *f, struct err *err)
{
	if (!f->events || f->events > EVENTS_MAX)
		return err_set(err, ERR_INPUT, "not a readable perf.data: %zu events", f->events);
	f->event = calloc(f->events, sizeof *f->event);
	return f->event ? 0 : err_set(err, ERR_NOMEM, "out of memory");
}

static int read_attrs(struct perfdata_file *f, struct err *err)
{
	const struct perfdata_header *h = &f->header;
	if (!inside(f, &h->attrs) || h->attr_size < 64 + sizeof(struct perfdata_section) || h->attr_size > 65536)
		return err_set(err, ERR_INPUT, "not a readable perf.data: bad attribute section");
	f->events = h->attrs.size / h->attr_size;
	int code = allocate_events(f, err);
	struct cursor c = at(f, &h->attrs);
	for (size_t i = 0; i < f->events && !code; i++) {
		const size_t in_file = h->attr_size - sizeof(struct perfdata_section);
		const void *attr = take(&c, in_file);
		struct perfdata_section ids = { take_u64(&c), 0 };
		ids.size = take_u64(&c);
		code = read_attr(f, i, attr, in_file, &ids, err);
	}
	if (f->ids)
		qsort(f->id, f->ids, sizeof *f->id, by_id);
	return code;
}

/* Pipe mode: events and features are records. */
static int read_pipe_head(struct perfdata_file *f, struct err *err)
{
	int code = 0;
	f->header.data = (struct perfdata_section){ PIPE_HEADER_BYTES, f->size - PIPE_HEADER_BYTES };
	for (int pass = 0; pass < 2 && !code; pass++) {	/* count them, then read them */
		const void *body;
		size_t bytes, events = 0;
		uint64_t next = 0;
		for (uint32_t type; !code && (type = perfdata_next_tool(f, &next, &body, &bytes));) {
			const uint8_t *p = body;
			struct perfdata_section rest = { (uint64_t)(p - f->bytes), bytes };
			uint32_t size = 0;
			uint64_t feature = 0;
			if (type == RECORD_HEADER_ATTR && bytes >= PERF_ATTR_SIZE_VER0) {
				memcpy(&size, p + offsetof(struct perf_event_attr, size), sizeof size);
				if (size < PERF_ATTR_SIZE_VER0 || size > bytes)
					continue;
				rest.offset += size;
				rest.size -= size;
				if (pass)
					code = read_attr(f, events, p, size, &rest, err);
				events++;
			} else if (pass && type == RECORD_HEADER_FEATURE && bytes > sizeof feature) {
				memcpy(&feature, p, sizeof feature);
				if (feature < PERFDATA_FEATURES && feature != PERFDATA_BUILD_ID)
					f->feature[feature] = (struct perfdata_section){ rest.offset + sizeof feature,
						bytes - sizeof feature };
			}
		}
		f->events = events;
		if (!pass)
			code = allocate_events(f, err);
	}
	if (f->ids)
		qsort(f->id, f->ids, sizeof *f->id, by_id);
	return code;
}

struct event *perfdata_id_event(const struct perfdata_file *f, uint64_t id)
{
	struct id_entry key = { id, 0 }, *found = f->ids ? bsearch(&key, f->id, f->ids, sizeof key, by_id) : NULL;
	return found ? &f->event[found->event] : NULL;
}

/* ---- features ---- */

static void read_features(struct perfdata_file *f)
{
	struct cursor table = { f->bytes + f->header.data.offset + f->header.data.size, 0, false };
	table.left = f->size - f->header.data.offset - f->header.data.size;
	for (unsigned i = 0; i < PERFDATA_FEATURES; i++) {
		if (!(f->header.features[i / 64] >> i % 64 & 1))
			continue;
		struct perfdata_section s = { take_u64(&table), 0 };
		s.size = take_u64(&table);
		if (table.bad)
			return;
		if (inside(f, &s))
			f->feature[i] = s;
	}
}

const void *perfdata_own_bytes(const struct perfdata_file *f, enum perfdata_feature feature, size_t *bytes)
{
	*bytes = (size_t)f->feature[feature].size;
	return *bytes ? f->bytes + f->feature[feature].offset : NULL;
}

void perfdata_use_kallsyms(struct perfdata_file *f, const char *path)
{
	f->kallsyms = path;
}

const char *perfdata_kallsyms(const struct perfdata_file *f, bool *asked)
{
	size_t bytes;
	const char *path = perfdata_own_bytes(f, PERFDATA_KALLSYMS, &bytes);
	*asked = f->kallsyms;
	return f->kallsyms ? f->kallsyms : path && !path[bytes - 1] ? path : NULL;
}

static int read_event_names(struct perfdata_file *f, struct err *err)
{
	struct cursor c = at(f, &f->feature[PERFDATA_EVENT_DESC]);
	uint32_t events = take_u32(&c), attr_bytes = take_u32(&c);
	for (uint32_t i = 0; i < events && !c.bad; i++) {
		take(&c, attr_bytes);
		uint32_t ids = take_u32(&c);
		const char *name = take_string(&c);
		if (c.bad)
			break;
		/* found by its first id, or by position if it has none */
		struct event *e = i < f->events ? &f->event[i] : NULL;
		for (uint32_t k = 0; k < ids && !c.bad; k++) {
			uint64_t id = take_u64(&c);
			struct event *owner = k == 0 && !c.bad ? perfdata_id_event(f, id) : NULL;
			if (owner)
				e = owner;
		}
		if (!e || c.bad)
			continue;
		char *copy = strdup(name);
		if (!copy)
			return err_set(err, ERR_NOMEM, "out of memory");
		free(e->name);
		e->name = copy;
	}
	for (size_t i = 0; i < f->events; i++)
		f->event[i].info.name = f->event[i].name;
	return 0;
}

const char *perfdata_feature_text(const struct perfdata_file *f, enum perfdata_feature feature)
{
	switch (feature) {
	case PERFDATA_HOSTNAME:
	case PERFDATA_OSRELEASE:
	case PERFDATA_VERSION:
	case PERFDATA_ARCH:
	case PERFDATA_CPUDESC:
	case PERFDATA_CPUID: {
		struct cursor c = at(f, &f->feature[feature]);
		return take_string(&c);
	}
	default:
		return NULL;
	}
}

bool perfdata_data_cache(const struct perfdata_file *f, unsigned level, struct perfdata_cache *out)
{
	struct cursor c = at(f, &f->feature[PERFDATA_CACHE]);
	uint32_t version = take_u32(&c), count = take_u32(&c);
	for (uint32_t i = 0; i < count && !c.bad && version == 1; i++) {
		struct perfdata_cache one = { .level = take_u32(&c) };
		one.line = take_u32(&c);
		one.sets = take_u32(&c);
		one.ways = take_u32(&c);
		const char *type = take_string(&c);
		take_string(&c);
		take_string(&c);
		if (!c.bad && one.level == level && one.line && one.sets && one.ways &&
			(!strcmp(type, "Data") || !strcmp(type, "Unified"))) {
			*out = one;
			return true;
		}
	}
	return false;
}

unsigned perfdata_build_id(const struct perfdata_file *f, const char *path, uint8_t id[PERFDATA_BUILD_ID_BYTES])
{
	struct cursor c = at(f, &f->feature[PERFDATA_BUILD_ID]);
	while (c.left && !c.bad) {
		struct perf_event_header h;
		const void *p = take(&c, sizeof h);
		if (!p)
			break;
		memcpy(&h, p, sizeof h);
		if (h.size < sizeof h + 4 + 24)
			break;
		take(&c, 4);
		const uint8_t *bytes = take(&c, 24);
		const char *name = take_text(&c, h.size - sizeof h - 4 - 24);
		if (c.bad)
			break;
		if (strcmp(name, path))
			continue;
		unsigned n = h.misc & MISC_BUILD_ID_SIZE ? bytes[20] : PERFDATA_BUILD_ID_BYTES;
		if (n > PERFDATA_BUILD_ID_BYTES)
			continue;
		memcpy(id, bytes, n);
		return n;
	}
	return 0;
}

static int by_time(const void *a, const void *b)
{
	const struct index_entry *x = a, *y = b;
	if (x->time != y->time)
		return x->time < y->time ? -1 : 1;
	return x->offset < y->offset ? -1 : x->offset > y->offset;
}

static int build_index(struct perfdata_file *f, struct err *err)
{
	uint64_t offset = f->header.data.offset, end = offset + f->header.data.size;
	size_t room = 0;
	while (end - offset >= sizeof(struct perf_event_header)) {
		struct perf_event_header h;
		memcpy(&h, f->bytes + offset, sizeof h);
		if (h.size < sizeof h || h.size > end - offset) {
			f->note = "the file is damaged or cut short; only what comes before the damage is shown";
			break;
		}
		if (h.type == RECORD_COMPRESSED || h.type == RECORD_COMPRESSED2)
			return err_set(err, ERR_UNSUPPORTED,
				"the file has compressed records, which are not supported; record without -z");
		struct perfdata_record r;
		if (perfdata_decode(f, offset, &r)) {
			struct index_entry *index = grow_array(f->index, f->indexed, &room, 1024, sizeof *index);
			if (!index)
				return err_set(err, ERR_NOMEM, "out of memory");
			f->index = index;
			f->index[f->indexed++] = (struct index_entry){ r.time == UINT64_MAX ? 0 : r.time, offset };
		}
		offset += h.size;
	}
	if (f->indexed)
		qsort(f->index, f->indexed, sizeof *f->index, by_time);
	return 0;
}

static int parse(struct perfdata_file *f, struct err *err)
{
	f->note = "";
	if (f->size < sizeof f->header)
		return err_set(err, ERR_INPUT, "not a perf.data file: too short");
	memcpy(&f->header, f->bytes, sizeof f->header);
	if (!memcmp(f->header.magic, "2ELIFREP", 8))
		return err_set(err, ERR_UNSUPPORTED, "perf.data of a machine with the other byte order");
	if (memcmp(f->header.magic, "PERFILE2", 8))
		return err_set(err, ERR_INPUT, "not a perf.data file");
	if (f->header.size == PIPE_HEADER_BYTES) {
		const int failed = read_pipe_head(f, err);
		if (failed)
			return failed;
		const int names = read_event_names(f, err);
		return names ? names : build_index(f, err);
	}
	if (f->header.size != sizeof f->header)
		return err_set(err, ERR_INPUT, "not a readable perf.data: header of %llu bytes",
			(unsigned long long)f->header.size);
	int code = read_attrs(f, err);
	if (code)
		return code;
	if (f->header.data.offset > f->size)
		return err_set(err, ERR_INPUT, "not a readable perf.data: the data lies outside of the file");
	bool cut = f->header.data.size > f->size - f->header.data.offset, open = !f->header.data.size;
	if (cut || open) {
		f->header.data.size = f->size - f->header.data.offset;
		memset(f->header.features, 0, sizeof f->header.features);
		f->note = cut ? "the file is cut short: what there is is shown" :
			  "the recording was not finished: what was written is shown";
	}
	read_features(f);
	code = read_event_names(f, err);
	return code ? code : build_index(f, err);
}

static int read_input(struct perfdata_file *f, struct err *err)
{
	size_t room = 0;
	for (;;) {
		uint8_t *grown = f->size + 1 < room ? f->bytes : realloc(f->bytes, room = room ? 2 * room : 1 << 20);
		if (!grown)
			return err_set(err, ERR_NOMEM, "out of memory");
		f->bytes = grown;
		const ssize_t n = read(0, f->bytes + f->size, room - 1 - f->size);
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return err_system(err, "cannot read standard input");
		if (n == 0)
			return 0;
		f->size += (uint64_t)n;
	}
}

static int read_file(struct perfdata_file *f, const char *path, struct err *err)
{
	if (!strcmp(path, "-"))
		return read_input(f, err);
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return err_system(err, "cannot open %s", path);
	struct stat st;
	int code = 0;
	if (fstat(fd, &st))
		code = err_system(err, "cannot read %s", path);
	else if (!S_ISREG(st.st_mode))
		code = err_set(err, ERR_UNSUPPORTED, "%s is not a regular file", path);
	else if (!(f->bytes = malloc((size_t)st.st_size + 1)))
		code = err_set(err, ERR_NOMEM, "out of memory");
	while (!code && f->size < (uint64_t)st.st_size) {
		ssize_t n = read(fd, f->bytes + f->size, (size_t)st.st_size - f->size);
		if (n < 0 && errno != EINTR)
			code = err_system(err, "cannot read %s", path);
		else if (n == 0)
			break;
		else if (n > 0)
			f->size += (uint64_t)n;
	}
	close(fd);
	return code;
}

static int open_with(struct perfdata_file **out, const char *path, const void *bytes, size_t size, struct err *err)
{
	struct perfdata_file *f = calloc(1, sizeof *f);
	struct err why = { 0 };
	int code = 0;
	if (!f)
		return err_set(err, ERR_NOMEM, "out of memory");
	if (path) {
		code = read_file(f, path, err);
	} else if (!(f->bytes = malloc(size + 1))) {
		code = err_set(err, ERR_NOMEM, "out of memory");
	} else {
		memcpy(f->bytes, bytes, size);
		f->size = size;
	}
	if (!code) {
		f->bytes[f->size] = 0;
		code = parse(f, &why);
		if (code)
			err_set(err, code, "%s: %s", path ? path : "perf.data", why.text);
	}
	if (code)
		perfdata_close(f);
	else
		*out = f;
	return code;
}
int perfdata_open(struct perfdata_file **out, const char *path, struct err *err)
{
	return open_with(out, path, NULL, 0, err);
}
int perfdata_open_memory(struct perfdata_file **out, const void *bytes, size_t size, struct err *err)
{
	return open_with(out, NULL, bytes, size, err);
}

void perfdata_close(struct perfdata_file *f)
{
	if (!f)
		return;
	for (size_t i = 0; f->event && i < f->events; i++)
		free(f->event[i].name);
	free(f->event);
	free(f->id);
	free(f->index);
	free(f->bytes);
	free(f);
}

uint32_t perfdata_next_tool(const struct perfdata_file *f, uint64_t *at, const void **body, size_t *bytes)
{
	const uint64_t start = f->header.data.offset, size = f->header.data.size;
	struct perf_event_header h;
	while (size - *at >= sizeof h) {
		const uint8_t *record = f->bytes + start + *at;
		memcpy(&h, record, sizeof h);
		if (h.size < sizeof h || h.size > size - *at)
			break;
		*at += h.size;
		if (h.type < 64)
			continue;
		*body = record + sizeof h;
		*bytes = h.size - sizeof h;
		return h.type;
	}
	return 0;
}

size_t perfdata_event_of_id(const struct perfdata_file *f, uint64_t id)
{
	const struct event *e = perfdata_id_event(f, id);
	return e ? (size_t)(e - f->event) : SIZE_MAX;
}

const char *perfdata_word(const struct perfdata_file *f, size_t i)
{
	struct cursor c = at(f, &f->feature[PERFDATA_CMDLINE]);
	const char *word = NULL;
	if (i >= take_u32(&c))
		return NULL;
	for (size_t k = 0; k <= i; k++)
		word = take_string(&c);
	return word;
}

size_t perfdata_event_count(const struct perfdata_file *f) { return f->events; }
const struct perfdata_event_info *perfdata_event_info(const struct perfdata_file *f, size_t event)
{
	return &f->event[event].info;
}
const char *perfdata_note(const struct perfdata_file *f) { return f->note; }
void perfdata_rewind(struct perfdata_file *f) { f->next = 0; }

int perfdata_next(struct perfdata_file *f, struct perfdata_record *r)
{
	if (f->next == f->indexed)
		return 0;
	perfdata_decode(f, f->index[f->next++].offset, r);
	return 1;
}

uint64_t perfdata_chain_ip(const struct perfdata_record *r, size_t i)
{
	uint64_t ip;
	memcpy(&ip, (const uint8_t *)r->chain + 8 * i, 8);
	return ip;
}
