/* SPDX-License-Identifier: GPL-2.0-or-later
 * Profiles: what was found to suit a program on a core, kept from one run to the next.
 *
 * A store is one SQLite 3 file with a rollback journal.  Every change is one transaction: after a crash, and for
 * concurrent readers, the store is as before the change or as after it; writers wait for each other.  The journal
 * is not a WAL, because that needs memory shared among all processes that have the store open, which home
 * directories on network file systems do not provide (sqlite.org, "Write-Ahead Logging").
 *
 * A profile belongs to a program, identified by its content and not by its path (store/program_key.h), and to a
 * core, identified by its name.  Several profiles of both are distinguished by their names; one of them is active:
 * it is applied when no name is given. Left out: profiles of shared objects, and any judgement whether a profile
 * still fits: a rebuilt program has another key.
 *
 * Only one thread at a time may use a store; any number of processes may have it open.
 */
#ifndef STORE_PROFILE_STORE_H
#define STORE_PROFILE_STORE_H
#include "util/err.h"
#include "util/texts.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct store_register { uint32_t msr; uint64_t value; };
struct store_set {			/* a configuration, as text and as register values */
	const char **setting;		/* "feature=level" */
	size_t settings;
	struct store_register *reg;
	size_t regs;
};
struct store_figures {
	uint64_t instructions, cycles;
	double energy;			/* nJ; negative: not estimated */
};
/* Part of a run with settings of its own.  The run begins in the first phase; a later one begins when the
 * instruction at this place of the object is reached.  object NULL: it is never reached (again). */
struct store_phase {
	const char *object;		/* file name without directory */
	uint64_t offset;		/* in the file */
	struct store_set set;
	struct store_figures before, after;
};
/* separated by blanks; "": the preset's */
struct store_tried { const char *settings; struct store_figures figures; };
struct store_profile {
	const char *program;		/* program_key */
	const char *path;		/* its path at that time */
	const char *core;
	const char *name;		/* "": the profile without a name */
	const char *objective, *command, *date, *version;	/* texts from the command that made it */
	bool active;
	/* promised for the whole run: with the core's own settings, and with the profile */
	struct store_figures before, after;
	struct store_set set;		/* for the whole run, or until a phase has begun */
	struct store_phase *phase;
	size_t phases;
	struct store_tried *tried;
	size_t tries;
	struct texts texts;		/* owns the strings of a profile that was read from a store */
};

struct profile_store;

/* The user's store: $SOFTPMU_STORE/profiles.db, else $XDG_DATA_HOME/softpmu/profiles.db, else
 * $HOME/.local/share/softpmu/profiles.db. */
int  profile_store_path(char *path, size_t bytes, struct err *err);
/* create: make the file, and its directories, if it does not exist.  Otherwise, if there is no file: 0 and *out
 * NULL. */
int  profile_store_open(struct profile_store **out, const char *path, bool create, struct err *err);
void profile_store_close(struct profile_store *s);

/* Stores the profile, in place of the one with its program, core and name, and makes it the active one.  All
 * strings except program and core may be NULL. */
int  profile_store_put(struct profile_store *s, const struct store_profile *p, struct err *err);
/* Reads the profile of this name, or with name NULL the active one.  1: *out is filled, to be freed with
 * store_profile_free; 0: there is none. */
int profile_store_get(struct profile_store *s, const char *program, const char *core, const char *name,
	struct store_profile *out, struct err *err);
/* Lists all matching profiles, ordered by path, program, core and name; NULL matches any.  Registers are not
 * filled in; phases and tried settings are only counted.  If each returns nonzero, the list ends there. */
int  profile_store_list(struct profile_store *s, const char *program, const char *core, const char *name,
			int (*each)(void *context, const struct store_profile *p), void *context, struct err *err);
/* Makes this profile the active one of its program and core; with name NULL none is active.  1, or 0 if there is
 * none of this name. */
int profile_store_activate(struct profile_store *s, const char *program, const char *core, const char *name,
	struct err *err);
/* Removes profiles; NULL matches any.  Returns how many it removed. */
int profile_store_forget(struct profile_store *s, const char *program, const char *core, const char *name,
	struct err *err);
void store_profile_free(struct store_profile *p);
#endif
