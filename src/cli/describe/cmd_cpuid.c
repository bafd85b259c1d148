/* SPDX-License-Identifier: GPL-2.0-or-later
 * softpmu cpuid: prints what software on the modelled core would read by CPUID: leaf 0AH, decoded, and the signature.
 * Source of the fields: SDM vol. 2A, "CPUID", leaf 0AH and "Version Information Returned by CPUID in EAX". */
#include "cli/cli.h"
#include "softpmu/pmu.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

extern const struct cli_command cmd_cpuid;

struct request {
	struct cli_run run;
	bool json;
};

static const struct option options[] = {
	CLI_OPTION_CORE(struct request, run.),
	CLI_OPTION_PMU(struct request, run.),
	OPT_FLAG('j', "json", struct request, json, "Print JSON."),
	OPT_END
};

static int no_word(void *target, const char *word, struct err *err)
{
	(void)target;
	return err_set(err, ERR_INPUT, "'%s' is one word too many (softpmu cpuid --help)", word);
}

struct field { const char *reg; int index; unsigned high, low; const char *key, *meaning; };
static const struct field field[] = {
	{ "EAX", 0, 7, 0, "version", "version of architectural performance monitoring" },
	{ "EAX", 0, 15, 8, "gp_counters", "general-purpose counters" },
	{ "EAX", 0, 23, 16, "gp_width", "bits of a general-purpose counter" },
	{ "EAX", 0, 31, 24, "events", "architectural events that EBX enumerates" },
	{ "ECX", 2, 31, 0, "fixed_mask", "fixed counters, one bit each (version 5)" },
	{ "EDX", 3, 4, 0, "fixed_counters", "contiguous fixed counters" },
	{ "EDX", 3, 12, 5, "fixed_width", "bits of a fixed counter" },
	{ "EDX", 3, 15, 15, "anythread_deprecated", "AnyThread deprecated (version 5)" },
};
static const char *const architectural[] = { "UnHalted Core Cycles", "Instruction Retired", "UnHalted Reference Cycles",
	"LLC Reference", "LLC Misses", "Branch Instruction Retired", "Branch Misses Retired", "Topdown Slots" };

static unsigned bits(const uint32_t regs[4], const struct field *f)
{
	uint32_t v = regs[f->index] >> f->low;
	unsigned width = f->high - f->low + 1;
	return width == 32 ? v : v & ((1u << width) - 1);
}

/* "506E3H" -> family, model, stepping; false if it is not a hexadecimal number. */
static bool signature(const char *text, unsigned *value, unsigned *family, unsigned *model, unsigned *stepping)
{
	char *end;
	unsigned long v = strtoul(text, &end, 16);
	if (end == text || (*end && strcmp(end, "H") && strcmp(end, "h")))
		return false;
	*value = (unsigned)v;
	*family = v >> 8 & 15;
	*model = v >> 4 & 15;
	*stepping = v & 15;
	if (*family == 6 || *family == 15)
		*model |= (v >> 16 & 15) << 4;
	if (*family == 15)
		*family += v >> 20 & 255;
	return true;
}

static int run(int argc, char **argv)
{
	struct request o = { .json = false };
	struct cli_run *const r = &o.run;
	uint32_t regs[4] = { 0 };
	unsigned value = 0, family = 0, model = 0, stepping = 0;
	cli_run_init(r);
	const int go = cli_options_and_words(&cmd_cpuid, &o, argc, argv, no_word);
	if (go <= 0)
		return go ? 2 : 0;
	if (cli_core(r))
		return 2;
	struct spmu_model *m = cli_model(&r->core);
	struct spmu *p = NULL;
	if (!m)
		return 1;
	if (spmu_create(&p, m, &(struct spmu_host){ 0 }) != SPMU_OK) {
		cli_error("out of memory");
		spmu_model_free(m);
		return 1;
	}
	spmu_cpuid_0a(p, regs);
	bool known = signature(r->core.cpuid_signature, &value, &family, &model, &stepping);
	if (o.json) {
		printf("{\"core\": \"%s\", ", r->core.name);
		if (known)
			printf("\"signature\": %u, \"family\": %u, \"model\": %u, \"stepping\": %u, ", value, family,
				model, stepping);
		printf("\"leaf_0a\": {\"eax\": %u, \"ebx\": %u, \"ecx\": %u, \"edx\": %u", regs[0], regs[1], regs[2],
			regs[3]);
		for (size_t i = 0; i < sizeof field / sizeof *field; i++)
			printf(", \"%s\": %u", field[i].key, bits(regs, field + i));
		puts("}}");
	} else {
		printf("%s: %s\n\n", r->core.name, r->core.title);
		if (known)
			printf("leaf 01H  EAX = %08XH: family %u, model %u (%02XH), stepping %u\n\n", value, family,
				model, model, stepping);
		printf("leaf 0AH  EAX = %08XH  EBX = %08XH  ECX = %08XH  EDX = %08XH\n", regs[0], regs[1], regs[2],
			regs[3]);
		for (size_t i = 0; i < sizeof field / sizeof *field; i++) {
			char range[16];
			snprintf(range, sizeof range, field[i].high == field[i].low ? "[%u]" : "[%u:%u]", field[i].high,
				field[i].low);
			printf("  %s%-8s %10u  %s\n", field[i].reg, range, bits(regs, field + i), field[i].meaning);
		}
		for (unsigned i = 0; i < (regs[0] >> 24) && i < sizeof architectural / sizeof *architectural; i++)
			printf("  EBX[%u]     %11s  %s\n", i, regs[1] >> i & 1 ? "absent" : "available",
				architectural[i]);
	}
	spmu_destroy(p);
	spmu_model_free(m);
	return 0;
}

const struct cli_command cmd_cpuid = {
	.name = "cpuid", .summary = "decode a core's CPUID leaf for performance monitoring", .options = options, .run =
		run, .usage = "[options]",
	.about = "Prints CPUID leaf 0AH (architectural performance monitoring) of the modelled core, bit field by "
		"bit field, and the family, model and stepping of its signature. A traced program reads another "
		"CPUID, that of the tracer: it reports every instruction set that the tracer can run.",
};
