// SPDX-License-Identifier: GPL-2.0-or-later
// Functions with long names, which differ in an argument of a template in the middle.  templates N makes N rounds.
#include <cstdlib>

namespace warehouse {
namespace inventory {
template <typename First, typename Second> struct pair_of { First first; Second second; };
struct keep_everything {};
struct forget_the_oldest {};

template <typename Key, typename Value, typename Policy> struct bounded_cache {
	Key key;
	Value value;

	__attribute__((noinline)) Key insert(Key k, unsigned n)
	{
		for (unsigned i = 0; i < n; i++)
			key = static_cast<Key>(key * 7 + k + static_cast<Key>(i));
		return key;
	}
};
} // namespace inventory
} // namespace warehouse

using namespace warehouse::inventory;
static bounded_cache<unsigned long, pair_of<int, double>, keep_everything> by_number;
static bounded_cache<unsigned short, pair_of<int, double>, keep_everything> by_code;
static bounded_cache<unsigned short, pair_of<int, double>, forget_the_oldest> recent;

int main(int argc, char **argv)
{
	unsigned long x = 7, rounds = argc > 1 ? static_cast<unsigned long>(atoi(argv[1])) : 1000;
	for (unsigned long i = 0; i < rounds; i++)
		x = by_number.insert(x, 100) + by_code.insert(static_cast<unsigned short>(i), 100) +
			recent.insert(static_cast<unsigned short>(x), 100);
	return x == 1;
}
