/* SPDX-License-Identifier: GPL-2.0-or-later
 * Private to src/output/pipeline: the writers of one format each. */
#ifndef OUTPUT_PIPELINE_PRIVATE_H
#define OUTPUT_PIPELINE_PRIVATE_H
#include "output/pipeline/pipeline_rows.h"

int  pipeline_kanata(FILE *to, const struct pipeline *p, struct err *err);
void pipeline_o3(FILE *to, const struct pipeline *p);
void pipeline_json(FILE *to, const struct pipeline *p);
/* The stage that delivered the row. */
enum pipeline_stage_kind pipeline_front(const struct pipeline_row *r);
/* The texts, for pipeline_row.text; NULL behind the last. */
const struct pipeline_text *pipeline_text_number(const struct pipeline *p, size_t number);
/* Writes a text without the characters that end a field or a line. */
void pipeline_put(FILE *to, const char *text);
#endif
