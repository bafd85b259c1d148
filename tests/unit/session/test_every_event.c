/* SPDX-License-Identifier: GPL-2.0-or-later
 * The record sequences of tests/events/records.tsv: each makes its event count exactly what the row says, alone and in
 * a session of its own, and nothing without the sequence.  A line has, separated by TABs:
 *   TABLE[,TABLE...]  EVENT  COUNT  RECORDS  REASON
 * RECORDS are separated by blanks; cycles are below CYCLES, which is how long the core runs:
 *   uop(BIT,BIT,...)@N         an instruction of one uop with these bits of signals.def, all of whose stages are in
 *                              cycle N; squashed(BIT,...)@N did not retire
 *   sig(NAME,BEGIN,END,COUNT)  a signal; behind COUNT it may have attributes: ,ATTRIBUTE,... */
#include "session_fixture.h"
#include "data_dir.h"

enum { CYCLES = 1000, FIELDS = 5 };

static int bit_of(const char *name, bool dynamic)
{
	static const char *const is[] = {
#define STATIC(name, text) #name,
#include "softpmu/signals.def"
	}, *const did[] = {
#define DYNAMIC(name, text) #name,
#include "softpmu/signals.def"
	};
	for (int i = 0; i < (dynamic ? (int)SPMU_DID_COUNT : (int)SPMU_IS_COUNT); i++)
		if (!strcmp((dynamic ? did : is)[i], name))
			return i;
	return -1;
}

static int signal_of(const char *name)
{
	static const char *const names[] = {
#define SIGNAL(name, kind, text) #name,
#include "softpmu/signals.def"
	};
	for (int i = 0; i < SPMU_SIG_COUNT; i++)
		if (!strcmp(names[i], name))
			return i;
	return -1;
}

/* Returns -1 if there is no such attribute. */
static int attribute_of(const char *name)
{
	static const char *const names[] = {
#define ATTRIBUTE(name, text) #name,
#include "softpmu/signals.def"
	};
	for (int i = 0; i < SPMU_ATTR_COUNT; i++)
		if (!strcmp(names[i], name))
			return i;
	return -1;
}

/* Adds what one word of RECORDS describes; false: it describes nothing. */
static bool add_record(struct fixture_batch *f, char *word)
{
	char *save = NULL, *open = strchr(word, '('), *close = strchr(word, ')');
	if (!open || !close || f->b.count > SPMU_BATCH_MAX - 2)
		return false;
	*open = *close = 0;
	if (!strcmp(word, "sig")) {
		char *name = strtok_r(open + 1, ",", &save), *n[3];
		for (int i = 0; i < 3; i++)
			if (!(n[i] = strtok_r(NULL, ",", &save)))
				return false;
		int signal = signal_of(name);
		uint64_t attributes = 0;
		for (char *a; (a = strtok_r(NULL, ",", &save)); attributes |= UINT64_C(1) << attribute_of(a))
			if (attribute_of(a) < 0)
				return false;
		f->r[f->b.count++] = (struct spmu_record){ .kind = SPMU_REC_SIGNAL, .cpl = 3, .port = 255,
			.signal = (uint32_t)signal, .begin = (uint32_t)atoi(n[0]), .end = (uint32_t)atoi(n[1]),
			.did = (uint64_t)atoi(n[2]), .is = attributes };
		return signal >= 0 && atoi(n[1]) <= CYCLES;
	}
	bool squashed = !strcmp(word, "squashed");
	if ((!squashed && strcmp(word, "uop")) || close[1] != '@' || atoi(close + 2) >= CYCLES)
		return false;
	uint64_t is = 0, did = 0;
	for (char *b = strtok_r(open + 1, ",", &save); b; b = strtok_r(NULL, ",", &save)) {
		int s = bit_of(b, false), d = bit_of(b, true);
		if (s < 0 && d < 0)
			return false;
		if (s >= 0)
			is |= UINT64_C(1) << s;
		else
			did |= UINT64_C(1) << d;
	}
	fixture_insn(f, 0x1000 + f->b.count, is | SPMU_IS(EXEC), did, 0, (uint32_t)atoi(close + 2));
	if (squashed) {
		f->r[f->b.count - 1].did &= ~SPMU_DID(RETIRED);
		f->b.instructions--;
	}
	return true;
}

/* What the event counts of these records; a text that is no sequence or no event fails the test. */
static uint64_t count_of(const char *table, const char *event, const char *records)
{
	char path[600], text[300] = "", *words = strdup(records), *save = NULL;
	struct spmu_model *m = NULL;
	snprintf(path, sizeof path, "%s/events/%s.tsv", data_dir(), table);
	if (spmu_model_load(&m, path, text, sizeof text))
		fail_msg("%s", text);
	struct session_events events = { 0 };
	struct session *s = NULL;
	struct err err = { 0 };
	struct session_parse_options how = { .model = m, .core = &core };
	if (session_parse(&events, &how, event, &err) ||
	    session_create(&s, &(struct session_options){ .core = &core, .model = m, .events = &events }, &err))
		fail_msg("%s: %s: %s", table, event, err.text);
	static struct fixture_batch f;
	fixture_begin(&f, 0);
	for (char *w = strtok_r(words, " ", &save); w; w = strtok_r(NULL, " ", &save))
		if (!add_record(&f, w))
			fail_msg("%s: %s: not a record: %s", table, event, w);
	fixture_end(&f, 0, CYCLES, true);
	struct run_thread t = { .pid = 10, .tid = 10 };
	assert_int_equal(session_thread_start(s, &t, NULL), 0);
	session_batch(s, &t, &f.b);
	session_thread_end(s, &t);
	uint64_t n = session_count(s, 0);
	session_destroy(s);
	session_events_free(&events);
	spmu_model_free(m);
	free(words);
	return n;
}

static void test_sequences_are_read(void **state)
{
	(void)state;
	assert_int_equal(count_of("haswell", "LSD.UOPS", "uop(FROM_LSD)@3 uop(FROM_LSD)@4 uop(FROM_DSB)@4"), 2);
	assert_int_equal(count_of("skylake", "INST_RETIRED.ANY_P", "uop()@3 squashed(LOAD)@4"), 1);
	assert_int_equal(count_of("skylake", "ILD_STALL.LCP", "sig(LCP_STALL,10,30,1) sig(LCP_STALL,20,40,1)"), 30);
	assert_int_equal(count_of("p6", "INST_RETIRED", "uop()@3"), 1);
	assert_int_equal(count_of("p5", "BRANCHES", "uop(BRANCH,TAKEN)@3 uop()@4"), 1);
	assert_int_equal(count_of("netburst", "machine_clear.CLEAR", "sig(CLEAR_SMC,5,5,1) sig(CLEAR_SMC,9,9,1)"), 2);
}

static void test_each_sequence_makes_its_event_count(void **state)
{
	(void)state;
	char path[600], line[4096];
	snprintf(path, sizeof path, "%s/../tests/events/records.tsv", data_dir());
	FILE *in = fopen(path, "r");
	assert_non_null(in);
	while (fgets(line, sizeof line, in)) {
		if (*line == '#')
			continue;
		char *rest = line, *field[FIELDS], *save = NULL;
		line[strcspn(line, "\n")] = 0;
		for (int i = 0; i < FIELDS; i++)
			if (!(field[i] = strsep(&rest, "\t")) || !*field[i])
				fail_msg("records.tsv: a line has fewer than %d fields: %s", FIELDS, line);
		for (char *t = strtok_r(field[0], ",", &save); t; t = strtok_r(NULL, ",", &save)) {
			uint64_t want = strtoull(field[2], NULL, 10), n = count_of(t, field[1], field[3]);
			if (!want || n != want)
				fail_msg("%s: %s counts %lu, not %s", t, field[1], (unsigned long)n, field[2]);
			if (count_of(t, field[1], ""))
				fail_msg("%s: %s counts without the sequence", t, field[1]);
		}
	}
	fclose(in);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_sequences_are_read),
		cmocka_unit_test(test_each_sequence_makes_its_event_count),
	};
	return cmocka_run_group_tests(tests, fixture_setup, fixture_teardown);
}
