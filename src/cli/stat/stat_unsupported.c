/* SPDX-License-Identifier: GPL-2.0-or-later
 * Events that this run cannot count (stat_unsupported.h). */
#include "cli/stat/stat_unsupported.h"
#include "cli/cli.h"
#include "session/session.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Does the core have the event? */
static bool knows(const struct core_config *core, const char *event)
{
	struct spmu_model *model = cli_model(core);
	struct spmu_uncore_model *uncore = NULL;
	struct session_events events = { 0 };
	struct err none = { 0 };
	bool known = false;
	if (model && !cli_uncore(&uncore, core)) {
		struct session_parse_options how = { .model = model, .core = core, .uncore = uncore,
			.purpose = SESSION_FOR_REGISTERS };	/* takes what is not modelled, too */
		known = !session_parse(&events, &how, event, &none);
		how.purpose = SESSION_FOR_COUNTING_UNCORE;
		known = known || !session_parse(&events, &how, event, &none);
	}
	session_events_free(&events);
	spmu_uncore_free(uncore);
	spmu_model_free(model);
	return known;
}

/* A code: another core may count something else by it. */
static bool is_code(const char *event)
{
	return !strncmp(event, "cpu/", 4) || !strncmp(event, "cpu_core/", 9) ||
	       (event[0] == 'r' && strspn(event + 1, "0123456789abcdefABCDEF") + 1 == strcspn(event, ":"));
}

/* Writes the names of the first cores that know the event.  Each PMU is asked once, because it decides. */
static bool elsewhere(const struct core_config *own, const char *event, char *text, size_t room)
{
	enum { NAMED = 3 };
	char *name[CONFIG_PRESETS], asked[CONFIG_PRESETS][sizeof own->pmu];
	struct err none = { 0 };
	unsigned pmus = 1, found = 0;
	if (knows(own, event))	/* it has a modifier or a term that does not apply */
		return false;
	const int presets = core_config_presets(name, cli_data_dir(), &none);
	snprintf(asked[0], sizeof asked[0], "%s", own->pmu);
	text[0] = 0;
	for (int i = 0; i < presets; free(name[i++])) {
		struct core_config core;
		bool seen = found > NAMED || core_config_load(&core, cli_data_dir(), name[i], &none);
		for (unsigned k = 0; k < pmus && !seen; k++)
			seen = !strcmp(asked[k], core.pmu);
		if (seen)
			continue;
		if (pmus < CONFIG_PRESETS)
			snprintf(asked[pmus++], sizeof asked[0], "%s", core.pmu);
		if (!knows(&core, event))
			continue;
		const size_t used = strlen(text);
		snprintf(text + used, room - used, "%s%s", found ? ", " : "", found < NAMED ? name[i] : "...");
		found++;
	}
	return found;
}

bool stat_leave_out(void *context, const char *event, size_t bytes, const struct err *why)
{
	struct stat_unsupported *u = context;
	char *spelled = strndup(event, bytes), *name = NULL, *text = NULL, cores[512];
	struct stat_left_out *grown;
	if (!spelled)
		goto nomem;
	if (why->code != ERR_NOT_MODELLED && (is_code(spelled) || !elsewhere(u->core, spelled, cores, sizeof cores))) {
		free(spelled);
		return false;
	}
	/* the u that was not asked for, as in the names of the other events */
	if (asprintf(&name, "%s%s", spelled, u->core->both_rings ? ""
			: strstr(spelled, "::") ? ":u" : spelled[bytes - 1] == '/' ? "u"
			: strpbrk(spelled, ":/") ? "" : ":u") < 0)
		name = NULL;
	if (why->code == ERR_NOT_MODELLED)
		text = strdup(why->text);
	else if (asprintf(&text, "%s; it exists on %s", why->text, cores) < 0)
		text = NULL;
	grown = name && text ? realloc(u->event, (u->count + 1) * sizeof *grown) : NULL;
	if (!grown)
		goto nomem;
	u->event = grown;
	grown[u->count++] = (struct stat_left_out){ .before = u->events->count, .name = name, .why = text };
	free(spelled);
	return true;
nomem:
	free(spelled);
	free(name);
	free(text);
	u->nomem = true;
	return true;
}

void stat_unsupported_free(struct stat_unsupported *u)
{
	for (size_t i = 0; i < u->count; i++) {
		free(u->event[i].name);
		free(u->event[i].why);
	}
	free(u->event);
	u->event = NULL;
	u->count = 0;
}
