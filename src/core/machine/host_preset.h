/* SPDX-License-Identifier: GPL-2.0-or-later
 * The processor that softpmu itself runs on, and the preset that models it: `--core host`.
 */
#ifndef CORE_HOST_PRESET_H
#define CORE_HOST_PRESET_H
#include "core/machine/config.h"

/* As CPUID tells; under a hypervisor what that tells. */
struct core_host {
	char vendor[13], brand[49];	/* GenuineIntel; the brand string without blanks at its ends, "" if there is none */
	uint32_t family, model;		/* DisplayFamily, DisplayModel: extended fields added */
	uint32_t like_family, like_model; /* an Intel processor with the same vector extensions, to name presets that are near */
};

void core_host_read(struct core_host *host);
/* The preset whose cpuid_models hold the host's family and model, into name. None: ERR_UNSUPPORTED, naming the host and the nearest presets.
 * A preset that cannot be read matches nothing. */
int core_host_preset(char *name, size_t bytes, const char *data_dir, const struct core_host *host, struct err *err);
#endif
