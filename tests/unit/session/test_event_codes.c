/* SPDX-License-Identifier: GPL-2.0-or-later
 * What `softpmu list --details` prints, -e takes: each row of every table by its name and by its code, with the same
 * registers for both.
 */
#include "pmu_fixture.h"
#include "session/events/event_names.h"
#include "session/events/netburst_spell.h"
#include "session/session.h"
#include <dirent.h>

static int parse(struct session_events *out, const struct spmu_model *m, const char *text, enum session_purpose purpose,
	struct err *err)
{
	const struct session_parse_options how = { .model = m, .purpose = purpose };
	memset(out, 0, sizeof *out);
	return session_parse(out, &how, text, err);
}

/* Rows that one code stands for: they differ in nothing that is written into registers. */
static bool same_registers(const struct session_event *a, const struct session_event *b)
{
	return a->event->event == b->event->event && a->event->umask == b->event->umask && a->evtsel == b->evtsel &&
		a->fixed == b->fixed && a->extra == b->extra && a->event->extra_msr == b->event->extra_msr &&
		a->event->escr[0] == b->event->escr[0] && a->event->replay_enable == b->event->replay_enable;
}

static unsigned check(const char *table)
{
	struct spmu_model *m = fixture_model(table);
	unsigned rows = 0;
	for (size_t i = 0; i < spmu_model_events(m); i++, rows++) {
		const struct spmu_event *row = spmu_model_event(m, i);
		const bool modelled = !(row->flags & SPMU_EVENT_NOT_MODELLED);
		struct session_events by_name, by_code;
		char name[300], code[300], what[160];
		struct err err = { 0 };
		netburst_hint(m, row, what, sizeof what);
		snprintf(name, sizeof name, "%s%s", row->name, what);
		names_code(m, row, code, sizeof code);
		/* as for stat: taken, or refused because the model cannot produce it */
		int rc = parse(&by_name, m, name, SESSION_FOR_SAMPLING, &err);
		if (modelled ? rc : !rc || !strstr(err.text, row->not_modelled))
			fail_msg("%s: %s: %d, %s", table, name, rc, err.text);
		session_events_free(&by_name);
		if (!*code)
			continue;
		if (parse(&by_name, m, name, SESSION_FOR_REGISTERS, &err) ||
			parse(&by_code, m, code, SESSION_FOR_REGISTERS, &err))
			fail_msg("%s: %s or %s: %s", table, name, code, err.text);
		if (!same_registers(&by_name.event[0], &by_code.event[0]))
			fail_msg("%s: %s and %s: %s, %llx and %llx, fixed %d and %d, %llx and %llx", table, name, code,
				by_code.event[0].event->name, (unsigned long long)by_name.event[0].evtsel,
				(unsigned long long)by_code.event[0].evtsel, by_name.event[0].fixed,
				by_code.event[0].fixed, (unsigned long long)by_name.event[0].extra,
				(unsigned long long)by_code.event[0].extra);
		if (modelled && by_code.event[0].event->flags & SPMU_EVENT_NOT_MODELLED)
			fail_msg("%s: %s finds %s, which is not modelled", table, code, by_code.event[0].event->name);
		session_events_free(&by_name);
		session_events_free(&by_code);
	}
	spmu_model_free(m);
	return rows;
}

static void test_every_row_is_taken_by_its_name_and_by_its_code(void **state)
{
	char path[512];
	unsigned rows = 0, tables = 0;
	struct dirent **entry;
	(void)state;
	snprintf(path, sizeof path, "%s/events", data_dir());
	int n = scandir(path, &entry, NULL, alphasort);
	assert_true(n > 0);
	for (int i = 0; i < n; i++) {
		char *dot = strstr(entry[i]->d_name, ".tsv");
		if (dot && strncmp(entry[i]->d_name, "uncore-", 7)) {
			char name[64];
			snprintf(name, sizeof name, "%.*s", (int)(dot - entry[i]->d_name), entry[i]->d_name);
			rows += check(name);
			tables++;
		}
		free(entry[i]);
	}
	free(entry);
	print_message("%u rows of %u tables\n", rows, tables);
	assert_true(tables >= 15 && rows >= 4500);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_every_row_is_taken_by_its_name_and_by_its_code),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
