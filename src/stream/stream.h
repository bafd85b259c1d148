/* SPDX-License-Identifier: GPL-2.0-or-later
 * Where the stream comes from: live traced processes, or a file it was recorded to.
 *
 * A stream is a sequence of spans: whole records (format.h) of one process, in the order in which the process produced
 * them.  This folder checks only the records' framing: a span never ends inside a record that the tracer published
 * completely.  The consumer checks ids and lengths.
 * ST_CHUNK_END closes its span: the consumer must skip the words after it, which have no meaning.
 *
 * Only one thread may use a stream.  The caller must not ignore SIGCHLD (the program's exit status would be lost).
 */
#ifndef STREAM_STREAM_H
#define STREAM_STREAM_H
#include "stream/format.h"
#include "util/err.h"
#include <stdbool.h>
#include <stddef.h>

struct stream;

struct stream_launch {
	char *const *argv;	/* program and arguments; argv[0] is looked up in PATH */
	const char *tracer_dir;	/* holds softpmu-tracer-amd64-linux and softpmu-tracer-x86-linux */
	bool follow;		/* trace forked and executed processes too */
	bool waits;		/* with follow: the stream ends with the last of them, not with the launched program */
	bool regs;		/* ask for every general-purpose register write */
	bool assists;		/* ask which floating-point operations meet denormal numbers (ST_SLOT_ASSIST) */
	const char *save;	/* also write the stream to this trace file; NULL: no */
	/* The program's environment, in which its stack's place depends on no text's length.  NULL: the caller's, as
	 * it is. */
	char *const *env;
};

/* A run of whole records of one process; valid until the next call of stream_next. */
struct stream_span {
	uint32_t process;	/* dense index, from 0, in order of appearance; a process keeps it over exec */
	uint32_t pid;
	const uint64_t *words;
	size_t count;		/* 64-bit words */
};

/* The path of a whole record that was read; NULL: it has none that ends. */
static inline const char *st_symbols_path(const struct st_symbols *s)
{
	const size_t bytes = ST_HEADER_LOW(s->header);
	const char *path = (const char *)(s + 1);
	return bytes >= sizeof *s && s->path_bytes && s->path_bytes <= bytes - sizeof *s && !path[s->path_bytes - 1]
		? path : NULL;
}

enum stream_state { STREAM_END = 0, STREAM_SPAN = 1, STREAM_IDLE = 2 };

/* Finds the file that a command name stands for and makes the checks of find_program.c.  path: room for PATH_MAX. */
int stream_find_program(const char *name, char *path, size_t bytes, struct err *err);
/* Checks the program (it exists, is executable, has a supported word size, is not setuid, has a format that the tracer
 * can run), then starts it under the tracer.  The program keeps softpmu's stdin, stdout, stderr, signal mask and
 * process group, and sees nothing else of softpmu. */
int stream_launch(struct stream **out, const struct stream_launch *how, struct err *err);
/* Opens a recorded stream. */
int stream_open(struct stream **out, const char *path, struct err *err);
/* The same, of a file of live points, of which some parts are left out (trace_file.h): takes says of each, in their
 * order, whether it is read; of the others come their digests.  Other streams are read whole. */
typedef bool stream_takes(void *context, uint32_t part);
int stream_open_parts(struct stream **out, const char *path, stream_takes *takes, void *context, struct err *err);
/* Gives the next span.  STREAM_IDLE: nothing came for about 100 ms (live only), ask again.  STREAM_END: every traced
 * process has ended (or the whole file was read).  Negative: error (a tracer died: ERR_TRACER; a file is cut
 * short: ERR_TRUNCATED); what was delivered before is good.  Each error is reported once and concerns one process, or
 * the saving of the stream; further calls deliver the other processes' spans, and finally STREAM_END. */
int stream_next(struct stream *s, struct stream_span *span, struct err *err);
/* Answers the request (ST_CLIENT) that this process waits for; does nothing for a file or a process that is gone. */
void stream_answer(struct stream *s, uint32_t process, const struct st_answer *answer);
/* Stops reading: the programs run on untraced (reader_gone).  stream_next then gives STREAM_IDLE until they have
 * ended.  Of a file it gives spans whose words mean nothing, for the sake of the end's status and errors. */
void stream_detach(struct stream *s);
/* Sends a signal to the launched program; does nothing for files. */
void stream_kill(struct stream *s, int signo);
/* wait(2) status of the launched program, after STREAM_END; of a file: made from its ST_EXIT, or 0. */
int stream_wait_status(const struct stream *s);
/* Which share of a file was read, 0 to 1; -1: it is not known (a program, a pipe). */
double stream_share(const struct stream *s);
/* How many words a recorded stream holds, found quickly; 0: it is not known (a pipe, a damaged file). */
uint64_t stream_words(const char *path);
/* Does this file hold live points?  *out: how long its windows are.  False also if it cannot be read. */
bool stream_points(const char *path, struct st_points *out);
/* Is this file the stream of a whole machine (format.h, ST_LEVEL)?  False also if it cannot be read, or is a pipe. */
bool stream_machine(const char *path);
/* pid of the launched program; 0 for a file. */
int stream_pid(const struct stream *s);
/* Kills what still runs under the tracer, removes the rings, frees s. */
void stream_close(struct stream *s);
#endif
