/* SPDX-License-Identifier: GPL-2.0-or-later
 * NetBurst's words about hardware threads (thread_words.h). */
#include "session/events/thread_words.h"
#include <string.h>

enum { MOST = 8 };
#define ALL_USR UINT32_C(0x5555)

static bool is(const char *word, size_t n, const char *text)
{
	return strlen(text) == n && !memcmp(word, text, n);
}

int thread_word(struct thread_words *w, const char *word, size_t n, bool *known, struct err *err)
{
	static const char *const active[] = { "none", "single", "both", "any" };
	*known = true;
	if (n > 3 && word[0] == 't' && word[1] >= '0' && word[1] < '0' + MOST && word[2] == '_') {
		unsigned thread = (unsigned)(word[1] - '0');
		if (is(word + 3, n - 3, "usr") || is(word + 3, n - 3, "os")) {
			w->who |= 1u << (2 * thread + (word[3] == 'o'));
			return 0;
		}
	}
	if (n == 10 && !memcmp(word, "ovf_pmi_t", 9) && word[9] >= '0' && word[9] < '0' + MOST) {
		w->pmi |= (uint8_t)(1u << (word[9] - '0'));
		return 0;
	}
	if (n >= 7 && !memcmp(word, "active=", 7)) {
		for (unsigned i = 0; i < sizeof active / sizeof *active; i++)
			if (is(word + 7, n - 7, active[i])) {
				w->active = (uint8_t)(i + 1);
				return 0;
			}
		return err_set(err, ERR_INPUT, "'%.*s': ACTIVE THREAD is none, single, both or any",
			(int)(n > 60 ? 60 : n), word);
	}
	*known = false;
	return 0;
}

int thread_words_check(const struct thread_words *w, const char *spelled, unsigned siblings, struct err *err)
{
	const unsigned threads = siblings > 1 ? siblings : 1;
	if (!w->who && !w->active && !w->pmi)
		return 0;
	if (threads == 1)
		return err_set(err, ERR_UNSUPPORTED,
			"'%s': hardware threads share a core only with --smt; without it a core has one", spelled);
	if (w->who >> 2 * threads || w->pmi >> threads)
		return err_set(err, ERR_UNSUPPORTED, "'%s': the core has %u hardware threads, from t0 to t%u", spelled,
			threads, threads - 1);
	if (w->who && !(w->who & ALL_USR))
		return err_set(err, ERR_UNSUPPORTED,
			"'%s': the tracer sees user mode only, so OS bits alone count nothing", spelled);
	return 0;
}
