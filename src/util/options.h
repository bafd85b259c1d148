/* SPDX-License-Identifier: GPL-2.0-or-later
 * A command's options, declared once, a row each.  From the rows come the parser (options.c), the text of --help
 * and the lists of the man page (options_text.c), and completion in the shell (cli/common/cli_completion.c).
 *
 * Accepted spellings: --name=VALUE, --name VALUE, -nVALUE, -n VALUE; letters without a value may share a word (-dd,
 * -gv). An optional value must be attached, as --name=VALUE or -nVALUE, unless the row has `takes`. Left out:
 * abbreviated names, and --no-NAME for options that do not declare it.
 */
#ifndef UTIL_OPTIONS_H
#define UTIL_OPTIONS_H
#include "util/err.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

enum option_kind {
	OPTION_END,		/* ends a table */
	OPTION_GROUP,		/* a heading above the rows that follow: help */
	OPTION_FLAG,		/* bool: becomes true */
	OPTION_CLEAR,		/* bool: becomes false */
	OPTION_COUNT,		/* unsigned: one more each time */
	OPTION_IGNORED,		/* accepted because perf has it; changes nothing */
	OPTION_REFUSED,		/* never accepted; help: why not; more: what to use instead, or NULL */
	OPTION_TEXT,		/* const char *: the value, which lives as long as argv */
	OPTION_LIST,		/* array of const char * and a counter: every value; more: what to do about too many */
	OPTION_CHOICE,		/* enum, unsigned or bool: which of the words in `argument`; the first gives `first` */
	OPTION_WHOLE,		/* unsigned or uint64_t: a whole number from least to most */
	OPTION_SCALED,		/* likewise, with an optional suffix k, M or G (times 10^3, 10^6, 10^9) */
	OPTION_NUMBER,		/* double from least to most */
	OPTION_PERCENT,		/* double from least to most; a % sign may follow */
	OPTION_MILLISECONDS,	/* double; "10" or "10ms", at least 0.0001 */
	OPTION_CALL,		/* `call` does the work */
};

struct option {
	enum option_kind kind;
	char brief;		/* the letter, or 0 */
	bool optional;		/* the value may be missing */
	bool filled;		/* the value must not be empty */
	bool hidden;		/* parsed, but shown nowhere: another spelling of a row that is shown */
	const char *name;	/* without dashes; NULL: only a letter */
	const char *argument;	/* the value's name in texts; NULL: takes none */
	const char *help;	/* sentences */
	const char *more;
	size_t at, count_at;	/* of the member, and of a list's counter, in the target */
	unsigned bytes;		/* size of the member; of a list: of one element */
	unsigned room;		/* of a list: elements */
	int first;
	double least, most;
	/* value: NULL if there is none.  0, or an error; one that has printed its own line leaves err->text empty. */
	int (*call)(void *target, const struct option *o, const char *value, struct err *err);
	/* Whether the next word is this option's optional value. */
	bool (*takes)(const char *next);
};

/* Rows.  The compiler refuses a member whose type is not the one that the kind stores.  More members of struct
 * option may follow: .filled = true. */
#define OPT_MEMBER(type, member, as) \
	.at = offsetof(type, member) + 0 * sizeof(_Generic(((type *)0)->member, as: (char)1)), \
	.bytes = sizeof(((type *)0)->member)
#define OPT_GROUP(text) \
	{ .kind = OPTION_GROUP, .help = text }
#define OPT_FLAG(letter, long_name, type, member, text, ...) \
	{ .kind = OPTION_FLAG, .brief = letter, .name = long_name, OPT_MEMBER(type, member, bool), \
	.help = text, __VA_ARGS__ }
#define OPT_CLEAR(letter, long_name, type, member, text, ...) \
	{ .kind = OPTION_CLEAR, .brief = letter, .name = long_name, OPT_MEMBER(type, member, bool), \
	.help = text, __VA_ARGS__ }
#define OPT_COUNT(letter, long_name, type, member, text, ...) \
	{ .kind = OPTION_COUNT, .brief = letter, .name = long_name, OPT_MEMBER(type, member, unsigned), \
	.help = text, __VA_ARGS__ }
#define OPT_IGNORED(letter, long_name, text) \
	{ .kind = OPTION_IGNORED, .brief = letter, .name = long_name, .help = text }
#define OPT_REFUSED(letter, long_name, why, instead) \
	{ .kind = OPTION_REFUSED, .brief = letter, .name = long_name, .help = why, .more = instead }
#define OPT_TEXT(letter, long_name, value, type, member, text, ...) \
	{ .kind = OPTION_TEXT, .brief = letter, .name = long_name, .argument = value, OPT_MEMBER(type, member, \
	const char *), .help = text, __VA_ARGS__ }
#define OPT_LIST(letter, long_name, value, type, member, counter, text, ...) \
	{ .kind = OPTION_LIST, .brief = letter, .name = long_name, .argument = value, .at = offsetof(type, \
	member) + 0 * sizeof(_Generic(((type *)0)->member[0], const char *: (char)1)), \
	.count_at = offsetof(type, counter) + 0 * sizeof(_Generic(((type *)0)->counter, unsigned: (char)1)), \
	.bytes = sizeof(((type *)0)->member[0]), \
	.room = sizeof(((type *)0)->member) / sizeof(((type *)0)->member[0]), .help = text, __VA_ARGS__ }
#define OPT_CHOICE(letter, long_name, words, type, member, of_first, text, ...) \
	{ .kind = OPTION_CHOICE, .brief = letter, .name = long_name, .argument = words, .at = offsetof(type, \
	member), .bytes = sizeof(((type *)0)->member), .first = of_first, .help = text, __VA_ARGS__ }
#define OPT_WHOLE(letter, long_name, value, type, member, from, to, text, ...) \
	{ .kind = OPTION_WHOLE, .brief = letter, .name = long_name, .argument = value, .at = offsetof(type, \
	member), .bytes = sizeof(((type *)0)->member), .least = from, .most = to, .help = text, __VA_ARGS__ }
#define OPT_SCALED(letter, long_name, value, type, member, from, to, text, ...) \
	{ .kind = OPTION_SCALED, .brief = letter, .name = long_name, .argument = value, .at = offsetof(type, \
	member), .bytes = sizeof(((type *)0)->member), .least = from, .most = to, .help = text, __VA_ARGS__ }
#define OPT_NUMBER(letter, long_name, value, type, member, from, to, text, ...) \
	{ .kind = OPTION_NUMBER, .brief = letter, .name = long_name, .argument = value, OPT_MEMBER(type, \
	member, double), .least = from, .most = to, .help = text, __VA_ARGS__ }
#define OPT_PERCENT(letter, long_name, value, type, member, text, ...) \
	{ .kind = OPTION_PERCENT, .brief = letter, .name = long_name, .argument = value, OPT_MEMBER(type, \
	member, double), .least = 0, .most = 100, .help = text, __VA_ARGS__ }
#define OPT_MILLISECONDS(letter, long_name, value, type, member, text, ...) \
	{ .kind = OPTION_MILLISECONDS, .brief = letter, .name = long_name, .argument = value, OPT_MEMBER(type, \
	member, double), .least = 1e-4, .most = 1e9, .help = text, __VA_ARGS__ }
#define OPT_NOTED(letter, long_name, value, type, member, text, ...) \
	OPT_CALL(letter, long_name, value, option_note, text, OPT_MEMBER(type, member, const char *), __VA_ARGS__)
#define OPT_CALL(letter, long_name, value, function, text, ...) \
	{ .kind = OPTION_CALL, .brief = letter, .name = long_name, .argument = value, .call = function, \
	.help = text, __VA_ARGS__ }
#define OPT_END { .kind = OPTION_END }

/* A table, and the struct that its rows write to.  target NULL: the options are recognised, and nothing is stored. */
struct option_set { const struct option *option; void *target; };

struct option_parser {
	const char *command;		/* in messages: "stat", "mem report" */
	const struct option_set *set;	/* up to one whose `option` is NULL; an option is looked for in this order */
	/* A word that is no option; after "--" every word.  NULL: the options end at such a word or at "--". */
	int (*word)(void *context, const char *word, struct err *err);
	/* If not NULL, called for each word of options that was accepted: the words that it took, and the set of
	 * its (last) option. */
	void (*taken)(void *context, const struct option_set *set, char **words, int count);
	void *context;
};

/* argv[0] is the command's name.  Returns 1: go on, *next is the index of the first word that was not taken; 0: -h
 * or --help was given; ERR_INPUT or what a callback returned, with *err filled (but see struct option, call). */
int options_parse(const struct option_parser *p, int argc, char **argv, int *next, struct err *err);

/* Checks and stores one value as a row would, for callbacks whose value has parts: "N[,N]".  0, or ERR_INPUT. */
int options_value(const struct option *o, void *target, const char *value, struct err *err);

/* The `call` of an option whose value changes nothing. */
int option_ignore(void *target, const struct option *option, const char *value, struct err *err);
/* The `call` of OPT_NOTED: the member becomes the name of the first such option that is given. */
int option_note(void *target, const struct option *option, const char *value, struct err *err);

/* ---- texts (options_text.c) ---- */

enum { OPTIONS_COLUMNS = 80 };
/* Prints the text in lines of at most OPTIONS_COLUMNS columns, each behind `indent` spaces; the first line begins
 * behind `column` columns that are printed already.  A line feed in the text begins a new line; lines that begin
 * with a space are printed as they are. */
void options_wrap(FILE *out, const char *text, unsigned indent, unsigned column);
/* The rows, as --help shows them; behind them one line with the names of those that are refused. */
void options_help(FILE *out, const struct option *o);
/* The rows as mdoc(7) lists. */
void options_mdoc(FILE *out, const struct option *o);
/* Checks a table: "", or what is wrong with its rows.  text: the same. */
const char *options_fault(const struct option *o, char *text, size_t bytes);
#endif
