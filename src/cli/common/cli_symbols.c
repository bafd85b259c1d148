/* SPDX-License-Identifier: GPL-2.0-or-later
 * From side records to symbols (cli_symbols.h). */
#include "cli/common/cli_symbols.h"
#include "stream/format.h"

void cli_symbols_side(struct symbols *s, uint32_t pid, const uint64_t *record, uint64_t *time)
{
	const struct st_map *map = (const struct st_map *)record;
	const struct st_process *process = (const struct st_process *)record;
	const struct st_fork *fork = (const struct st_fork *)record;
	switch (ST_HEADER_KIND(record[0])) {
	case ST_MAP:
		if (ST_HEADER_LOW(record[0]) < sizeof *map || !(map->prot & ST_PROT_X))
			break;
		symbols_map(s, pid,
			&(struct symbols_map){ .addr = map->addr,
				.bytes = map->bytes, .offset = map->offset, .executable = true,
				.path = (const char *)(map + 1),
				.build_id = map->build_id_bytes ? map->build_id : NULL,
				.build_id_bytes = map->build_id_bytes },
			++*time);
		break;
	case ST_PROCESS:
		if (process->is_exec)
			symbols_exec(s, pid, ++*time);
		break;
	case ST_FORK:
		if (fork->followed)
			symbols_fork(s, pid, fork->child_pid, ++*time);
		break;
	default:
		break;
	}
}
