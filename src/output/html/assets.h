/* SPDX-License-Identifier: GPL-2.0-or-later
 * The source of a page, which is part of the program. */
#ifndef OUTPUT_HTML_ASSETS_H
#define OUTPUT_HTML_ASSETS_H
#include <stdbool.h>
#include <stddef.h>

struct html_asset { const char *file, *text; bool script; };

/* Returns an asset, in the order of assets.def; NULL behind the last. */
const struct html_asset *html_asset(size_t index);
#endif
