/* SPDX-License-Identifier: GPL-2.0-or-later
 * softpmu tune list, show, apply and forget: list, show, choose and remove the profiles that are kept. */
#include "cli/cli.h"
#include "cli/common/cli_profile.h"
#include "cli/tune/tune_commands.h"
#include "cli/tune/tune_state.h"
#include "core/machine/features.h"
#include "util/json.h"
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>

struct wanted {
	const char *verb;		/* list, show, apply, forget */
	const char *program, *core, *name, *to;
	const char *feature;
	bool off, all, json;
	char key[PROGRAM_KEY_CHARS];	/* the program's key */
	size_t seen;
	struct profile_store *store;
	struct err *err;
	int failed;
};

static const char *or_none(const char *name)
{
	return *name ? name : "-";
}

/* Prints a name, which comes from a file and may hold anything, in one line. */
static void plain(FILE *out, const char *text)
{
	for (; *text; text++)
		fputc((unsigned char)*text < ' ' || *text == 127 ? '?' : *text, out);
}

static void gain(FILE *out, double before, double after)
{
	if (before > 0)
		fprintf(out, "%+.2f %%", 100 * (after - before) / before);
	else
		fputs("-", out);
}

static void json_figures(const char *name, const struct store_figures *f)
{
	printf(", \"%s\": {\"instructions\": %" PRIu64 ", \"cycles\": %" PRIu64, name, f->instructions, f->cycles);
	if (f->energy >= 0)
		printf(", \"energy-nj\": %.17g", f->energy);
	putchar('}');
}

static void json_set(const struct store_set *set)
{
	fputs(", \"settings\": [", stdout);
	for (size_t i = 0; i < set->settings; i++) {
		fputs(i ? ", " : "", stdout);
		json_string(stdout, set->setting[i]);
	}
	putchar(']');
	if (!set->regs)
		return;
	fputs(", \"registers\": {", stdout);
	for (size_t i = 0; i < set->regs; i++)
		printf("%s\"0x%x\": \"0x%" PRIx64 "\"", i ? ", " : "", set->reg[i].msr, set->reg[i].value);
	putchar('}');
}

static void json_profile(const struct store_profile *p)
{
	const struct {
		const char *name, *text;
	} text[] = { { "program", p->path }, { "key", p->program }, { "core", p->core }, { "name", p->name },
		{ "objective", p->objective }, { "command", p->command }, { "date", p->date },
		{ "version", p->version } };
	for (size_t i = 0; i < sizeof text / sizeof *text; i++) {
		printf("%s\"%s\": ", i ? ", " : "{", text[i].name);
		json_string(stdout, text[i].text);
	}
	printf(", \"active\": %s", p->active ? "true" : "false");
	json_figures("before", &p->before);
	json_figures("after", &p->after);
	json_set(&p->set);
}

/* ---- list ---- */

static int list_one(void *context, const struct store_profile *p)
{
	struct wanted *w = context;
	char settings[4096];
	if (w->json) {
		json_profile(p);
		printf(", \"phases\": %zu, \"tried\": %zu}\n", p->phases, p->tries);
	} else {
		if (!w->seen)
			printf("%-2s %-14s %-10s %-10s %10s  %-10s  %s\n", "", "core", "name", "objective", "cycles",
				"date", "program: settings");
		printf("%-2s %-14.24s %-10.16s %-10.24s ", p->active ? "*" : "", p->core, or_none(p->name),
			or_none(p->objective));
		char change[32];
		snprintf(change, sizeof change, p->before.cycles ? "%+.2f %%" : "-",
			100 * ((double)p->after.cycles - (double)p->before.cycles) / (double)p->before.cycles);
		printf("%10s  %-10.10s  ", change, p->date);
		plain(stdout, p->path);
		fputs(": ", stdout);
		if (!cli_profile_settings(&p->set, settings, sizeof settings))
			strcpy(settings + sizeof settings - 4, "...");
		plain(stdout, settings);
		if (p->phases)
			printf("; %zu phases", p->phases);
		putchar('\n');
	}
	w->seen++;
	return 0;
}

/* ---- show ---- */

static void show_figures(const char *what, const struct store_figures *a, const struct store_figures *b)
{
	printf("  %s: %" PRIu64 " instructions, %" PRIu64 " cycles in place of %" PRIu64 " (", what, b->instructions,
		b->cycles, a->cycles);
	gain(stdout, (double)a->cycles, (double)b->cycles);
	putchar(')');
	if (a->energy >= 0 && b->energy >= 0) {
		printf(", %.0f nJ in place of %.0f (", b->energy, a->energy);
		gain(stdout, a->energy, b->energy);
		putchar(')');
	}
	putchar('\n');
}

static const char *register_name(uint32_t msr)
{
	uint32_t at;
	const char *name;
	for (unsigned i = 0; (name = core_features_register(i, &at)); i++)
		if (at == msr)
			return name;
	return "MSR";
}

static void show_set(const struct store_set *set, const char *indent)
{
	for (size_t i = 0; i < set->settings; i++) {
		fputs(indent, stdout);
		plain(stdout, set->setting[i]);
		putchar('\n');
	}
	if (!set->settings)
		printf("%sas the preset has it\n", indent);
	for (size_t i = 0; i < set->regs; i++)
		printf("%s%s (%XH) = %" PRIX64 "H\n", indent, register_name(set->reg[i].msr), set->reg[i].msr,
			set->reg[i].value);
}

static void show_text(const struct store_profile *p)
{
	plain(stdout, p->path);
	printf(" on %s%s%s%s\n  %s%s\n", p->core, *p->name ? ", profile " : "", p->name, p->active ? ", active" : "",
		p->program, program_key_hashed(p->program) ? " (it has no build-id: a hash of the file)" : "");
	printf("  chosen %s%s on %s by softpmu %s: ", *p->objective ? "for " : "by hand", p->objective, p->date,
		p->version);
	plain(stdout, *p->command ? p->command : "a caller that did not say");
	putchar('\n');
	show_set(&p->set, "    ");
	if (p->after.cycles)
		if (p->before.cycles)	/* for a real machine, the objective holds the figure */
			show_figures("promised", &p->before, &p->after);
	for (size_t i = 0; i < p->phases; i++) {
		const struct store_phase *f = p->phase + i;
		printf("  phase %zu, from ", i + 1);
		if (f->object) {
			plain(stdout, f->object);
			printf("+0x%" PRIx64 " on\n", f->offset);
		} else {
			puts("the start on");
		}
		show_set(&f->set, "    ");
		show_figures("  of it", &f->before, &f->after);
	}
	if (p->tries)
		printf("  %zu configurations were tried:\n  %15s %15s  settings\n", p->tries, "cycles", "energy, nJ");
	for (size_t i = 0; i < p->tries; i++) {
		const struct store_tried *t = p->tried + i;
		printf("  %15" PRIu64, t->figures.cycles);
		if (t->figures.energy >= 0)
			printf(" %15.0f  ", t->figures.energy);
		else
			printf(" %15s  ", "-");
		plain(stdout, *t->settings ? t->settings : "(none)");
		putchar('\n');
	}
}

static void show_json(const struct store_profile *p)
{
	json_profile(p);
	fputs(", \"phases\": [", stdout);
	for (size_t i = 0; i < p->phases; i++) {
		const struct store_phase *f = p->phase + i;
		printf("%s{\"number\": %zu", i ? ", " : "", i + 1);
		if (f->object) {
			fputs(", \"object\": ", stdout);
			json_string(stdout, f->object);
			printf(", \"offset\": %" PRIu64, f->offset);
		}
		json_figures("before", &f->before);
		json_figures("after", &f->after);
		json_set(&f->set);
		putchar('}');
	}
	fputs("], \"tried\": [", stdout);
	for (size_t i = 0; i < p->tries; i++) {
		fputs(i ? ", {\"settings\": " : "{\"settings\": ", stdout);
		json_string(stdout, p->tried[i].settings);
		json_figures("figures", &p->tried[i].figures);
		putchar('}');
	}
	puts("]}");
}

static int show_one(void *context, const struct store_profile *p)
{
	struct wanted *w = context;
	struct store_profile whole;
	int found = profile_store_get(w->store, p->program, p->core, p->name, &whole, w->err);
	if (found < 0)
		return w->failed = found;
	if (!found)	/* another process removed it just now */
		return 0;
	if (w->seen++ && !w->json)
		putchar('\n');
	(w->json ? show_json : show_text)(&whole);
	store_profile_free(&whole);
	return 0;
}

/* ---- apply and forget ---- */

static int copy_to(struct wanted *w, const char *core, const char *name)
{
	struct store_profile p;
	char key[PROGRAM_KEY_CHARS], path[PATH_MAX];
	if (cli_profile_key(w->to, key, path, sizeof path))
		return -1;
	int found = profile_store_get(w->store, w->key, core, name, &p, w->err);
	if (found == 1) {
		p.program = key;
		p.path = path;
		int code = profile_store_put(w->store, &p, w->err);
		store_profile_free(&p);
		return code ? code : 1;
	}
	return found;
}

/* --feature: keeps a profile that promises no cycles. */
static int keep(struct wanted *w)
{
	enum { MOST = 64 };
	const char *setting[MOST];
	char list[4096], *at = list, *word;
	char *const argv[] = { (char *)w->program, NULL };
	struct cli_run r;
	struct store_profile p = { .objective = "",
		.command = "softpmu tune apply --feature",
		.before = { 0, 0, -1 },
		.after = { 0, 0, -1 },
		.set.setting = setting };
	cli_run_init(&r);
	r.core_name = w->core;
	r.profile_name = w->name;
	r.argv = argv;
	if ((size_t)snprintf(list, sizeof list, "%s", w->feature) >= sizeof list) {
		cli_error("--feature: more text than there are features");
		return -1;
	}
	while ((word = strsep(&at, ",")))
		if (*word && p.set.settings < MOST)
			setting[p.set.settings++] = word;
	if (cli_core(&r) || cli_profile_keep(&r, &p))
		return -1;
	w->seen = 1;
	printf("%s on %s runs with %s from now on\n", w->program, r.core.name, w->feature);
	return 0;
}

static int apply(struct wanted *w)
{
	const char *core = w->core ? w->core : "golden-cove", *name = w->name ? w->name : "";
	int code = w->to ? copy_to(w, core, name)
			 : profile_store_activate(w->store, w->key, core, w->off ? NULL : name, w->err);
	if (code < 0)
		return code;
	if (code && w->off)
		printf("no profile is applied to %s on %s from now on\n", w->program, core);
	else if (code && !w->to)
		printf("%s on %s runs with %s%s from now on\n", w->program, core, *name ? "profile " : "its profile",
			name);
	w->seen = (size_t)code;
	return 0;
}

static int forget(struct wanted *w)
{
	int code = profile_store_forget(w->store, w->program ? w->key : NULL, w->core, w->name, w->err);
	if (code < 0)
		return code;
	w->seen = (size_t)code;
	if (code)
		printf("%d profile%s forgotten\n", code, code == 1 ? "" : "s");
	if (w->name)	/* searches' figures have no name */
		return 0;
	code = tune_state_forget(w->program ? w->key : NULL, w->core, w->err);
	if (code < 0)
		return code;
	w->seen += (size_t)code;
	if (code)
		printf("what %d search%s measured: forgotten\n", code, code == 1 ? "" : "es");
	return 0;
}

/* ---- options ---- */

#define STORE_CORE(text) OPT_TEXT(0, "core", "CORE", struct wanted, core, text)
#define STORE_NAME(text) OPT_TEXT(0, "name", "NAME", struct wanted, name, text)
#define STORE_JSON OPT_FLAG('j', "json", struct wanted, json, "Print a JSON object a profile.")
static const struct option list_options[] = {
	STORE_CORE("Only settings for this core."), STORE_NAME("Only settings kept under this name (tune "
		"--profile=NAME)."), STORE_JSON, OPT_END
};
static const struct option apply_options[] = {
	STORE_CORE("Settings for this core. Default: golden-cove."),
	STORE_NAME("The settings kept under this name (tune --profile=NAME). Default: those without a name."),
	OPT_FLAG(0, "off", struct wanted, off, "Apply no settings from now on, until the next apply."),
	OPT_TEXT(0, "to", "OTHER", struct wanted, to, "Keep PROGRAM's settings for OTHER, too, for example after it "
		"was built anew. The promised cycles stay those that were measured for PROGRAM."),
	OPT_TEXT(0, "feature", "FEATURE=LEVEL,...", struct wanted, feature, "Keep these settings without a search, as "
		"in l1d.size=1/2,prefetch.l2_streamer=off."),
	OPT_END
};
static const struct option forget_options[] = {
	STORE_CORE("Only settings for this core."), STORE_NAME("Only settings kept under this name."),
	OPT_FLAG(0, "all", struct wanted, all, "Forget those of every program."), OPT_END
};

static int take_program(void *target, const char *word, struct err *err)
{
	struct wanted *w = target;
	if (w->program)
		return err_set(err, ERR_INPUT, "tune %s: one program at a time, '%s' is one word too many", w->verb,
			word);
	w->program = word;
	return 0;
}

static int parse(struct wanted *w, int argc, char **argv)
{
	const char *verb = w->verb;
	const bool applies = !strcmp(verb, "apply"), forgets = !strcmp(verb, "forget");
	const int go = cli_options_and_words(applies ? &tune_apply
			: forgets                    ? &tune_forget
			: *verb == 'l'               ? &tune_list
						     : &tune_show,
		w, argc, argv, take_program);
	if (go <= 0)
		return go;
	if (w->off + !!w->to + !!w->feature > 1 || (w->off && w->name))
		cli_error("tune apply: one of --off, --to and --feature, and no name with --off");
	else if (!w->program && (applies || !strcmp(verb, "show")))
		cli_error("tune %s: no program was named (softpmu tune list)", verb);
	else if (forgets && !w->program != w->all)
		cli_error("tune forget: no program was named: softpmu tune forget PROGRAM, or --all for every program");
	else
		return 1;
	return -1;
}

static int run(int argc, char **argv)
{
	struct err err = { 0 };
	struct wanted w = { .verb = argv[0], .err = &err };
	char path[PATH_MAX];
	const char *verb = argv[0];
	int code = parse(&w, argc, argv);
	if (code <= 0)
		return code ? 2 : 0;
	if (w.feature)
		return keep(&w) ? 1 : 0;
	if ((w.program && cli_profile_key(w.program, w.key, path, sizeof path)) || cli_profile_store(&w.store, false))
		return 1;
	code = 0;
	const char *key = w.program ? w.key : NULL;
	if (w.store && !strcmp(verb, "apply"))
		code = apply(&w);
	else if (w.store && !strcmp(verb, "forget"))
		code = forget(&w);
	else if (w.store)
		code = profile_store_list(w.store, key, w.core, w.name, *verb == 'l' ? list_one : show_one, &w, &err);
	profile_store_close(w.store);
	code = code ? code : w.failed;
	if (code) {
		if (err.text[0])
			cli_error("%s", err.text);
		return 1;
	}
	if (!w.seen && (*verb != 'l' || w.program)) {
		cli_error("no such profile (softpmu tune list)");
		return 1;
	}
	if (!w.seen && !w.json)
		puts("no profile is kept; softpmu tune makes them");
	return 0;
}

const struct cli_command tune_list = {
	.name = "tune list", .summary = "list the settings that are kept", .options = list_options, .run = run,
		.usage = "[options] [PROGRAM]",
	.about = "Lists the settings that softpmu tune kept, of PROGRAM or of all, a line each; * marks those that "
		"are active. PROGRAM is a path, a name in PATH, or the key that tune show prints.",
};
const struct cli_command tune_show = {
	.name = "tune show", .summary = "show everything that is known of a program's settings", .options =
		list_options, .run = run,
	.usage = "[options] PROGRAM", .about = "Shows everything that is kept of PROGRAM's settings, with every "
		"configuration that was tried.",
};
const struct cli_command tune_apply = {
	.name = "tune apply", .summary = "make settings the active ones of a program", .options = apply_options,
		.run = run,
	.usage = "[--off | --to OTHER | --feature LIST] [options] PROGRAM",
	.about = "Makes settings the active ones of PROGRAM and core: those that stat, record and run use from now "
		"on. tune does so by itself with what it keeps.",
};
const struct cli_command tune_forget = {
	.name = "tune forget", .summary = "remove settings that are kept", .options = forget_options, .run = run,
		.usage = "[options] PROGRAM\n--all [options]",
	.about = "Removes the settings of PROGRAM, and (without --name) what searches have measured of it.",
};
