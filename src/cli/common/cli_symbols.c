/* SPDX-License-Identifier: GPL-2.0-or-later
 * From side records to symbols (cli_symbols.h). */
#include "cli/cli.h"
#include "cli/common/cli_symbols.h"
#include "stream/format.h"

uint32_t cli_symbols_pid(const struct run_thread *t)
{
	return t->is_machine ? symbols_space_pid(t->process_space) : t->pid;
}

/* A file that names addresses of a whole machine. */
static void on_symbols(struct symbols *s, const struct st_symbols *record, uint64_t *time)
{
	const uint32_t pid = symbols_space_pid(record->tag);
	const char *path = st_symbols_path(record);
	struct err err = { 0 };
	if (!path)
		return;
	switch (record->what) {
	case ST_SYMBOLS_KALLSYMS:
		if (symbols_kernel(s, path, &err))
			cli_warn("the kernel's functions have no names: %s", err.text);
		break;
	case ST_SYMBOLS_CODE:
		symbols_map(s, pid, &(struct symbols_map){ .addr = record->addr, .bytes = record->bytes,
			.offset = record->offset, .executable = true, .path = path }, ++*time);
		break;
	case ST_SYMBOLS_PROGRAM:
		if (!*path)	/* the space is another program's from now on */
			symbols_exec(s, pid, ++*time);
		break;
	}
}

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
		if (process->is_machine)
			symbols_machine(s);
		if (process->is_exec)
			symbols_exec(s, pid, ++*time);
		break;
	case ST_FORK:
		if (fork->followed)
			symbols_fork(s, pid, fork->child_pid, ++*time);
		break;
	case ST_SYMBOLS:
		on_symbols(s, (const struct st_symbols *)record, time);
		break;
	default:
		break;
	}
}
