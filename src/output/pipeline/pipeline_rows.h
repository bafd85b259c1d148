/* SPDX-License-Identifier: GPL-2.0-or-later
 * An excerpt of a run, uop by uop: when each was in which stage of the pipeline.  Writers and pages draw it.
 *
 * A row is a uop, retired or squashed.  Rows are in order of their fetch, and so in program order within a thread; the
 * rows of a wrong path stand behind the mispredicted branch.  The first row of an instruction has nth 0.
 *
 *   struct pipeline *p;
 *   pipeline_create(&p, symbols, 1 << 20, &err);
 *   pipeline_thread(p, pid, tid, "comm", &thread, &err);	a number for each thread
 *   pipeline_batch(p, thread, batch);				all its batches, with all uops
 *   pipeline_finish(p, &err);
 *   row = pipeline_rows(p, &n);
 *   for (i = 0; i < n; i++)
 *           stages = pipeline_stages(&row[i], stage); ...
 *
 * The text of an instruction is read from the file that its address lies in, when the first uop from there comes.  Code
 * that lies in no file has no text, and code that is replaced at the same address keeps the old one.
 * A block's uops know the sources of their registers only.
 * Leaves out: decoding as a stage of its own (a record's `fetch` is the cycle in which the front end delivers the slot
 * to the uop queue), and what wrong paths fetch but do not allocate.
 */
#ifndef OUTPUT_PIPELINE_H
#define OUTPUT_PIPELINE_H
#include "analysis/block/block.h"
#include "analysis/exact.h"
#include "softpmu/record.h"
#include "symbols/symbols.h"
#include "util/err.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#define PIPELINE_NEVER UINT64_MAX
enum { PIPELINE_SOURCES = 5 };	/* four registers, a store */

struct pipeline_row {
	uint64_t ip;		/* of its instruction; block: offset in the code */
	uint64_t addr;		/* data address or branch target; 0: none */
	uint64_t is, did;	/* enum spmu_is, enum spmu_did */
	/* Cycles: delivered by the front end; allocated (renamed, in the scheduler); operands ready; dispatched to its
	 * port; result ready; retired, or squashed.  A squashed uop has PIPELINE_NEVER for stages that it did not
	 * reach.  Without a port, `dispatch` is the cycle in which it would be.  None is above the next one. */
	uint64_t fetch, alloc, ready, dispatch, complete, retire;
	uint32_t insn;		/* number of its instruction in its thread, from 0; wrong paths count */
	uint32_t nth;		/* number within its instruction; REP instructions have any number */
	uint32_t text;		/* for pipeline_text */
	uint16_t thread;
	uint8_t  port;		/* 255: none */
	/* enum exact_cause: what it itself spends its time on, whoever waits for it; EXACT_CAUSES: not known (block) */
	uint8_t  cause;
	bool     wrong;		/* of a wrong path: squashed */
	/* Rows whose results it takes, through registers or from the store buffer: 1 + index; 0: none, or not in the
	 * excerpt.  They are known if batches have details (core/record/detail.h), and not of wrong paths. */
	uint32_t source[PIPELINE_SOURCES];
};
struct pipeline_text {
	uint64_t ip;
	char *insn;		/* Intel's syntax; of a macro-fused pair both, with "; " between them; "": unknown */
	char *place;		/* "function+0x12 (file.c:34)"; "": unknown */
};
struct pipeline_thread { uint32_t pid, tid; char comm[16]; };

enum pipeline_stage_kind {
	/* delivered to the uop queue; by whom, if that is known: the uop cache (or trace cache), the legacy decoders,
	 * the microcode sequencer, the loop buffer */
	PIPELINE_FETCH, PIPELINE_DSB, PIPELINE_MITE, PIPELINE_MS, PIPELINE_LSD,
	PIPELINE_ALLOC,		/* allocated: waits for operands */
	PIPELINE_ISSUE,		/* ready: waits to be issued to its port */
	PIPELINE_EXECUTE,	/* on its way through the port, or through memory */
	PIPELINE_COMPLETE,	/* complete: waits for older ones to retire */
	PIPELINE_RETIRE,	/* the cycle in which it retires */
	PIPELINE_STAGES
};
struct pipeline_stage { enum pipeline_stage_kind kind; uint64_t begin, end; };
/* "F" "DSB" "MITE" "MS" "LSD" "Al" "Is" "X" "Cm" "Rt" */
const char *pipeline_stage_name(enum pipeline_stage_kind kind);
const char *pipeline_stage_help(enum pipeline_stage_kind kind);

struct pipeline;
/* symbols: where code lies; NULL: no texts.  It must live until pipeline_finish.  most: rows that are kept. */
int  pipeline_create(struct pipeline **out, struct symbols *symbols, size_t most, struct err *err);
void pipeline_destroy(struct pipeline *p);
int  pipeline_thread(struct pipeline *p, uint32_t pid, uint32_t tid, const char *comm, unsigned *number,
	struct err *err);
/* It has another name now. */
void pipeline_rename(struct pipeline *p, unsigned thread, const char *comm);
void pipeline_batch(struct pipeline *p, unsigned thread, const struct spmu_batch *b);
/* Orders the rows.  ERR_NOMEM if memory ran out, now or before. */
int  pipeline_finish(struct pipeline *p, struct err *err);
/* The uops of a block's timeline (block_result.uop).  They are one thread, and finished. */
int  pipeline_of_block(struct pipeline **out, const struct block_result *r, struct err *err);

const struct pipeline_row *pipeline_rows(const struct pipeline *p, size_t *n);
const struct pipeline_text *pipeline_text(const struct pipeline *p, const struct pipeline_row *r);
size_t pipeline_threads(const struct pipeline *p);
const struct pipeline_thread *pipeline_thread_info(const struct pipeline *p, size_t number);
/* Uops came for which there was no room. */
bool pipeline_full(const struct pipeline *p);
/* The stages that take time, in order; each ends where the next begins.  Returns how many. */
unsigned pipeline_stages(const struct pipeline_row *r, struct pipeline_stage stage[PIPELINE_STAGES]);

enum pipeline_format {
	PIPELINE_KANATA,	/* pipeline_kanata.c: for Konata */
	PIPELINE_O3,		/* pipeline_o3.c: as gem5's O3PipeView */
	PIPELINE_JSON,		/* pipeline_json.c: for a page of report --html */
};
/* By the end of a file's name: ".o3", ".o3pipeview" and ".out" are O3PipeView, ".json" is JSON, all others Kanata. */
enum pipeline_format pipeline_format_of(const char *name);
/* A failed write shows in ferror(to). */
int  pipeline_write(FILE *to, const struct pipeline *p, enum pipeline_format format, struct err *err);
#endif
