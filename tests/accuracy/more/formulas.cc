// SPDX-License-Identifier: GPL-2.0-or-later
// Formulas as trees of objects with virtual functions, for tests/accuracy/more.sh: formulas N builds random trees,
// evaluates, simplifies, prints and derives them.
#include <cstdint>
#include <cstdlib>
#include <iostream>
#include <memory>
#include <string>
#include <vector>

static uint32_t seed = 42;
static uint32_t next(uint32_t range) { seed = seed * 1103515245 + 12345; return (seed >> 8) % range; }

struct Node;
using Tree = std::shared_ptr<const Node>;

struct Node {
	virtual ~Node() = default;
	virtual double value(const std::vector<double> &x) const = 0;
	virtual Tree derive(unsigned by) const = 0;
	virtual void print(std::string &to) const = 0;
	virtual unsigned size() const { return 1; }
	virtual bool is(double) const { return false; }
};

struct Constant : Node {
	double c;
	explicit Constant(double c) : c(c) {}
	double value(const std::vector<double> &) const override { return c; }
	Tree derive(unsigned) const override { return std::make_shared<Constant>(0); }
	void print(std::string &to) const override { to += std::to_string(int(c)); }
	bool is(double v) const override { return c == v; }
};

struct Variable : Node {
	unsigned i;
	explicit Variable(unsigned i) : i(i) {}
	double value(const std::vector<double> &x) const override { return x[i]; }
	Tree derive(unsigned by) const override { return std::make_shared<Constant>(by == i); }
	void print(std::string &to) const override { to += char('a' + i); }
};

struct Pair : Node {
	Tree l, r;
	Pair(Tree l, Tree r) : l(std::move(l)), r(std::move(r)) {}
	virtual char sign() const = 0;
	void print(std::string &to) const override
	{
		to += '(';
		l->print(to);
		to += sign();
		r->print(to);
		to += ')';
	}
	unsigned size() const override { return 1 + l->size() + r->size(); }
};

static Tree sum(Tree l, Tree r);
static Tree product(Tree l, Tree r);

struct Sum : Pair {
	using Pair::Pair;
	char sign() const override { return '+'; }
	double value(const std::vector<double> &x) const override { return l->value(x) + r->value(x); }
	Tree derive(unsigned by) const override { return sum(l->derive(by), r->derive(by)); }
};

struct Product : Pair {
	using Pair::Pair;
	char sign() const override { return '*'; }
	double value(const std::vector<double> &x) const override { return l->value(x) * r->value(x); }
	Tree derive(unsigned by) const override { return sum(product(l->derive(by), r), product(l, r->derive(by))); }
};

struct Greater : Pair {
	using Pair::Pair;
	char sign() const override { return '|'; }
	double value(const std::vector<double> &x) const override
	{
		double a = l->value(x), b = r->value(x);
		return a > b ? a : b;
	}
	Tree derive(unsigned by) const override { return std::make_shared<Greater>(l->derive(by), r->derive(by)); }
};

static Tree sum(Tree l, Tree r)
{
	return l->is(0) ? r : r->is(0) ? l : std::make_shared<Sum>(l, r);
}

static Tree product(Tree l, Tree r)
{
	if (l->is(0) || r->is(0))
		return std::make_shared<Constant>(0);
	return l->is(1) ? r : r->is(1) ? l : std::make_shared<Product>(l, r);
}

static Tree random_tree(unsigned depth)
{
	if (!depth || !next(6)) {
		if (next(2))
			return std::make_shared<Variable>(next(4));
		return std::make_shared<Constant>(next(4));
	}
	Tree l = random_tree(depth - 1), r = random_tree(depth - 1);
	switch (next(3)) {
	case 0: return sum(l, r);
	case 1: return product(l, r);
	default: return std::make_shared<Greater>(l, r);
	}
}

int main(int argc, char **argv)
{
	unsigned n = argc > 1 ? unsigned(atoi(argv[1])) : 1000, nodes = 0;
	double total = 0;
	std::string text;
	for (unsigned i = 0; i < n / 15; i++) {
		Tree tree = random_tree(7), slope = tree->derive(i % 4);
		for (unsigned k = 0; k < 20; k++)
			total += tree->value({ 0.1 * k, 0.5, -0.25, 1 }) > slope->value({ 0.5, 0.1 * k, 1, -1 });
		nodes += slope->size();
		text.clear();
		tree->print(text);
		total += double(text.size() % 7);
	}
	std::cout << nodes << ' ' << total << '\n';
}
