/* SPDX-License-Identifier: GPL-2.0-or-later
 * softpmu tune's parts: cmd_tune.c searches on the model, and hands to the others what begins with their word.
 * A part that is not in this build is refused by name. */
#ifndef CLI_TUNE_H
#define CLI_TUNE_H

/* argv[0] is the word: list, show, apply, forget; --software; --native.  Each returns the exit status. */
int cmd_tune_store(int argc, char **argv) __attribute__((weak));	/* tune_store.c: the profile store */
int cmd_tune_software(int argc, char **argv) __attribute__((weak));	/* tune_software.c: the program itself */
int cmd_tune_native(int argc, char **argv) __attribute__((weak));	/* tune_native.c: the machine that this runs on */
#endif
