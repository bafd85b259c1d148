/* SPDX-License-Identifier: GPL-2.0-or-later
 * Private to src/output/pipeline: the writers of one format each. */
#ifndef OUTPUT_PIPELINE_PRIVATE_H
#define OUTPUT_PIPELINE_PRIVATE_H
#include "output/pipeline/pipeline_rows.h"

int  pipeline_kanata(FILE *to, const struct pipeline *p, struct err *err);
void pipeline_o3(FILE *to, const struct pipeline *p);
/* Writes a text without the characters that end a field or a line. */
void pipeline_put(FILE *to, const char *text);
#endif
