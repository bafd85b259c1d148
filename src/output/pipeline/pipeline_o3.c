/* SPDX-License-Identifier: GPL-2.0-or-later
 * Writes an excerpt as gem5's O3PipeView lines, which gem5's util/o3-pipeview.py and Konata read.
 *
 * Source: gem5, src/cpu/o3/dyn_inst.cc, DynInst::~DynInst (the lines), and util/o3-pipeview.py, process_trace (what a
 * reader expects): seven lines for a uop, "O3PipeView:STAGE:TICK" for fetch, decode, rename, dispatch, issue, complete
 * and retire.  fetch goes on with ":0xADDRESS:UOP:SEQUENCE:instruction", retire with ":store:TICK".  A stage that was
 * not reached has tick 0; a squashed uop's retire is 0, and Konata takes a uop with any 0 for squashed.
 *
 * A cycle is 1000 ticks, o3-pipeview.py's default; since 0 means never, cycle 0 is tick 1000.  The model has one moment
 * for fetch and decode, and one for rename and dispatch.  store: 0, which is never.
 */
#include "output/pipeline/pipeline_private.h"
#include <inttypes.h>

static uint64_t tick(const struct pipeline_row *r, uint64_t cycle)
{
	return cycle == PIPELINE_NEVER || (r->wrong && cycle >= r->retire) ? 0 : 1000 * (cycle + 1);
}

void pipeline_o3(FILE *to, const struct pipeline *p)
{
	size_t n;
	const struct pipeline_row *row = pipeline_rows(p, &n);
	for (size_t i = 0; i < n; i++) {
		const struct pipeline_row *r = &row[i];
		const uint64_t fetch = tick(r, r->fetch), alloc = tick(r, r->alloc);
		fprintf(to, "O3PipeView:fetch:%" PRIu64 ":0x%08" PRIx64 ":%" PRIu32 ":%zu:", fetch, r->ip, r->nth,
			i + 1);
		pipeline_put(to, pipeline_text(p, r)->insn);
		fprintf(to,
			"\nO3PipeView:decode:%" PRIu64 "\nO3PipeView:rename:%" PRIu64
			"\nO3PipeView:dispatch:%" PRIu64 "\nO3PipeView:issue:%" PRIu64 "\nO3PipeView:complete:%" PRIu64
			"\nO3PipeView:retire:%" PRIu64 ":store:0\n",
			fetch, alloc, alloc, tick(r, r->dispatch), tick(r, r->complete),
			r->wrong ? 0 : tick(r, r->retire));
	}
}
