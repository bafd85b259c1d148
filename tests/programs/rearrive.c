/* SPDX-License-Identifier: GPL-2.0-or-later
 * rearrive TRACE TO HOW: copies a trace with the spans of its processes in another order of arrival, as if the host
 * had scheduled the traced processes differently; the order within each process stays. HOW: first (one process
 * after the other), last (the first process comes last), turns (one span of each in turn). */
#include "stream/stream_internal.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { PROCESSES = 64 };
struct span { struct stream_span s; struct span *next; };
static struct span *first[PROCESSES], **last[PROCESSES];
static struct trace_writer *writer;
static struct err err;

static int fail(const char *what)
{
	fprintf(stderr, "rearrive: %s: %s\n", what, err.text);
	return 1;
}

static void write_one(unsigned process)
{
	struct span *s = first[process];
	if (!s)
		return;
	if (trace_writer_span(writer, &s->s, &err))
		exit(fail("cannot write"));
	first[process] = s->next;
}

static bool any(void)
{
	for (unsigned i = 0; i < PROCESSES; i++)
		if (first[i])
			return true;
	return false;
}

int main(int argc, char **argv)
{
	struct trace_reader *reader;
	struct stream_span span;
	int got;
	if (argc != 4 || (strcmp(argv[3], "first") && strcmp(argv[3], "last") && strcmp(argv[3], "turns")))
		return 2;
	if (trace_reader_open(&reader, argv[1], &err) || trace_writer_open(&writer, argv[2], false, &err))
		return fail("cannot open");
	for (unsigned i = 0; i < PROCESSES; i++)
		last[i] = &first[i];
	while ((got = trace_reader_next(reader, &span, &err)) == STREAM_SPAN) {
		struct span *s = malloc(sizeof *s);
		uint64_t *words = malloc(span.count * sizeof *words);
		if (!s || !words || span.process >= PROCESSES)
			return 1;
		memcpy(words, span.words, span.count * sizeof *words);
		*s = (struct span){ .s = span };
		s->s.words = words;
		*last[span.process] = s;
		last[span.process] = &s->next;
	}
	if (got < 0)
		return fail("cannot read");
	/* they appear in the order of their numbers */
	for (unsigned i = 0; i < PROCESSES && strcmp(argv[3], "first"); i++)
		write_one(i);
	while (any())
		for (unsigned i = 0; i < PROCESSES; i++) {
			unsigned process = strcmp(argv[3], "last") ? i : PROCESSES - 1 - i;
			write_one(process);
			while (strcmp(argv[3], "turns") && first[process])
				write_one(process);
		}
	if (trace_writer_end(writer, TRACE_END_WHOLE, trace_reader_wait_status(reader), "", &err))
		return fail("cannot write");
	trace_writer_close(writer);
	trace_reader_close(reader);
	return 0;
}
