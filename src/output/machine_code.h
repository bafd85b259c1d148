/* SPDX-License-Identifier: GPL-2.0-or-later
 * What a whole machine executed of its kernel's code, for perf.data: annotate shows it.
 */
#ifndef OUTPUT_MACHINE_CODE_H
#define OUTPUT_MACHINE_CODE_H
#include "output/perfdata/perfdata.h"
#include "stream/format.h"

struct machine_code;

struct machine_code *machine_code_create(void);		/* NULL: out of memory */
void machine_code_destroy(struct machine_code *m);	/* NULL: does nothing */
/* A block of the stream, whose lengths were checked (run_sink.defined).  Where code was changed, the last one counts.
 */
void machine_code_add(struct machine_code *m, const struct st_block_def *def);
/* Writes the feature PERFDATA_KERNEL_CODE, if there is anything.  0 or ERR_NOMEM. */
int  machine_code_keep(struct machine_code *m, struct perfdata_writer *w);
#endif
