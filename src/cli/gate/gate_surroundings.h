/* SPDX-License-Identifier: GPL-2.0-or-later
 * What a benchmark of `softpmu gate` sees of its surroundings, so that it does the same in every checkout, on every
 * machine and under every CI system:
 *
 *   environment      PATH as the caller has it; HOME=/, LC_ALL=C, TZ=UTC, PYTHONHASHSEED=0, PERL_HASH_SEED=0; what
 *                    --env adds; nothing else.  What other variables there are, and how long they are, moves nothing:
 *                    the stack begins at the same address (run_options.env)
 *   standard files   input and output are /dev/null; standard error is a file, which is shown if the program fails
 *   limit of stack   8 MiB
 *   addresses        fixed, as in every run of softpmu
 *
 * It still sees the clock, its process number, the working folder and its path, the files that it reads, random
 * numbers of the kernel, and which instructions the host's processor has.
 */
#ifndef GATE_SURROUNDINGS_H
#define GATE_SURROUNDINGS_H
#include "util/err.h"
#include <stdbool.h>
#include <stdio.h>
#include <sys/resource.h>

struct gate_surroundings { int saved[3]; FILE *errors; struct rlimit stack; bool limited; };

/* The environment: added[i] is NAME=VALUE, or NAME for the caller's value.  A later one of a name replaces an earlier
 * one.  NULL: no memory. gate_environment_free frees it. */
char **gate_environment(const char *const *added, size_t count);
void gate_environment_free(char **env);
/* The standard files and the limit, for this process and what it starts, until gate_surroundings_leave. */
int  gate_surroundings_enter(struct gate_surroundings *s, struct err *err);
/* show: prints what was written to standard error. */
void gate_surroundings_leave(struct gate_surroundings *s, bool show);
/* Which of the instruction sets that libraries choose their functions by the host has, "avx2 bmi2 ..."; text: room
 * for 128 bytes. */
const char *gate_processor(char *text);
#endif
