/* SPDX-License-Identifier: GPL-2.0-or-later
 * NetBurst's words about hardware threads (thread_words.h). */
#include "session/events/thread_words.h"
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

enum { MOST = 8, ANY = (2 << MOST) - 1 };
#define ALL_USR UINT32_C(0x5555)

static bool is(const char *word, size_t n, const char *text)
{
	return strlen(text) == n && !memcmp(word, text, n);
}

/* threads=SET, a number as C writes it. */
static int set_of_threads(struct thread_words *w, const char *word, size_t n, struct err *err)
{
	char text[16] = "", *end = text;
	if (n - 8 < sizeof text)
		memcpy(text, word + 8, n - 8);
	const unsigned long set = isdigit((unsigned char)*text) ? strtoul(text, &end, 0) : 0;
	if (*end || !set || set >> MOST)
		return err_set(err, ERR_INPUT, "'%.*s': a set of hardware threads, bit n for thread n, such as 0xf",
			(int)(n > 60 ? 60 : n), word);
	for (unsigned thread = 0; thread < MOST; thread++)
		w->who |= (set >> thread & 1) << 2 * thread;
	return 0;
}

int thread_word(struct thread_words *w, const char *word, size_t n, bool *known, struct err *err)
{
	static const struct { const char *name; uint16_t set; } active[] = { { "none", 1 }, { "single", 2 },
		{ "both", 4 }, { "any", ANY }, { "0", 1 }, { "1", 2 }, { "2", 4 }, { "3", 8 }, { "4", 16 },
		{ "5", 32 }, { "6", 64 }, { "7", 128 }, { "8", 256 } };
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
			if (is(word + 7, n - 7, active[i].name)) {
				w->active |= active[i].set;
				return 0;
			}
		return err_set(err, ERR_INPUT,
			"'%.*s': ACTIVE THREAD is none, single, both or any, or a number of threads up to %u",
			(int)(n > 60 ? 60 : n), word, MOST);
	}
	if (n >= 8 && !memcmp(word, "threads=", 8))
		return set_of_threads(w, word, n, err);
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
	if (threads == 2 && w->active & (w->active - 1) && w->active != ANY)
		return err_set(err, ERR_UNSUPPORTED,
			"'%s': ACTIVE THREAD is one of none, single, both and any, unless a core has more than two "
			"hardware threads (smt.threads)", spelled);
	if (w->active != ANY && w->active >> (threads + 1))
		return err_set(err, ERR_UNSUPPORTED, "'%s': the core has %u hardware threads, no more can run",
			spelled, threads);
	if (w->who && !(w->who & ALL_USR))
		return err_set(err, ERR_UNSUPPORTED,
			"'%s': the tracer sees user mode only, so OS bits alone count nothing", spelled);
	return 0;
}
