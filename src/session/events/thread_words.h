/* SPDX-License-Identifier: GPL-2.0-or-later
 * Words of a NetBurst event that say which hardware threads it counts, where threads share a core (--smt).  They name
 * the registers' fields; neither perf nor libpfm4 has words for them (Linux sets these bits itself).
 *
 *   t0_usr, t1_usr               T0_USR and T1_USR of the ESCR
 *   t0_os, t1_os                 T0_OS, T1_OS
 *   active=none|single|both|any  ACTIVE THREAD of the CCCR
 *   ovf_pmi_t0, ovf_pmi_t1       OVF_PMI_T0, OVF_PMI_T1: whom an overflow interrupts
 *   threads=SET                  the same as tn_usr for each bit n of the number SET
 *
 * With more than two threads there are also t2_usr to t7_usr and so on; active=N counts while N threads run, and
 * several such words add up (registers of this model, MSR_THREADS in pmu.h).
 * An event without tN_ words counts, for each thread, its own thread.  One with them has one counter for the core.
 */
#ifndef SESSION_THREAD_WORDS_H
#define SESSION_THREAD_WORDS_H
#include "util/err.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct thread_words {
	uint32_t who;	/* bit 2n: tn_usr; 2n + 1: tn_os; 0: each thread counts its own */
	uint16_t active;	/* bit n: while n threads run; 0: not given */
	uint8_t pmi;	/* set of threads; 0: not given */
};

/* Takes a word of n bytes.  *known: it is one of these.  0; or ERR_INPUT with err. */
int thread_word(struct thread_words *w, const char *word, size_t n, bool *known, struct err *err);
/* Refuses what `siblings` threads of a core (0, 1: one) cannot count or would count as 0 in user mode.  spelled: the
 * event. */
int thread_words_check(const struct thread_words *w, const char *spelled, unsigned siblings, struct err *err);
#endif
