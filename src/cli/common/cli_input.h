/* SPDX-License-Identifier: GPL-2.0-or-later
 * How much of its input a running program has read, for the progress line.
 */
#ifndef CLI_INPUT_H
#define CLI_INPUT_H
#include <sys/types.h>

/* The share of its largest input that the process has read so far: of the regular files that it has open for reading,
 * as far as it is neither at the beginning nor at the end.  From 0 to 1; -1: there is none, or it cannot be known. */
double cli_input_share(pid_t pid);
#endif
