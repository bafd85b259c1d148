/* SPDX-License-Identifier: GPL-2.0-or-later
 * Puts the files of page/ into the program.  The assembler reads them, so no build needs a generator. */
#include "output/html/assets.h"

#define HTML_ASSET(name, file) \
	__asm__(".pushsection .rodata\nhtml_" #name ": .incbin \"output/html/page/" file "\"\n.byte 0\n.popsection"); \
	extern const char html_##name[] __attribute__((visibility("hidden")));
#define HTML_SCRIPT HTML_ASSET
#include "output/html/assets.def"
#undef HTML_ASSET
#undef HTML_SCRIPT

#define HTML_ASSET(name, file) { file, html_##name, false },
#define HTML_SCRIPT(name, file) { file, html_##name, true },
static const struct html_asset all[] = {
#include "output/html/assets.def"
};

const struct html_asset *html_asset(size_t index)
{
	return index < sizeof all / sizeof *all ? &all[index] : NULL;
}
