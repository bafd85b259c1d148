/* SPDX-License-Identifier: GPL-2.0-or-later
 * The processor that softpmu itself runs on, and the preset that models it: `--core host`.
 */
#ifndef CORE_HOST_PRESET_H
#define CORE_HOST_PRESET_H
#include "core/machine/config.h"

/* What CPUID reports.  Under a hypervisor, that is what the hypervisor lets it report. */
struct core_host {
	/* e.g.  GenuineIntel; brand string without blanks at its ends, "" if there is none */
	char vendor[13], brand[49];
	uint32_t family, model;		/* DisplayFamily, DisplayModel: with the extended fields */
	/* an Intel processor with the same vector extensions: it decides which presets are near to another maker's
	 * host */
	uint32_t like_family, like_model;
};

void core_host_read(struct core_host *host);
/* Writes the name of the preset whose cpuid_models contain the host's family and model.  If there is none:
 * ERR_UNSUPPORTED, with the host and the nearest presets in the message.
 * A preset that cannot be read matches nothing. */
int core_host_preset(char *name, size_t bytes, const char *data_dir, const struct core_host *host, struct err *err);
#endif
