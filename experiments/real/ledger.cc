/* SPDX-License-Identifier: GPL-2.0-or-later
 * A small ledger: accounts in a map, their bookings in lists, rules of interest as classes.
 * experiments/real-changes.sh asks the tools what to change in it; MENDED is what was changed then.
 *   ledger [BOOKINGS [MONTHS]] */
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <list>
#include <map>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

struct booking { uint32_t day; int32_t cents; std::string text; };

struct rule {
	virtual ~rule() = default;
	virtual int64_t interest(int64_t cents) const = 0;
};
struct flat : rule { int64_t interest(int64_t cents) const override { return cents / 4800; } };
struct stepped : rule {
	int64_t interest(int64_t cents) const override { return cents < 100000 ? cents / 9600 : cents / 3600; }
};
struct overdrawn : rule { int64_t interest(int64_t cents) const override { return cents < 0 ? cents / 1200 : 0; } };

struct account {
	std::string owner;
	std::unique_ptr<rule> own;
#ifdef MENDED
	std::vector<int32_t> cents;	/* what a balance needs, one behind the other */
	std::vector<booking> bookings;
#else
	std::list<booking> bookings;
#endif
};

#ifdef MENDED
using directory = std::unordered_map<std::string, account>;
#else
using directory = std::map<std::string, account>;
#endif

static uint64_t state = 88172645463325252;
static uint32_t next_random()
{
	state ^= state << 13;
	state ^= state >> 7;
	state ^= state << 17;
	return (uint32_t)(state >> 32);
}

static std::unique_ptr<rule> make_rule(uint32_t kind)
{
	if (kind == 0)
		return std::make_unique<flat>();
	if (kind == 1)
		return std::make_unique<stepped>();
	return std::make_unique<overdrawn>();
}

static void book(account &a, uint32_t day, int32_t cents)
{
	a.bookings.push_back({ day, cents, "transfer of day " + std::to_string(day) });
#ifdef MENDED
	a.cents.push_back(cents);
#endif
}

static int64_t balance(const account &a)
{
	int64_t sum = 0;
#ifdef MENDED
	for (int32_t cents : a.cents)
		sum += cents;
#else
	for (const booking &b : a.bookings)
		sum += b.cents;
#endif
	return sum;
}

int main(int argc, char **argv)
{
	const uint32_t bookings = argc > 1 ? (uint32_t)atoi(argv[1]) : 60000;
	const uint32_t months = argc > 2 ? (uint32_t)atoi(argv[2]) : 12;
	directory accounts;
	for (uint32_t i = 0; i < 500; i++) {
		account &a = accounts["account number " + std::to_string(i * 7919 % 500)];
		a.owner = "owner " + std::to_string(i);
		a.own = make_rule(next_random() % 3);
	}
	for (uint32_t i = 0; i < bookings; i++) {
		account &a = accounts["account number " + std::to_string(next_random() % 500)];
		book(a, i % 360, (int32_t)(next_random() % 20000) - 9000);
	}
	int64_t total = 0;
	for (uint32_t month = 0; month < months; month++)
		for (auto &[name, a] : accounts)
			total += a.own->interest(balance(a));
	printf("%zu accounts, interest %lld\n", accounts.size(), (long long)total);
}
