/* SPDX-License-Identifier: GPL-2.0-or-later
 * Options by tables: every spelling, every kind of value, the messages about what is refused, and the texts made
 * from the rows.  The tables of softpmu's own commands are checked by tests/system/tree/docs.sh. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include "util/options.h"
#include <stdlib.h>
#include <string.h>

struct target {
	bool flag, off, heard;
	unsigned count, whole, words;
	enum { NONE, RED, GREEN, BLUE } color;
	uint64_t scaled;
	double number, percent, ms;
	const char *text, *called, *word[4];
	const char *list[2];
	unsigned lists;
};

static int call(void *target, const struct option *o, const char *value, struct err *err)
{
	struct target *t = target;
	(void)o;
	if (value && !strcmp(value, "bad"))
		return err_set(err, ERR_INPUT, "bad was said");
	t->called = value ? value : "";
	t->heard = true;
	return 0;
}

static bool is_digit(const char *next)
{
	return *next >= '0' && *next <= '9';
}

static const struct option rows[] = { OPT_GROUP("First"), OPT_FLAG('f', "flag", struct target, flag, "Set the flag."),
	OPT_CLEAR(0, "no-flag", struct target, flag, "Clear the flag."),
	OPT_COUNT('d', "detailed", struct target, count, "Say more."), OPT_IGNORED('N', "nothing", "Accepted."),
	OPT_TEXT('o', "output", "FILE", struct target, text, "Write to FILE.", .filled = true),
	OPT_LIST('e', "event", "NAME", struct target, list, lists, "Count NAME. May be repeated.",
		.more = "one takes a whole list"),
	OPT_GROUP("Second"), OPT_CHOICE('c', "color", "red|green|blue", struct target, color, RED, "Paint."),
	OPT_WHOLE('w', "whole", "N", struct target, whole, 2, 9, "Take N."),
	OPT_SCALED('s', "scaled", "N", struct target, scaled, 1, 0x1p62, "Take N."),
	OPT_NUMBER(0, "number", "X", struct target, number, -1, 1, "Take X."),
	OPT_PERCENT(0, "percent", "P", struct target, percent, "Take P."),
	OPT_MILLISECONDS('I', "interval", "MS", struct target, ms, "Wait."),
	OPT_CALL('x', "exact", "N", call, "Call with N.", .optional = true),
	OPT_CALL('g', "graph", "N", call, "Call with N.", .optional = true, .takes = is_digit),
	OPT_CALL(0, "secret", NULL, call, "As --exact.", .hidden = true),
	OPT_REFUSED('p', "pid", "it cannot be had", "take something else"), OPT_END };
static const struct option more[] = { OPT_FLAG(0, "other", struct target, off, "Set the other."), OPT_END };

static struct target t, second;
static struct err err;
static int next;

static int add_word(void *context, const char *word, struct err *e)
{
	(void)e;
	((struct target *)context)->word[((struct target *)context)->words++] = word;
	return 0;
}

/* Parses the words of a line, which is split at blanks; a ^ stands for an empty word. */
static int parse_with(const char *line, int (*word)(void *context, const char *word, struct err *err),
	void *first_target)
{
	static char text[256];
	static char *argv[32];
	const struct option_set set[] = { { rows, first_target }, { more, &second }, { NULL, NULL } };
	const struct option_parser p = { .command = "try", .set = set, .word = word, .context = &t };
	int argc = 1;
	memset(&t, 0, sizeof t);
	memset(&second, 0, sizeof second);
	memset(&err, 0, sizeof err);
	argv[0] = "try";
	snprintf(text, sizeof text, "%s", line);
	for (char *w = strtok(text, " "); w; w = strtok(NULL, " "))
		argv[argc++] = strcmp(w, "^") ? w : "";
	argv[argc] = NULL;
	next = -1;
	return options_parse(&p, argc, argv, &next, &err);
}

static int parse(const char *line)
{
	return parse_with(line, NULL, &t);
}

static void refused(const char *line, const char *text)
{
	assert_int_equal(parse(line), ERR_INPUT);
	assert_string_equal(err.text, text);
}

static void test_a_value_is_attached_or_the_next_word(void **state)
{
	(void)state;
	const char *const spelled[] = { "--output=a.b", "--output a.b", "-oa.b", "-o a.b" };
	for (unsigned i = 0; i < 4; i++) {
		assert_int_equal(parse(spelled[i]), 1);
		assert_string_equal(t.text, "a.b");
	}
	assert_int_equal(parse("--output=x=y"), 1);
	assert_string_equal(t.text, "x=y");
	assert_int_equal(parse("-o -f"), 1);	/* a value may look like an option, as with perf */
	assert_string_equal(t.text, "-f");
	assert_false(t.flag);
}

static void test_letters_may_share_a_word(void **state)
{
	(void)state;
	assert_int_equal(parse("-ddfo out"), 1);
	assert_int_equal(t.count, 2);
	assert_true(t.flag);
	assert_string_equal(t.text, "out");
	assert_int_equal(parse("-fNw7 -d"), 1);
	assert_int_equal(t.whole, 7);
	assert_int_equal(t.count, 1);
}

static void test_the_last_one_decides(void **state)
{
	(void)state;
	assert_int_equal(parse("--flag --no-flag"), 1);
	assert_false(t.flag);
	assert_int_equal(parse("--no-flag --flag -w 3 -w 4"), 1);
	assert_true(t.flag);
	assert_int_equal(t.whole, 4);
}

static void test_options_end_at_a_word_or_two_dashes(void **state)
{
	(void)state;
	assert_int_equal(parse("-f prog -d"), 1);
	assert_int_equal(next, 2);
	assert_int_equal(t.count, 0);
	assert_int_equal(parse("-f -- -d"), 1);
	assert_int_equal(next, 2);
	assert_int_equal(parse("-f - -d"), 1);
	assert_int_equal(next, 2);
	assert_int_equal(parse("-f"), 1);
	assert_int_equal(next, 2);
}

static void test_words_may_stand_among_options(void **state)
{
	(void)state;
	assert_int_equal(parse_with("one -f two -- -d", add_word, &t), 1);
	assert_int_equal(t.words, 3);
	assert_string_equal(t.word[2], "-d");
	assert_true(t.flag);
}

static void test_help_is_asked_for(void **state)
{
	(void)state;
	assert_int_equal(parse("-f --help"), 0);
	assert_int_equal(parse("-h"), 0);
	assert_int_equal(parse("prog --help"), 1);
}

static void test_an_optional_value_must_be_attached(void **state)
{
	(void)state;
	assert_int_equal(parse("--exact 5"), 1);
	assert_string_equal(t.called, "");
	assert_int_equal(next, 2);
	assert_int_equal(parse("--exact=5"), 1);
	assert_string_equal(t.called, "5");
	assert_int_equal(parse("-x5"), 1);
	assert_string_equal(t.called, "5");
	assert_int_equal(parse("-g 5"), 1);	/* unless the next word looks like one */
	assert_string_equal(t.called, "5");
	assert_int_equal(parse("-g prog"), 1);
	assert_string_equal(t.called, "");
	assert_int_equal(next, 2);
}

static void test_numbers_have_a_range(void **state)
{
	(void)state;
	assert_int_equal(parse("-w 2 --number -0.5 --percent 12.5% -I 3ms -s 4k"), 1);
	assert_int_equal(t.whole, 2);
	assert_true(t.number == -0.5 && t.percent == 12.5 && t.ms == 3 && t.scaled == 4000);
	assert_int_equal(parse("-w 3e0 -s 2G -I 0.5 --percent 100"), 1);
	assert_true(t.whole == 3 && t.scaled == 2000000000 && t.ms == 0.5 && t.percent == 100);
	refused("-w 1", "option -w: '1' is not a whole number from 2 to 9");
	refused("--whole=10", "option --whole: '10' is not a whole number from 2 to 9");
	refused("-w 2.5", "option -w: '2.5' is not a whole number from 2 to 9");
	refused("-w -3", "option -w: '-3' is not a whole number from 2 to 9");
	refused("-w 3x", "option -w: '3x' is not a whole number from 2 to 9");
	refused("-w ^", "option -w: '' is not a whole number from 2 to 9");
	refused("-w nan", "option -w: 'nan' is not a whole number from 2 to 9");
	refused("-s 0", "option -s: '0' is not a whole number from 1 (suffixes k, M, G)");
	refused("-s 99999999999999999999",
		"option -s: '99999999999999999999' is not a whole number from 1 (suffixes k, M, G)");
	refused("-s 9999999999999G", "option -s: '9999999999999G' is not a whole number from 1 (suffixes k, M, G)");
	refused("--number=2", "option --number: '2' is not a number from -1 to 1");
	refused("--percent=101", "option --percent: '101' is not a percentage from 0 to 100");
	refused("-I 0", "option -I: '0' is not a number of milliseconds, at least 0.0001");
}

static void test_a_choice_is_one_of_its_words(void **state)
{
	(void)state;
	assert_int_equal(parse("-c green"), 1);
	assert_int_equal(t.color, GREEN);
	assert_int_equal(parse("--color=blue"), 1);
	assert_int_equal(t.color, BLUE);
	refused("-c re", "option -c: 're' is not one of red, green or blue");
	refused("-c red|green", "option -c: 'red|green' is not one of red, green or blue");
}

static void test_a_list_has_an_end(void **state)
{
	(void)state;
	assert_int_equal(parse("-e a --event=b"), 1);
	assert_int_equal(t.lists, 2);
	assert_string_equal(t.list[1], "b");
	refused("-e a -e b -e c", "more than 2 -e options; one takes a whole list");
}

static void test_what_is_wrong_is_one_line(void **state)
{
	(void)state;
	refused("--flg", "unknown option --flg; nearest: --flag (softpmu try --help)");
	refused("--outptu=x", "unknown option --outptu=x; nearest: --output (softpmu try --help)");
	refused("-z", "unknown option -z (softpmu try --help)");
	refused("-fz", "unknown option -fz (softpmu try --help)");
	refused("--output", "option --output needs a value (softpmu try --help)");
	refused("-fo", "option -o needs a value (softpmu try --help)");
	refused("--flag=1", "option --flag takes no value (softpmu try --help)");
	refused("--output=", "option --output: the value is empty");
	refused("-p 3", "option -p: it cannot be had; take something else");
	refused("--pid=3", "option --pid: it cannot be had; take something else");
	refused("--exact=bad", "bad was said");
}

static void test_sets_are_searched_in_order(void **state)
{
	(void)state;
	assert_int_equal(parse("--other -f"), 1);
	assert_true(second.off && t.flag);
	assert_int_equal(
		parse_with("--output a -d --exact=bad --other prog", NULL, NULL), 1); /* recognised, not stored */
	assert_null(t.text);
	assert_int_equal(t.count, 0);
	assert_int_equal(next, 6);
}

static void test_help_is_wrapped(void **state)
{
	static const struct option few[] = { OPT_GROUP("One"),
		OPT_FLAG('f', "flag", struct target, flag,
			"Words that go on for so long that they do not fit into what is left of a line."),
		OPT_TEXT(0, "a-long-name", "WITH-A-VALUE", struct target, text, "Short."),
		OPT_CALL('x', "exact", "N", call, "Call.", .optional = true), OPT_REFUSED('p', "pid", "no", NULL),
		OPT_REFUSED(0, "all", "no", NULL), OPT_END };
	char *text = NULL;
	size_t bytes = 0;
	FILE *f = open_memstream(&text, &bytes);
	(void)state;
	options_help(f, few);
	fclose(f);
	assert_string_equal(text, "One:\n"
		"  -f, --flag              Words that go on for so long that they do not fit into\n"
		"                          what is left of a line.\n"
		"      --a-long-name WITH-A-VALUE\n"
		"                          Short.\n"
		"  -x, --exact[=N]         Call.\n"
		"\nRefused, with the reason: -p (--pid), --all\n");
	free(text);
}

static void test_a_paragraph_keeps_its_lines(void **state)
{
	char *text = NULL;
	size_t bytes = 0;
	FILE *f = open_memstream(&text, &bytes);
	(void)state;
	options_wrap(f, "One two.\n  as   it is\nThree.", 0, 0);
	fclose(f);
	assert_string_equal(text, "One two.\n  as   it is\nThree.\n");
	free(text);
}

static void test_mdoc_escapes_what_it_must(void **state)
{
	static const struct option few[] = {
		OPT_CHOICE('c', "color", "red|no", struct target, color, RED, "Paint. Then \\t and --x dry."), OPT_END
	};
	char *text = NULL;
	size_t bytes = 0;
	FILE *f = open_memstream(&text, &bytes);
	(void)state;
	options_mdoc(f, few);
	fclose(f);
	assert_string_equal(text,
		".Bl -tag -width Ds\n.It Fl c , Fl -color Cm \\&red | Cm \\&no\nPaint.\nThen \\et and \\--x "
		"dry.\n.El\n");
	free(text);
}

static void test_faults_of_a_table_are_found(void **state)
{
	char text[256];
	(void)state;
	assert_string_equal(options_fault(rows, text, sizeof text), "");
	const struct option twice[] = { OPT_FLAG('f', "flag", struct target, flag, "One."),
		OPT_FLAG('f', "two", struct target, off, "Two."), OPT_END };
	assert_string_equal(options_fault(twice, text, sizeof text), "two: declared twice");
	const struct option silent[] = { OPT_FLAG('f', "flag", struct target, flag, ""), OPT_END };
	assert_string_equal(options_fault(silent, text, sizeof text), "flag: no help");
	const struct option range[] = { OPT_WHOLE('w', "whole", "N", struct target, whole, 3, 3, "Take."), OPT_END };
	assert_string_equal(options_fault(range, text, sizeof text), "whole: no range");
	const struct option phrase[] = { OPT_FLAG('f', "flag", struct target, flag, "a flag"), OPT_END };
	assert_string_equal(options_fault(phrase, text, sizeof text), "flag: the help is no sentence: a flag");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_a_value_is_attached_or_the_next_word),
		cmocka_unit_test(test_letters_may_share_a_word),
		cmocka_unit_test(test_the_last_one_decides),
		cmocka_unit_test(test_options_end_at_a_word_or_two_dashes),
		cmocka_unit_test(test_words_may_stand_among_options),
		cmocka_unit_test(test_help_is_asked_for),
		cmocka_unit_test(test_an_optional_value_must_be_attached),
		cmocka_unit_test(test_numbers_have_a_range),
		cmocka_unit_test(test_a_choice_is_one_of_its_words),
		cmocka_unit_test(test_a_list_has_an_end),
		cmocka_unit_test(test_what_is_wrong_is_one_line),
		cmocka_unit_test(test_sets_are_searched_in_order),
		cmocka_unit_test(test_help_is_wrapped),
		cmocka_unit_test(test_a_paragraph_keeps_its_lines),
		cmocka_unit_test(test_mdoc_escapes_what_it_must),
		cmocka_unit_test(test_faults_of_a_table_are_found),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
