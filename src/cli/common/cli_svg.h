/* SPDX-License-Identifier: GPL-2.0-or-later
 * Text in SVG files. */
#ifndef CLI_SVG_H
#define CLI_SVG_H
#include <stdio.h>

/* Writes the text with the characters that mean something in XML escaped.  Control characters and bytes that are not
 * ASCII become '?', because a program's name may hold any bytes. */
void cli_svg_text(FILE *out, const char *text);
#endif
