/* SPDX-License-Identifier: GPL-2.0-or-later
 * The preset for the processor that softpmu itself runs on.  Each preset lists the processors that it models in
 * cpuid_models.  Nothing is guessed: a processor that no preset lists is refused, and the message names the nearest
 * presets.  The nearest has the same family, then the smallest difference of model numbers, which rise with the years
 * with few exceptions.  Other makers' processors are compared with that maker's presets in this way, and with Intel's
 * presets through an Intel processor that has the same vector extensions.
 * Left out: the two kinds of cores of a hybrid processor (leaf 1AH); its performance cores decide the preset.
 * Source: SDM vol. 2A, "CPUID", leaves 0, 1, 7 and 80000002H to 80000004H; DisplayFamily and DisplayModel as in its
 * pseudocode. */
#include "core/machine/host_preset.h"
#include <cpuid.h>
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Sets like_*: the first, or the most common, Intel processor with the host's vector extensions and a preset. */
static void like(struct core_host *h, unsigned ecx, unsigned edx)
{
	unsigned a = 0, b = 0, c = 0, d = 0;
	__get_cpuid_count(7, 0, &a, &b, &c, &d);
	const struct { bool has; uint32_t family, model; } list[] = {
		{ b & bit_AVX512F, 0x06, 0x8f },
		{ b & bit_AVX2, 0x06, 0x5e },
		{ ecx & bit_AVX, 0x06, 0x3a },
		{ ecx & bit_SSSE3, 0x06, 0x0f },
		{ ecx & bit_SSE3, 0x0f, 0x04 },
		{ edx & bit_SSE2, 0x0f, 0x01 },
		{ edx & bit_SSE, 0x06, 0x08 },
		{ true, 0x05, 0x02 },
	};
	size_t i = 0;
	while (!list[i].has)
		i++;
	h->like_family = list[i].family;
	h->like_model = list[i].model;
}

void core_host_read(struct core_host *h)
{
	unsigned a, b, c, d;
	memset(h, 0, sizeof *h);
	if (!__get_cpuid(0, &a, &b, &c, &d))
		return;
	memcpy(h->vendor, &b, 4);
	memcpy(h->vendor + 4, &d, 4);
	memcpy(h->vendor + 8, &c, 4);
	if (!__get_cpuid(1, &a, &b, &c, &d))
		return;
	h->family = a >> 8 & 15;
	h->model = a >> 4 & 15;
	if (h->family == 6 || h->family == 15)
		h->model |= (a >> 16 & 15) << 4;
	if (h->family == 15)
		h->family += a >> 20 & 255;
	like(h, c, d);
	char brand[49] = "";
	for (unsigned i = 0; i < 3; i++) {
		unsigned r[4];
		if (!__get_cpuid(0x80000002 + i, r, r + 1, r + 2, r + 3))
			return;
		memcpy(brand + 16 * i, r, 16);
	}
	char *s = brand;
	while (*s == ' ')
		s++;
	for (size_t n = strlen(s); n && s[n - 1] == ' '; n--)
		s[n - 1] = 0;
	for (char *p = s; *p; p++)
		*p = isprint((unsigned char)*p) ? *p : '?';
	strcpy(h->brand, s);
}

/* Do the models (FAMILY_MODEL in hexadecimal, separated by blanks, as core_config_check accepts them) contain the
 * host? */
static bool stands_for(const char *models, const struct core_host *h)
{
	for (const char *s = models; *s;) {
		char *end;
		unsigned long family = strtoul(s, &end, 16), model = *end == '_' ? strtoul(end + 1, &end, 16) : ~0ul;
		if (family == h->family && model == h->model)
			return true;
		s = end + strcspn(end, " \t");
		s += strspn(s, " \t");
	}
	return false;
}

/* How far a preset is from the host: by family and model if the makers are the same, else by the host's like_family and
 * like_model.  ~0: they cannot be compared. */
static unsigned distance(const struct core_config *c, const struct core_host *h)
{
	unsigned long s = strtoul(c->cpuid_signature, NULL, 16);
	unsigned family = s >> 8 & 15, model = (s >> 4 & 15) | (s >> 16 & 15) << 4;
	bool same = !strcmp(c->cpuid_vendor, h->vendor);
	unsigned wanted_family = same ? h->family : h->like_family, wanted = same ? h->model : h->like_model;
	unsigned apart = model > wanted ? model - wanted : wanted - model;
	if (family == 15)
		family += s >> 20 & 255;
	if (!same && strcmp(c->cpuid_vendor, "GenuineIntel"))
		return ~0u;
	if (family == wanted_family)
		return apart;
	return apart + 1000 + 1000 * (family > wanted_family ? family - wanted_family : wanted_family - family);
}

int core_host_preset(char *name, size_t bytes, const char *data_dir, const struct core_host *h, struct err *err)
{
	enum { NEAREST = 2 };
	char *names[CONFIG_PRESETS], nearest[NEAREST][64] = { "" };
	unsigned far[NEAREST] = { ~0u, ~0u };
	bool found = false;
	int count = core_config_presets(names, data_dir, err);
	if (count < 0)
		return count;
	for (int i = 0; i < count; i++) {
		struct core_config c;
		if (!found && !core_config_load(&c, data_dir, names[i], NULL)) {
			unsigned d = distance(&c, h);
			if (!strcmp(c.cpuid_vendor, h->vendor) && stands_for(c.cpuid_models, h)) {
				found = true;
				snprintf(name, bytes, "%s", names[i]);
			} else if (d < far[0]) {
				far[1] = far[0];
				memcpy(nearest[1], nearest[0], sizeof nearest[0]);
				far[0] = d;
				memcpy(nearest[0], c.name, sizeof nearest[0]);
			} else if (d < far[1]) {
				far[1] = d;
				memcpy(nearest[1], c.name, sizeof nearest[1]);
			}
		}
		free(names[i]);
	}
	if (found)
		return 0;
	return err_set(err, ERR_UNSUPPORTED,
		"no preset models this host, %s family %02XH, model %02XH%s%s%s; nearest presets: %s%s%s",
		*h->vendor ? h->vendor : "unknown vendor", h->family, h->model, *h->brand ? " (" : "", h->brand,
		*h->brand ? ")" : "", *nearest[0] ? nearest[0] : "none", *nearest[1] ? ", " : "", nearest[1]);
}
