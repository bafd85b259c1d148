/* SPDX-License-Identifier: GPL-2.0-or-later
 * The part "summary" of a page: what the file says about its recording.
 *
 *   {"command": [WORD, ...], "machine": TEXT, "cpuid": TEXT, "by": TEXT, "note": TEXT}
 *
 * A text that the file does not have is "".  note: what is wrong with the file.
 */
#include "output/html/part.h"
#include "util/json.h"

int html_part_summary(FILE *to, struct html_run *r, struct err *err)
{
	static const struct { const char *name; enum perfdata_feature feature; } text[] = {
		{ "machine", PERFDATA_CPUDESC }, { "cpuid", PERFDATA_CPUID }, { "by", PERFDATA_VERSION } };
	const char *word;
	(void)err;
	fputs("{\"command\": [", to);
	for (size_t i = 0; (word = perfdata_word(r->file, i)); i++) {
		fputs(i ? ", " : "", to);
		json_string(to, word);
	}
	fputs("]", to);
	for (size_t i = 0; i < sizeof text / sizeof *text; i++) {
		word = perfdata_feature_text(r->file, text[i].feature);
		fprintf(to, ", \"%s\": ", text[i].name);
		json_string(to, word ? word : "");
	}
	fputs(", \"note\": ", to);
	json_string(to, perfdata_note(r->file));
	fputs("}", to);
	return 0;
}
