/* SPDX-License-Identifier: GPL-2.0-or-later
 * Profiles around a run (cli_profile.h). */
#include "cli/common/cli_profile.h"
#include "core/machine/features.h"
#include "stream/stream.h"
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

int cli_profile_store(struct profile_store **out, bool create)
{
	char path[PATH_MAX];
	struct err err = { 0 };
	*out = NULL;
	if (!profile_store_path(path, sizeof path, &err) && !profile_store_open(out, path, create, &err))
		return 0;
	cli_error("%s", err.text);
	return -1;
}

int cli_profile_key(const char *program, char key[PROGRAM_KEY_CHARS], char *path, size_t bytes)
{
	struct err err = { 0 };
	*path = 0;
	if (!strncmp(program, "build-id:", 9) || program_key_hashed(program)) {
		if (strlen(program) < PROGRAM_KEY_CHARS) {
			strcpy(key, program);
			return 0;
		}
		cli_error("%.20s...: too long for a program's key", program);
		return -1;
	}
	char found[PATH_MAX], real[PATH_MAX];
	if (!stream_find_program(program, found, sizeof found, &err) && !program_key(found, key, &err)) {
		snprintf(path, bytes, "%s", realpath(found, real) ? real : found);
		return 0;
	}
	cli_error("%s", err.text);
	return -1;
}

int cli_profile_program(const struct cli_run *r, char key[PROGRAM_KEY_CHARS], struct err *err)
{
	char path[PATH_MAX];
	if (r->run.replay)
		return program_key_stream(r->run.replay, key, path, sizeof path, err);
	int code = stream_find_program(r->argv[0], path, sizeof path, err);
	return code ? code : program_key(path, key, err);
}

bool cli_profile_settings(const struct store_set *set, char *text, size_t bytes)
{
	size_t used = 0;
	for (size_t i = 0; i < set->settings && used < bytes; i++)
		used += (size_t)snprintf(text + used, bytes - used, "%s%s", i ? "," : "", set->setting[i]);
	if (!set->settings)
		used = (size_t)snprintf(text, bytes, "as the preset has it");
	return used < bytes;
}

/* ---- before a run ---- */

/* Looks for the profile of what is to be run: 1 if there is one, 0 if not, or an error. */
static int look_up(struct cli_run *r, struct store_profile *out, struct err *err)
{
	struct profile_store *s = NULL;
	char path[PATH_MAX], key[PROGRAM_KEY_CHARS];
	int code = profile_store_path(path, sizeof path, err);
	if (!code)
		code = profile_store_open(&s, path, false, err);
	if (code || !s)
		return code;
	/* A program that cannot be found has no profile; the run itself says that it cannot be found. */
	if (r->profile != CLI_PROFILE_ASKED && !r->run.replay &&
		stream_find_program(r->argv[0], path, sizeof path, err)) {
		profile_store_close(s);
		return 0;
	}
	code = cli_profile_program(r, key, err);
	if (!code)
		code = profile_store_get(s, key, r->core.name, r->profile_name, out, err);
	profile_store_close(s);
	return code;
}

/* Applies a profile's settings on top of those of the command line. */
static int set_registers(struct core_features *f, const struct store_set *set, struct err *err)
{
	char settings[4096];
	if (!set->settings)
		return 0;
	if (!cli_profile_settings(set, settings, sizeof settings))
		return err_set(err, ERR_INPUT, "the profile of this program has more settings than there are features");
	return core_features_set_all(f, settings, err);
}

struct run_write *cli_phase_writes(const struct cli_phase *phase, size_t phases, size_t *count)
{
	struct run_write *list = calloc(phases * FEATURE_REGISTERS + 1, sizeof *list);
	uint32_t msr;
	uint64_t first, value;
	*count = 0;
	for (unsigned i = 0; list && core_features_register(i, &msr); i++) {
		bool differs = false;
		for (size_t p = 0; p < phases; p++)
			differs |= core_features_read(&phase[p].to, msr, &value) == FEATURE_OK &&
				core_features_read(&phase[0].to, msr, &first) == FEATURE_OK && value != first;
		for (size_t p = 0; p < phases && differs; p++)
			if (phase[p].object && core_features_read(&phase[p].to, msr, &value) == FEATURE_OK)
				list[(*count)++] = (struct run_write){ .object = phase[p].object,
					.offset = phase[p].offset, .msr = msr, .value = value,
					.may_miss = true };
	}
	return list;
}

/* The phases' settings are written where the phases begin; the command line's writes during the run come after
 * them. */
static int set_phases(
	struct cli_run *r, const struct store_profile *p, const struct core_features *plain, struct err *err)
{
	static struct run_write *list;	/* lives until softpmu ends */
	size_t count = 0;
	if (!p->phases)
		return 0;
	struct cli_phase *phase = calloc(p->phases, sizeof *phase);
	int code = phase ? 0 : err_set(err, ERR_NOMEM, "out of memory for the phases of a profile");
	for (size_t i = 0; i < p->phases && !code; i++) {
		phase[i] =
			(struct cli_phase){ .object = p->phase[i].object, .offset = p->phase[i].offset, .to = *plain };
		code = set_registers(&phase[i].to, &p->phase[i].set, err);
	}
	if (!code) {
		struct run_write *own = cli_phase_writes(phase, p->phases, &count);
		struct run_write *all = own ? realloc(own, (count + r->run.writes + 1) * sizeof *all) : NULL;
		if (all) {
			if (r->run.writes)
				memcpy(all + count, r->run.write, r->run.writes * sizeof *all);
			free(list);
			r->run.write = list = all;
			r->run.writes += count;
		} else {
			free(own);
			code = err_set(err, ERR_NOMEM, "out of memory for the phases of a profile");
		}
	}
	free(phase);
	return code;
}

static int apply(struct cli_run *r, const struct store_profile *p, struct err *err)
{
	const struct core_features plain = r->registers;
	int code = set_registers(&r->registers, &p->set, err);
	if (!code)
		code = set_phases(r, p, &plain, err);
	if (code)
		r->registers = plain;
	core_features_config(&r->registers, &r->core);
	return code;
}

static void say(const struct cli_run *r, const struct store_profile *p)
{
	char settings[512], phases[64] = "";
	const char *dots = cli_profile_settings(&p->set, settings, sizeof settings) ? "" : "...";
	const char *base = strrchr(p->path, '/');
	if (p->phases)
		snprintf(phases, sizeof phases, " and others in %zu phases", p->phases);
	fprintf(stderr, "softpmu: profile of %s for %s%s%s applied (%s, %s): %s%s%s%s\n", base ? base + 1 : p->path,
		p->core, *p->name ? ", " : "", p->name, *p->objective ? p->objective : "by hand", p->date, settings,
		dots, phases, r->profile == CLI_PROFILE_STORED ? "; --no-profile runs without it" : "");
}

int cli_profile_apply(struct cli_run *r)
{
	static struct store_profile applied;	/* lives until softpmu ends */
	struct err err = { 0 };
	struct store_profile p;
	bool asked = r->profile == CLI_PROFILE_ASKED;
	if (asked && r->core.both_rings) {
		cli_error("--profile: a whole machine is no program, so no profile is kept of it");
		return -1;
	}
	if ((r->profile != CLI_PROFILE_STORED && !asked) || r->core.both_rings)
		return 0;
	char place[PATH_MAX];
	if (!asked && profile_store_path(place, sizeof place, &err))
		return 0;	/* there is no place for a store: a service, env -i */
	int code = look_up(r, &p, &err);
	if (!code && asked)
		cli_error("no profile%s%s of this program for core '%s' (softpmu tune list)",
			r->profile_name ? " " : "", r->profile_name ? r->profile_name : "", r->core.name);
	if (!code)
		return asked ? -1 : 0;
	if (code > 0 && !asked && (r->sets || r->features)) {
		cli_note("the profile of this program is for %s without %s: not applied (--profile "
			 "applies it anyway)",
			r->core.name, r->sets ? "--set" : "--feature and --wrmsr");
		store_profile_free(&p);
		return 0;
	}
	if (code > 0) {
		code = apply(r, &p, &err);
		if (!code) {
			store_profile_free(&applied);
			applied = p;
			r->applied = &applied;
			say(r, &applied);
			return 0;
		}
		store_profile_free(&p);
	}
	if (asked) {
		cli_error("%s", err.text);
		return -1;
	}
	cli_warn("%s; no profile is applied", err.text);
	return 0;
}

/* ---- after a search ---- */

/* Fills in the registers that result from the settings. */
static int registers_of(struct store_set *set, const struct core_config *preset, struct err *err)
{
	struct core_features f;
	core_features_init(&f, preset);
	int code = 0;
	for (size_t i = 0; !code && i < set->settings; i++)
		code = core_features_set(&f, set->setting[i], err);
	set->reg = code ? NULL : calloc(FEATURE_REGISTERS, sizeof *set->reg);
	set->regs = 0;
	if (!code && !set->reg)
		code = err_set(err, ERR_NOMEM, "out of memory for a profile");
	uint32_t msr;
	uint64_t value;
	for (unsigned i = 0; !code && core_features_register(i, &msr); i++)
		if (core_features_read(&f, msr, &value) == FEATURE_OK && value)
			set->reg[set->regs++] = (struct store_register){ msr, value };
	return code;
}

void cli_profile_date(char text[16])
{
	const char *fixed = getenv("SOURCE_DATE_EPOCH");	/* reproducible-builds.org */
	char *end;
	time_t now = time(NULL);
	struct tm tm = { 0 };
	if (fixed && *fixed) {
		errno = 0;
		long long v = strtoll(fixed, &end, 10);
		now = errno || *end ? now : (time_t)v;
	}
	if (!gmtime_r(&now, &tm) || !strftime(text, 16, "%Y-%m-%d", &tm))
		strcpy(text, "0000-00-00");
}

int cli_profile_keep(struct cli_run *r, struct store_profile *p)
{
	char key[PROGRAM_KEY_CHARS], path[PATH_MAX], date[16];
	struct err err = { 0 };
	struct profile_store *s = NULL;
	struct core_config preset;
	if (r->sets) {
		cli_error("a profile is kept for a preset: not with --set");
		return -1;
	}
	int code = core_config_load(&preset, r->run.data_dir, r->core_name, &err);
	if (!code && r->run.replay)
		code = program_key_stream(r->run.replay, key, path, sizeof path, &err);
	if (code) {
		cli_error("%s", err.text);
		return -1;
	}
	if (!r->run.replay && cli_profile_key(r->argv[0], key, path, sizeof path))
		return -1;
	cli_profile_date(date);
	p->program = key, p->path = path, p->core = r->core.name, p->name = r->profile_name, p->date = date,
	p->version = cli_version();
	code = registers_of(&p->set, &preset, &err);
	for (size_t i = 0; !code && i < p->phases; i++)
		code = registers_of(&p->phase[i].set, &preset, &err);
	if (code)
		cli_error("%s", err.text);
	else if (!(code = cli_profile_store(&s, true)) && (code = profile_store_put(s, p, &err)))
		cli_error("%s", err.text);
	profile_store_close(s);
	free(p->set.reg);
	p->set.reg = NULL;
	for (size_t i = 0; i < p->phases; i++) {
		free(p->phase[i].set.reg);
		p->phase[i].set.reg = NULL;
	}
	p->program = p->path = p->core = p->name = p->date = p->version = NULL;
	return code ? -1 : 0;
}
