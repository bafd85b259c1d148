/* SPDX-License-Identifier: GPL-2.0-or-later
 * A command's options as text: for --help, for the man page, and the check of a table (options.h). */
#include "util/options.h"
#include <ctype.h>
#include <string.h>

enum { HELP_COLUMN = 26 };

static bool is_shown(const struct option *o)
{
	return o->kind != OPTION_GROUP && o->kind != OPTION_REFUSED && !o->hidden;
}

/* ---- --help ---- */

void options_wrap(FILE *out, const char *text, unsigned indent, unsigned column)
{
	bool begins = true;	/* no word of the text is on this line yet */
	while (*text) {
		if (*text == '\n' || (*text == ' ' && begins)) {
			const size_t as_it_is = *text == ' ' ? strcspn(text, "\n") : 0;
			fprintf(out, "%.*s\n", (int)as_it_is, text);
			text += as_it_is + (text[as_it_is] == '\n');
			begins = true;
			column = 0;
			continue;
		}
		const unsigned n = (unsigned)strcspn(text, " \n");
		if (!begins && column + 1 + n > OPTIONS_COLUMNS) {
			fputc('\n', out);
			begins = true;
			column = 0;
		}
		const unsigned blanks = !begins ? 1 : column < indent ? indent - column : 0;
		column += (unsigned)fprintf(out, "%*s%.*s", (int)blanks, "", (int)n, text);
		begins = false;
		text += n;
		text += strspn(text, " ");
	}
	if (column)
		fputc('\n', out);
}

/* "  -o, --output FILE", "      --exact[=N]"; its columns. */
static unsigned print_name(FILE *out, const struct option *o)
{
	unsigned n = 0;
	if (o->brief)
		n += (unsigned)fprintf(out, "  -%c%s", o->brief, o->name ? ", " : "");
	else
		n += (unsigned)fprintf(out, "      ");
	if (o->name)
		n += (unsigned)fprintf(out, "--%s", o->name);
	if (o->argument && o->optional)
		n += (unsigned)fprintf(out, o->takes ? " [%s]" : o->name ? "[=%s]" : "[%s]", o->argument);
	else if (o->argument)
		n += (unsigned)fprintf(out, " %s", o->argument);
	return n;
}

void options_help(FILE *out, const struct option *o)
{
	char refused[1024] = "";
	size_t used = 0;
	bool any = false;
	for (; o->kind; o++) {
		if (o->kind == OPTION_GROUP)
			fprintf(out, "%s%s:\n", any ? "\n" : "", o->help);
		any = true;
		if (o->kind == OPTION_REFUSED && used < sizeof refused) {
			used += (size_t)snprintf(refused + used, sizeof refused - used,
				o->brief ? "%s-%c" : "%s--%.0d%s", used ? ", " : "", o->brief, o->name);
			if (o->brief && o->name && used < sizeof refused)
				used += (size_t)snprintf(refused + used, sizeof refused - used, " (--%s)", o->name);
		}
		if (!is_shown(o))
			continue;
		unsigned column = print_name(out, o);
		if (column + 2 > HELP_COLUMN) {
			fputc('\n', out);
			column = 0;
		} else {
			column += (unsigned)fprintf(out, "%*s", HELP_COLUMN - (int)column, "");
		}
		options_wrap(out, o->help, HELP_COLUMN, column);
	}
	if (*refused) {
		fputs("\nRefused, with the reason: ", out);
		options_wrap(out, refused, 0, 26);
	}
}

/* ---- the man page ---- */

/* Prints a word of text with what roff would misread escaped. */
static void mdoc_escaped(FILE *out, const char *word, size_t n, bool begins)
{
	if (begins && (*word == '.' || *word == '\''))
		fputs("\\&", out);
	for (size_t i = 0; i < n; i++)
		if (word[i] == '\\')
			fputs("\\e", out);
		else if (word[i] == '-' && i + 1 < n && word[i + 1] == '-')
			fputs("\\-", out);
		else
			fputc(word[i], out);
}

/* Prints the text in lines; each sentence begins a new one, as mdoc wants it. */
static void mdoc_text(FILE *out, const char *text)
{
	enum { MOST = 110 };
	size_t column = 0;
	bool ended = false;	/* a sentence, with the word before */
	while (*text) {
		const size_t n = strcspn(text, " \n");
		if (column && (text[-1] == '\n' || (ended && isupper((unsigned char)*text)) || column + 1 + n > MOST)) {
			fputc('\n', out);
			column = 0;
		}
		if (column)
			fputc(' ', out);
		mdoc_escaped(out, text, n, !column);
		column += n + 1;
		ended = n > 1 && text[n - 1] == '.' && text[n - 2] != '.';
		text += n;
		text += strspn(text, " ");
		text += *text == '\n';
	}
	if (column)
		fputc('\n', out);
}

/* An argument of a macro: a word that mdoc must not read as a macro or as punctuation. */
static void mdoc_word(FILE *out, const char *word, size_t n)
{
	fputc(' ', out);
	if (n < 4)
		fputs("\\&", out);
	for (size_t i = 0; i < n; i++)
		fprintf(out, word[i] == '\\' ? "\\e" : word[i] == ' ' ? "\\ " : "%c", word[i]);
}

static void mdoc_argument(FILE *out, const struct option *o)
{
	const char *glue = o->optional ? (o->takes || !o->name ? " Op" : " Ns Op =") : "";
	fputs(glue, out);
	if (o->optional && !o->takes && o->name)
		fputs(" Ns", out);
	if (o->kind != OPTION_CHOICE) {
		fputs(" Ar", out);
		mdoc_word(out, o->argument, strlen(o->argument));
		return;
	}
	for (const char *word = o->argument; ; word++) {
		const size_t n = strcspn(word, "|");
		fputs(word == o->argument ? " Cm" : " | Cm", out);
		mdoc_word(out, word, n);
		word += n;
		if (!*word)
			break;
	}
}

void options_mdoc(FILE *out, const struct option *o)
{
	bool open = false;
	for (; o->kind; o++) {
		if (o->hidden)
			continue;
		if (o->kind == OPTION_GROUP) {
			fprintf(out, "%s.Pp\n%s:\n", open ? ".El\n" : "", o->help);
			open = false;
			continue;
		}
		if (!open)
			fputs(".Bl -tag -width Ds\n", out);
		open = true;
		fputs(".It", out);
		if (o->brief)
			fprintf(out, " Fl %c", o->brief);
		if (o->name)
			fprintf(out, "%s Fl -%s", o->brief ? " ," : "", o->name);
		if (o->argument)
			mdoc_argument(out, o);
		fputc('\n', out);
		if (o->kind == OPTION_REFUSED) {
			char text[512];
			snprintf(text, sizeof text, "Refused: %s%s%s.", o->help, o->more ? "; " : "",
				o->more ? o->more : "");
			mdoc_text(out, text);
		} else {
			mdoc_text(out, o->help);
		}
	}
	if (open)
		fputs(".El\n", out);
}

/* ---- the check ---- */

const char *options_fault(const struct option *o, char *text, size_t bytes)
{
	*text = 0;
	for (const struct option *first = o; o->kind && !*text; o++) {
		const char *name = o->name ? o->name : o->brief ? (char[]){ o->brief, 0 } : "";
		const bool valued = o->kind >= OPTION_TEXT && o->kind <= OPTION_MILLISECONDS;
		if (!o->help || !*o->help)
			snprintf(text, bytes, "%s: no help", name);
		else if (o->kind == OPTION_GROUP)
			continue;
		else if (!o->brief && !o->name)
			snprintf(text, bytes, "an option without a name: %s", o->help);
		else if (o->kind == OPTION_CALL ? !o->call : valued ? !o->argument : o->argument != NULL)
			snprintf(text, bytes, "%s: argument or callback", name);
		else if (o->kind >= OPTION_WHOLE && o->kind <= OPTION_MILLISECONDS && !(o->least < o->most))
			snprintf(text, bytes, "%s: no range", name);
		else if ((o->kind == OPTION_WHOLE || o->kind == OPTION_SCALED) && o->bytes != 4 && o->bytes != 8)
			snprintf(text, bytes, "%s: a member of %u bytes", name, o->bytes);
		else if (o->kind == OPTION_CHOICE && o->bytes != 1 && o->bytes != 4)
			snprintf(text, bytes, "%s: a member of %u bytes", name, o->bytes);
		else if (!o->hidden && o->kind != OPTION_REFUSED &&
			(!isupper((unsigned char)*o->help) || o->help[strlen(o->help) - 1] != '.'))
			snprintf(text, bytes, "%s: the help is no sentence: %s", name, o->help);
		else if (o->kind == OPTION_REFUSED && o->help[strlen(o->help) - 1] == '.')
			snprintf(text, bytes, "%s: the reason ends with a period", name);
		for (const struct option *other = first; other < o && !*text; other++)
			if (other->kind != OPTION_GROUP &&
				((o->brief && other->brief == o->brief) ||
					(o->name && other->name && !strcmp(o->name, other->name))))
				snprintf(text, bytes, "%s: declared twice", name);
	}
	return text;
}
