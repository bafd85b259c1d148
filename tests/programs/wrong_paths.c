/* SPDX-License-Identifier: GPL-2.0-or-later
 * wrongpath MODE ROUNDS: programs whose wrong paths have effects (tests/system/model/wrong-path.sh)
 *
 *   hard    a random branch that resolves late, and in each of its arms a load from 8 MB: the wrong arm's load is
 *           executed, not retired
 *   helps   a random branch on a load that misses; after it the loads of the next rounds, which do not depend on it
 *   stores  like hard, with a store to a line of its own: the wrong arm's store executes but is never written
 *   meets   a random branch that resolves late; after both arms a load from 8 MB at an address that a division
 *           computes: the
 *           wrong path does not know the address, but the right path reaches the same load
 *   known   a random branch that resolves late, and in each arm another branch on a bit that is known long before,
 *           in the wrong arm, too
 *   unknown the same, but a division computes the bit, so the wrong path does not know it
 *   hurts   a random branch that resolves late; the wrong arm loads lines that are not needed, and the right path
 *           reads 32 KB,
 *           which fit in L1D only without those lines
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { BIG = 8 << 20, SMALL = 32 << 10, JUNK = 1 << 20, LINE = 64 };
static uint8_t one[BIG], other[BIG], junk[2 * JUNK];
static struct node { struct node *next; uint8_t rest[LINE - sizeof(struct node *)]; } ring[SMALL / LINE];

static uint64_t seed = 42;
static inline uint64_t draw(void)
{
	seed = seed * 6364136223846793005u + 1442695040888963407u;
	return seed >> 24;
}

/* The lowest bit, known after about 60 cycles; the compiler keeps a branch on it as a branch. */
static inline uint64_t late(uint64_t v)
{
	for (unsigned i = 0; i < 20; i++)
		__asm__ volatile("imul $3, %0, %0" : "+r"(v) : : "cc");
	return v & 1;
}
#define HERE(what) __asm__ volatile("# " what : "+r"(sum))

static __attribute__((noinline)) uint64_t hard(uint64_t rounds)
{
	uint64_t sum = 0;
	while (rounds--) {
		uint64_t d = draw(), at = d >> 1 & (BIG - 1);
		if (late(d)) {
			HERE("one");
			sum += one[at];
		} else {
			HERE("other");
			sum += other[at];
		}
	}
	return sum;
}

static __attribute__((noinline)) uint64_t stores(uint64_t rounds)
{
	uint64_t sum = 0;
	while (rounds--) {
		uint64_t d = draw(), at = d >> 1 & (BIG - 1);
		if (late(d)) {
			HERE("one");
			one[at] = 7;
		} else {
			HERE("other");
			other[at] = 7;
		}
	}
	return sum;
}

static __attribute__((noinline)) uint64_t helps(uint64_t rounds)
{
	uint64_t sum = 0;
	while (rounds--) {
		if (one[draw() & (BIG - 1)] & 1) {
			HERE("odd");
			sum += 3;
		} else {
			HERE("even");
			sum ^= 5;
		}
	}
	return sum;
}

static __attribute__((noinline)) uint64_t meets(uint64_t rounds)
{
	uint64_t sum = 0, nothing = 0;
	while (rounds--) {
		uint64_t d = draw(), at = d, rest = 0, by = 3;
		if (late(late(late(late(d + nothing))) | d)) {
			HERE("odd");
			sum += 3;
		} else {
			HERE("even");
			sum ^= 5;
		}
		__asm__ volatile("div %2" : "+a"(at), "+d"(rest) : "r"(by) : "cc");
		nothing = one[at & (BIG - 1)];
		sum += nothing;
		__asm__ volatile("and $0, %0" : "+r"(nothing) : : "cc");	/* the next round waits for it */
	}
	return sum;
}

static inline __attribute__((always_inline)) uint64_t early(uint64_t rounds, int unknown)
{
	uint64_t sum = 0;
	while (rounds--) {
		uint64_t d = draw(), bit = d >> 1 & 1, rest = 0;
		if (unknown)
			__asm__ volatile("div %2" : "+a"(bit), "+d"(rest) : "r"((uint64_t)1) : "cc");
		uint64_t v = d;
		/* as late, without branches of its own */
		__asm__ volatile(".rept 20\n\timul $3, %0, %0\n\t.endr" : "+r"(v) : : "cc");
		if (v & 1) {
			HERE("one");
			if (bit) {
				HERE("one, set");
				sum += 3;
			} else {
				HERE("one, clear");
				sum ^= 5;
			}
		} else {
			HERE("other");
			if (bit) {
				HERE("other, set");
				sum += 7;
			} else {
				HERE("other, clear");
				sum ^= 9;
			}
		}
	}
	return sum;
}
static __attribute__((noinline)) uint64_t known(uint64_t rounds)
{
	return early(rounds, 0);
}
static __attribute__((noinline)) uint64_t unknown(uint64_t rounds)
{
	return early(rounds, 1);
}

static __attribute__((noinline)) uint64_t hurts(uint64_t rounds)
{
	uint64_t sum = 0;
	const struct node *p = ring;
	while (rounds--) {
		uint64_t d = draw() & 1;
		const uint8_t *fresh = junk + (rounds * 16 * LINE & (JUNK - 1));
		/* how far apart 16 loads are: in the arm where d is 1 nothing if it is 1, and likewise in the other */
		uint64_t if_zero = (1 - d) * LINE, if_one = d * LINE;
		for (unsigned i = 0; i < 16; i++)
			p = p->next;
		/* and no branch on d before that one */
		const uintptr_t here = (uintptr_t)ring, there = (uintptr_t)fresh - here;
		uintptr_t q = here + (1 - d) * there, r = here + d * there;
		__asm__ volatile("" : "+r"(q), "+r"(r), "+r"(if_zero), "+r"(if_one));
		if (late(d)) {
			HERE("one");
			for (unsigned i = 0; i < 16; i++)
				__asm__ volatile("movzbl (%0,%1), %%eax\n\tadd %1, %0" : "+r"(q) : "r"(if_zero) : "eax",
					"cc");
		} else {
			HERE("zero");
			for (unsigned i = 0; i < 16; i++)
				__asm__ volatile("movzbl (%0,%1), %%eax\n\tadd %1, %0" : "+r"(r) : "r"(if_one) : "eax",
					"cc");
		}
		sum += (uintptr_t)p & 64;
	}
	return sum;
}

int main(int argc, char **argv)
{
	const char *mode = argc > 1 ? argv[1] : "";
	uint64_t rounds = argc > 2 ? strtoull(argv[2], NULL, 10) : 1000, sum;
	enum { NODES = sizeof ring / sizeof *ring };
	for (size_t i = 0; i < sizeof one; i += LINE) {
		for (unsigned k = 0; k < LINE; k += 8) {
			uint64_t v = draw();
			memcpy(one + i + k, &v, sizeof v);
		}
		other[i] = 1;
	}
	for (size_t i = 0; i < sizeof junk; i += LINE)
		junk[i] = 1;
	for (unsigned i = 0; i < NODES; i++)
		ring[i].next = &ring[(i + 173) % NODES];
	if (!strcmp(mode, "hard"))
		sum = hard(rounds);
	else if (!strcmp(mode, "stores"))
		sum = stores(rounds);
	else if (!strcmp(mode, "helps"))
		sum = helps(rounds);
	else if (!strcmp(mode, "meets"))
		sum = meets(rounds);
	else if (!strcmp(mode, "known"))
		sum = known(rounds);
	else if (!strcmp(mode, "unknown"))
		sum = unknown(rounds);
	else if (!strcmp(mode, "hurts"))
		sum = hurts(rounds);
	else
		return 2;
	if (!strcmp(mode, "stores"))	/* what is in memory */
		for (size_t i = 0; i < sizeof one; i += 16)
			sum = sum * 31 + one[i] + other[i];
	printf("%llu\n", (unsigned long long)sum);
	return 0;
}
