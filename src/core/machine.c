/* SPDX-License-Identifier: GPL-2.0-or-later
 * A machine: its description and what its cores share.  Leaves out: sockets, clusters, frequency changes.
 */
#include "core/pipeline.h"
#include <stdlib.h>

int machine_create(struct machine **out, const struct core_config *config, struct err *err)
{
	int code = core_config_check(config, err);
	if (code)
		return code;
	struct machine *m = calloc(1, sizeof *m);
	if (!m)
		return err_set(err, ERR_NOMEM, "out of memory for a machine");
	m->config = *config;
	code = memsys_shared_create(&m->shared, &m->config, err);
	if (code) {
		free(m);
		return code;
	}
	*out = m;
	return 0;
}

void machine_destroy(struct machine *m)
{
	if (!m)
		return;
	memsys_shared_destroy(m->shared);
	free(m);
}
