/* SPDX-License-Identifier: GPL-2.0-or-later
 * Settings of this machine as text, `knob=value`, and how each is applied.
 *
 *  glibc.malloc.*=N             tunables of the C library (GLIBC_TUNABLES)            process
 *  thp=off                      PR_SET_THP_DISABLE                                    process
 *  spec.*=on|off                PR_SET_SPECULATION_CTRL                               process
 *  aslr=off                     personality ADDR_NO_RANDOMIZE                         process
 *  cpu=N                        sched_setaffinity to processor N                      process
 *  sched=batch                  SCHED_BATCH                                           process
 *  nice=N                       setpriority                                           process
 *  numa=interleave              set_mempolicy MPOL_INTERLEAVE over all nodes          process
 *  prefetch.*=on|off            a bit of a model-specific register of every processor machine
 *  l3.ways=half                 half of the L3's ways for the program alone (resctrl) machine
 *
 * A setting of a process ends with it; native_machine.h restores settings of the machine.
 */
#ifndef NATIVE_SETTING_H
#define NATIVE_SETTING_H
#include "util/err.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { NATIVE_SETTINGS = 16, NATIVE_WORD = 40, NATIVE_TEXT = NATIVE_SETTINGS * NATIVE_WORD * 2 };
enum native_kind {
	NATIVE_TUNABLE, NATIVE_THP, NATIVE_SPEC, NATIVE_ASLR, NATIVE_CPU, NATIVE_SCHED, NATIVE_NICE,
	NATIVE_NUMA, NATIVE_MSR, NATIVE_CACHE
};

/* A bit of a register that switches a prefetcher off when it is 1. */
struct native_bit { const char *knob, *vendor; uint32_t msr; unsigned bit; const char *what; };
struct native_setting {
	char knob[NATIVE_WORD], value[NATIVE_WORD];
	enum native_kind kind;
	long number;			/* the value, if it is a number; 1 for on, 0 for off */
};
struct native_set { struct native_setting at[NATIVE_SETTINGS]; unsigned n; };

/* Adds "knob=value"; a knob that is in the set already keeps its value.  ERR_INPUT: the knob or the value does not
 * exist. */
int  native_set_add(struct native_set *s, const char *text, struct err *err);
/* Adds all settings of `other` whose knobs are not in s. */
int  native_set_join(struct native_set *s, const struct native_set *other, struct err *err);
/* "knob=value knob=value"; "none" for the empty set.  text: room for NATIVE_TEXT. */
const char *native_set_text(const struct native_set *s, char *text);
bool native_is_machine(const struct native_setting *s);
bool native_set_machine(const struct native_set *s);	/* true if any of them is the machine's */
/* The prefetcher bits of a vendor (GenuineIntel, AuthenticAMD); returns how many, 0 if none are known. */
unsigned native_bits(const char *vendor, const struct native_bit **bit);
#endif
