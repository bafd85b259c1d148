/* SPDX-License-Identifier: GPL-2.0-or-later
 * Text in SVG files (cli_svg.h). */
#include "cli/common/cli_svg.h"

void cli_svg_text(FILE *out, const char *text)
{
	for (const unsigned char *c = (const unsigned char *)text; *c; c++)
		switch (*c) {
		case '<': fputs("&lt;", out); break;
		case '>': fputs("&gt;", out); break;
		case '&': fputs("&amp;", out); break;
		case '"': fputs("&quot;", out); break;
		default: fputc(*c < ' ' || *c >= 127 ? '?' : *c, out);
		}
}
