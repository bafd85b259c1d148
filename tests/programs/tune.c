/* SPDX-License-Identifier: GPL-2.0-or-later
 * tune hurts|helps|small|branches ROUNDS: programs with different best settings of a machine
 * (tests/system/analysis/tune.sh).
 *
 * The first round is not measured: --start measured --stop finished selects the others.
 *
 *   hurts     reads one line of each of 3,000 pairs, in an order without a stride, again and again: these lines
 *             fit in a cache of 256 KB, but not
 *             with the other line of each pair, which the adjacent-line prefetcher fetches needlessly
 *   helps     reads every line of 512 KB in turn; each line holds the address of the next, so the full latency
 *             shows unless a prefetcher was there first
 *   small     sums 2 KB in a loop whose branches always go the same way: much smaller caches and predictors
 *             are enough
 *   branches  like small, with branches on random bits, which no predictor can predict: no setting of the
 *             machine saves their cost
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum { PAIRS = 3000, STEP = 1117 /* no common factor with it */, LINES = 8192 };
static volatile uint64_t area[(PAIRS + LINES) * 16] __attribute__((aligned(4096)));

static uint64_t hurts(unsigned rounds)
{
	uint64_t at = 0;
	for (unsigned n = rounds * PAIRS; n--; ) {
		const uint64_t odd = (at ^ at >> 2 ^ at >> 5) & 1;	/* so that all sets are used equally */
		at += STEP + area[at * 16 + odd * 8];			/* which is 0 */
		at = at >= PAIRS ? at - PAIRS : at;
	}
	return at;
}

static uint64_t helps(unsigned rounds)
{
	uint64_t at = 0;
	for (unsigned n = rounds; n--; at = 0)
		for (unsigned i = 0; i < LINES; i++)
			at += 8 + area[at];
	return at;
}

static uint64_t small(unsigned rounds, int branches)
{
	uint64_t sum = 0, x = 88172645463325252u;
	for (unsigned n = rounds; n--; )
		for (unsigned i = 0; i < 256; i++) {
			sum += area[i] ^ i;
			if (branches) {
				x ^= x << 13, x ^= x >> 7, x ^= x << 17;
				if (x & 1)
					__asm__ volatile("lea 3(%0,%0,2), %0" : "+r"(sum));
			}
		}
	return sum;
}

static uint64_t run(const char *what, unsigned rounds)
{
	return !strcmp(what, "hurts") ? hurts(rounds) : !strcmp(what, "helps") ? helps(rounds) : small(rounds,
		!strcmp(what, "branches"));
}

__attribute__((noinline)) uint64_t measured(const char *what, unsigned rounds)
{
	return run(what, rounds);
}

__attribute__((noinline)) void finished(void)
{
	__asm__ volatile("");
}

int main(int argc, char **argv)
{
	if (argc < 3)
		return 2;
	const uint64_t warm = run(argv[1], 1);
	const uint64_t sum = measured(argv[1], (unsigned)atoi(argv[2]));
	finished();
	return (sum ^ warm) == 1;
}
