/* A program that is slow in two ways: it follows a list through orders, and adds the amounts of those that are open.
 *
 * Each order has three cache lines, of which only the first is used; and an unpredictable branch tests whether it is
 * open.  With -DTUNED the fields that it uses are in arrays of their own, and the sum has no branch.
 *
 * docs/measured/slow-to-tuned.md goes from the one to the other.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

enum { ORDERS = 3000, LAPS = 40 };

#ifndef TUNED
static struct { uint32_t next, amount, state; char customer[180]; } order[ORDERS] __attribute__((aligned(64)));
#define NEXT(i)   order[i].next
#define AMOUNT(i) order[i].amount
#define STATE(i)  order[i].state
#else
static uint32_t next[ORDERS], amount[ORDERS];
static uint8_t  state[ORDERS];
#define NEXT(i)   next[i]
#define AMOUNT(i) amount[i]
#define STATE(i)  state[i]
#endif

/* One list through all orders, in an order drawn at random (S. Sattolo, 1986). */
__attribute__((noinline)) static void fill(void)
{
	uint32_t r = 1;
	for (unsigned i = 0; i < ORDERS; i++)
		NEXT(i) = i;
	for (unsigned i = ORDERS - 1; i > 0; i--) {
		r = r * 1664525 + 1013904223;
		unsigned k = (unsigned)((uint64_t)r * i >> 32), other = NEXT(k);
		NEXT(k) = NEXT(i);
		NEXT(i) = other;
		AMOUNT(i) = r >> 20;
		STATE(i) = r >> 15 & 1;
	}
}

__attribute__((noinline)) static uint64_t open_amounts(unsigned laps)
{
	uint64_t sum = 0;
	unsigned at = 0;
	for (unsigned n = 0; n < laps * ORDERS; n++) {
#ifdef TUNED
		sum += AMOUNT(at) & -(uint32_t)STATE(at);
#else
		if (STATE(at))
			sum += AMOUNT(at);
#endif
		at = NEXT(at);
	}
	return sum;
}

int main(int argc, char **argv)
{
	fill();
	printf("%llu\n", (unsigned long long)open_amounts(argc > 1 ? (unsigned)atoi(argv[1]) : LAPS));
	return 0;
}
