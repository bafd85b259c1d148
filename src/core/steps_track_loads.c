/* SPDX-License-Identifier: GPL-2.0-or-later
 * steps.c with loads remembered (clears.h): a core runs this once other cores have taken lines from it.
 */
#define STEPS core_steps_watched
#define WATCH true
#include "core/steps.c"
