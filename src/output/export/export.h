/* SPDX-License-Identifier: GPL-2.0-or-later
 * Exports a perf.data file to the formats of other tools: every sample with its call chain, added up.
 *
 *   callgrind    callgrind.out: costs of each event by instruction and source line; calls with the cost below them
 *   firefox      JSON of the Firefox Profiler (a processed profile): samples of each thread in order of time
 *   folded       a line for each stack of one event, "comm;outermost;...;innermost VALUE": flamegraph.pl, inferno
 *   pprof        profile.proto, gzipped: go tool pprof
 *   speedscope   JSON with samples in order of time: https://www.speedscope.app
 *
 * Values are periods, the number of events that the samples stand for.  The total of an event is the same as in
 * softpmu report.
 */
#ifndef OUTPUT_EXPORT_H
#define OUTPUT_EXPORT_H
#include "output/profile.h"
#include <stdio.h>

/* An instruction in a function.  One in inlined functions has several places behind each other: that of the function
 * that has the code, then those of the functions that are inlined there, the outermost first. */
struct export_place {
	struct symbols_place at;
	uint64_t ip;		/* of the first sample there */
	bool caller;		/* it is a return address; file and line are those of the call */
	const char *name;	/* name of its function; "0x401136" if there is none */
	/* source line in the function: of a call that is inlined, or of the instruction; "" and 0 if unknown */
	const char *file;
	unsigned line;
	const char *own_file;	/* source file of the function itself */
	size_t function;	/* index in function[] */
	size_t inlined;		/* so many places of inlined functions follow */
	bool is_inlined;	/* it is one of them */
};
struct export_function {
	const struct symbol *symbol;
	const struct symbols_object *object;
	const char *name, *dso, *path, *file;
	size_t place;
};
struct export_stack {
	const char *comm;
	size_t first, depth;	/* range of frame[]: indices of places, innermost first, inlined ones among them */
	uint64_t samples;
};
struct export_sample { size_t stack, event; uint64_t value, time; uint32_t pid, tid; };	/* time: ns */

struct export {
	size_t events;
	const char **event_name;
	uint64_t *total;	/* by event */
	struct export_place *place;	size_t places;
	struct export_function *function; size_t functions;
	struct export_stack *stack;	size_t stacks;
	uint64_t *value;	/* [stack * events + event] */
	size_t *frame;		size_t frames;
	struct export_sample *sample;	size_t samples;		/* in order of time */
	/* private */
	bool inlines;
	struct profile *profile;
	char **text;		size_t texts;
	size_t *place_slot, place_slots, *stack_slot, stack_slots;
	size_t place_room, function_room, stack_room, frame_room, sample_room;
};

/* inlines: functions that are inlined have frames of their own. */
int  export_load(struct export **out, struct perfdata_file *file, bool inlines, struct err *err);
void export_free(struct export *x);
/* A failed write shows in ferror(to).  event: index of the event to print. */
void export_folded(FILE *to, const struct export *x, size_t event);
void export_speedscope(FILE *to, const struct export *x, const char *title);
int  export_callgrind(FILE *to, const struct export *x, const char *command, struct err *err);
int  export_firefox(FILE *to, const struct export *x, const char *title, struct err *err);
int  export_pprof(FILE *to, const struct export *x, struct err *err);
#endif
