/* SPDX-License-Identifier: GPL-2.0-or-later
 * What the files of this folder share: the program check, the run directory, a ring, the live source, and the trace
 * file.  Nothing outside src/stream and its tests includes this.
 */
#ifndef STREAM_INTERNAL_H
#define STREAM_INTERNAL_H
#include "stream/stream.h"
#include "stream/trace_writer.h"
#include <limits.h>
#include <sys/types.h>

/* ---- find_program.c: which file will run, and can it run under the tracer? ---- */
struct program {
	char path[PATH_MAX];	/* the file that execvp would run */
	unsigned word_bytes;	/* 8 or 4: of the ELF file, or of the interpreter that a #! line leads to */
};
/* Fails with ERR_INPUT or ERR_UNSUPPORTED and a line for the user that says why. */
int program_find(struct program *p, const char *name, struct err *err);

/* ---- rundir.c: the private directory of one run ---- */
struct rundir {
	char path[PATH_MAX];	/* "" when there is none */
	int fd;			/* the directory, for the *at calls */
	int lock;		/* flock held as long as this softpmu lives */
	int announce;		/* the announce pipe: open for reading and writing, so it never reads as ended */
};
/* Makes the directory, after removing those of softpmu processes that died. */
int rundir_create(struct rundir *d, struct err *err);
void rundir_remove(struct rundir *d);
/* Removes the run directories below base whose owner is dead.  With min_age_s, an unlocked directory must be that old
 * in seconds (a new one is unlocked for a moment).  Returns how many were removed. */
int rundir_sweep(const char *base, int min_age_s);
/* Reads the tails of log.*, oldest first, at most size - 1 bytes; always NUL-terminated. */
void rundir_read_log(const struct rundir *d, char *text, size_t size);

/* ---- stream_ring.c: the reader's side of one ring ---- */
struct ring {
	struct ring *next;	/* ring of a later image of the same process */
	struct st_control *control;
	const uint8_t *data;
	uint64_t read, taken;	/* our own positions; the control page's `read` is never trusted */
	uint64_t written;	/* last value seen */
	uint32_t serial;
};
/* Maps a ring file.  ERR_TRACER if the file is not a ring. */
int ring_map(struct ring **out, int dir_fd, uint32_t pid, uint32_t serial, struct err *err);
void ring_unmap(struct ring *r);
/* 1: *words and *count are the next span; 0: nothing new is published; ERR_TRACER: the control page is corrupt. */
int ring_take(struct ring *r, const uint64_t **words, size_t *count, struct err *err);
/* Returns the space of what was taken to the tracer. */
void ring_release(struct ring *r);
void ring_set_reader_gone(struct ring *r);
/* How many processes this one forked, or tried to, that are to be traced. */
uint32_t ring_forks(const struct ring *r);
/* True while the process may be about to execute a program that makes a ring of its own. */
bool ring_executes(const struct ring *r);
void ring_answer(struct ring *r, const struct st_answer *answer);
bool ring_ended(const struct ring *r);	/* true when the tracer said that no more will come */
/* Sleeps until more is published, at most ns nanoseconds; 0, or EINTR if a signal was handled. */
int ring_wait(struct ring *r, long ns);

/* ---- live.c: processes under the tracer ---- */
struct live;
int live_launch(struct live **out, const struct stream_launch *how, struct err *err);
int live_next(struct live *l, struct stream_span *span, struct err *err);
void live_answer(struct live *l, uint32_t index, const struct st_answer *answer);
void live_detach(struct live *l);
void live_kill(struct live *l, int signo);
int live_wait_status(const struct live *l);
int live_pid(const struct live *l);
void live_close(struct live *l);

/* ---- spawn.c: starts the tracer ---- */
int tracer_spawn(pid_t *pid, const struct stream_launch *how, const struct program *p, const char *run_dir,
		 struct err *err);

/* ---- trace_read.c: the trace file (layout in trace_file.h); trace_writer.h writes it ---- */
struct trace_reader;
int trace_reader_open(struct trace_reader **out, const char *path, struct err *err);
/* As stream_open_parts; before the first call of trace_reader_next. */
void trace_reader_parts(struct trace_reader *r, stream_takes *takes, void *context);
int trace_reader_next(struct trace_reader *r, struct stream_span *span, struct err *err);
double trace_reader_share(const struct trace_reader *r);	/* as stream_share */
void trace_reader_skip(struct trace_reader *r);	/* further spans are not unpacked: their words mean nothing */
int trace_reader_wait_status(const struct trace_reader *r);
void trace_reader_close(struct trace_reader *r);
#endif
