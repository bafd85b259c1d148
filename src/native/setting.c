/* SPDX-License-Identifier: GPL-2.0-or-later
 * The knobs by name.
 */
#include "native/setting.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Sources.  1A4H: Intel SDM volume 4, MSR_MISC_FEATURE_CONTROL of processors based on Nehalem and later.
 * C000_0108H: AMD, Processor Programming Reference of family 19h model 11h, MSRC000_0108 "Prefetch Control". */
static const struct native_bit bits[] = {
	{ "prefetch.l2_streamer", "GenuineIntel", 0x1a4, 0, "L2 streamer" },
	{ "prefetch.l2_adjacent", "GenuineIntel", 0x1a4, 1, "L2 prefetcher of the other line of a pair" },
	{ "prefetch.l1d_next_line", "GenuineIntel", 0x1a4, 2, "L1 data prefetcher of the next line" },
	{ "prefetch.l1d_ip", "GenuineIntel", 0x1a4, 3, "L1 data prefetcher by instruction" },
	{ "prefetch.l1d_stream", "AuthenticAMD", 0xc0000108, 0, "L1 data prefetcher of streams" },
	{ "prefetch.l1d_stride", "AuthenticAMD", 0xc0000108, 1, "L1 data prefetcher of strides by instruction" },
	{ "prefetch.l1d_region", "AuthenticAMD", 0xc0000108, 2, "L1 data prefetcher of regions" },
	{ "prefetch.l2_stream", "AuthenticAMD", 0xc0000108, 3, "L2 prefetcher of streams" },
	{ "prefetch.l2_up_down", "AuthenticAMD", 0xc0000108, 5, "L2 prefetcher of the next or previous line" },
};
enum { BITS = sizeof bits / sizeof *bits };

/* values: "N" means any number from least to most; else words separated by '|', of which the position counts:
 * off|on is 0 and 1. */
static const struct knob { const char *name; enum native_kind kind; const char *values; long least, most; } knobs[] = {
	{ "glibc.malloc.arena_max", NATIVE_TUNABLE, "N", 1, 1L << 40 },
	{ "glibc.malloc.tcache_count", NATIVE_TUNABLE, "N", 0, 65535 },
	{ "glibc.malloc.mmap_threshold", NATIVE_TUNABLE, "N", 0, 1L << 40 },
	{ "glibc.malloc.trim_threshold", NATIVE_TUNABLE, "N", 0, 1L << 40 },
	{ "glibc.malloc.top_pad", NATIVE_TUNABLE, "N", 0, 1L << 40 },
	{ "glibc.malloc.hugetlb", NATIVE_TUNABLE, "N", 0, 2 },
	{ "thp", NATIVE_THP, "off", 0, 0 },
	{ "spec.store_bypass", NATIVE_SPEC, "off|on", 0, 0 },
	{ "spec.indirect_branch", NATIVE_SPEC, "off|on", 0, 0 },
	{ "spec.l1d_flush", NATIVE_SPEC, "off|on", 0, 0 },
	{ "aslr", NATIVE_ASLR, "off", 0, 0 },
	{ "cpu", NATIVE_CPU, "N", 0, 8191 },
	{ "sched", NATIVE_SCHED, "batch", 0, 0 },
	{ "nice", NATIVE_NICE, "N", -20, 19 },
	{ "numa", NATIVE_NUMA, "interleave", 0, 0 },
	{ "l3.ways", NATIVE_CACHE, "half", 0, 0 },
};

static bool knob_of(const char *name, struct knob *out)
{
	for (size_t i = 0; i < sizeof knobs / sizeof *knobs; i++)
		if (!strcmp(knobs[i].name, name)) {
			*out = knobs[i];
			return true;
		}
	for (size_t i = 0; i < BITS; i++)
		if (!strcmp(bits[i].knob, name)) {
			*out = (struct knob){ bits[i].knob, NATIVE_MSR, "off|on", 0, 0 };
			return true;
		}
	return false;
}

static bool value_of(const struct knob *k, const char *value, long *number)
{
	char *end;
	if (!strcmp(k->values, "N")) {
		*number = strtol(value, &end, 10);
		return *value && !*end && strlen(value) < 20 && *value != ' ' && *value != '+' && *number >= k->least &&
			*number <= k->most;
	}
	size_t n = strlen(value);
	*number = 0;
	for (const char *word = k->values; n && word; word = strchr(word, '|'), word += word != NULL, ++*number)
		if (strcspn(word, "|") == n && !strncmp(word, value, n))
			return true;
	return false;
}

int native_set_add(struct native_set *s, const char *text, struct err *err)
{
	const char *equals = strchr(text, '=');
	struct native_setting new = { .number = 0 };
	struct knob k;
	if (!equals || (size_t)(equals - text) >= sizeof new.knob || strlen(equals + 1) >= sizeof new.value)
		return err_set(err, ERR_INPUT, "'%.100s' is not a setting: write knob=value", text);
	memcpy(new.knob, text, (size_t)(equals - text));
	strcpy(new.value, equals + 1);
	if (!knob_of(new.knob, &k))
		return err_set(err, ERR_INPUT, "there is no knob '%s' for a real machine", new.knob);
	if (!value_of(&k, new.value, &new.number))
		return err_set(err, ERR_INPUT, "%s=%s: %s has values %s", new.knob, new.value, new.knob,
			!strcmp(k.values, "N") ? "that are numbers in its range" : k.values);
	new.kind = k.kind;
	for (unsigned i = 0; i < s->n; i++)
		if (!strcmp(s->at[i].knob, new.knob))
			return 0;
	if (s->n == NATIVE_SETTINGS)
		return err_set(err, ERR_INPUT, "more than %d settings", NATIVE_SETTINGS);
	s->at[s->n++] = new;
	return 0;
}

int native_set_join(struct native_set *s, const struct native_set *other, struct err *err)
{
	for (unsigned i = 0; i < other->n; i++) {
		char text[2 * NATIVE_WORD];
		snprintf(text, sizeof text, "%s=%s", other->at[i].knob, other->at[i].value);
		int rc = native_set_add(s, text, err);
		if (rc)
			return rc;
	}
	return 0;
}

const char *native_set_text(const struct native_set *s, char *text)
{
	size_t used = 0;
	strcpy(text, "none");
	for (unsigned i = 0; i < s->n; i++)
		used += (size_t)snprintf(
			text + used, NATIVE_TEXT - used, "%s%s=%s", i ? " " : "", s->at[i].knob, s->at[i].value);
	return text;
}

bool native_is_machine(const struct native_setting *s)
{
	return s->kind == NATIVE_MSR || s->kind == NATIVE_CACHE;
}

bool native_set_machine(const struct native_set *s)
{
	for (unsigned i = 0; i < s->n; i++)
		if (native_is_machine(&s->at[i]))
			return true;
	return false;
}

unsigned native_bits(const char *vendor, const struct native_bit **bit)
{
	unsigned n = 0;
	*bit = bits;
	for (unsigned i = 0; i < BITS; i++)
		if (!strcmp(bits[i].vendor, vendor)) {
			if (!n)
				*bit = &bits[i];
			n++;
		}
	return n;
}
