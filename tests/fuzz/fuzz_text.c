/* SPDX-License-Identifier: GPL-2.0-or-later
 * libFuzzer harness for texts that a user types: event strings (session_parse), --set assignments, tags of softpmu
 * cost, and files of cores. The first byte chooses which. Checked: the sanitizers find nothing, an error has a message,
 * and accepted values are in range.
 */
#include "session/events/tag_parse.h"
#include "core/machine/config.h"
#include "session/session.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "data_dir.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define MUST(x) do { if (!(x)) abort(); } while (0)

static void parse_events(const struct spmu_model *m, const char *text)
{
	struct session_events e = { 0 };
	struct err err = { 0 };
	int rc = session_parse(&e, &(struct session_parse_options){ .model = m }, text, &err);
	MUST(rc <= 0);
	if (rc < 0)
		MUST(err.text[0] && !strchr(err.text, '\n'));
	else
		for (size_t i = 0; i < e.count; i++)
			MUST(e.event[i].name && (e.event[i].source != SESSION_HARDWARE || e.event[i].event));
	session_events_free(&e);
}

static void parse_file(const uint8_t *data, size_t size)
{
	char path[] = "/tmp/softpmu-fuzz-XXXXXX";
	struct core_config c;
	struct err err = { 0 };
	int fd = mkstemp(path);
	MUST(fd >= 0);
	MUST(write(fd, data, size) == (ssize_t)size);
	close(fd);
	if (core_config_load(&c, data_dir(), path, &err) < 0)
		MUST(err.text[0]);
	else
		MUST(core_config_check(&c, NULL) == 0);
	unlink(path);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct spmu_model *model;
	static struct core_config core;
	char text[4096];
	if (!model) {
		snprintf(text, sizeof text, "%s/events/golden-cove.tsv", data_dir());
		char why[256];
		MUST(spmu_model_load(&model, text, why, sizeof why) == 0);
		MUST(core_config_load(&core, data_dir(), "golden-cove", NULL) == 0);
	}
	if (size < 1 || size > 2000)
		return 0;
	memcpy(text, data + 1, size - 1);
	text[size - 1] = 0;
	if (data[0] % 3 == 0)
		parse_events(model, text);
	else if (data[0] % 3 == 1)
		parse_file(data + 1, size - 1);
	else {
		struct core_config c = core;
		struct err err = { 0 };
		if (core_config_set(&c, text, &err) < 0)
			MUST(err.text[0] && !strchr(err.text, '\n'));
		struct tag tag;
		if (tag_parse(&tag, text, &err) < 0)
			MUST(err.text[0] && !strchr(err.text, '\n'));
		else
			MUST(tag.steps && tag.steps <= TAG_STEPS && tag_holds(&tag, 0, 0) == tag.without);
	}
	return 0;
}
