/* SPDX-License-Identifier: GPL-2.0-or-later
 * Profiles: what was found to suit a program on a core, kept from one run to the next.
 *
 * A store is one SQLite 3 file with a rollback journal.  Every change is one transaction: after a crash in the middle of it, and to whoever reads
 * meanwhile, the store is as it was before or as it is after; writers wait for each other.  The journal is not a WAL: that would need memory shared
 * among all who have the store open, which home directories on network file systems do not give (sqlite.org, "Write-Ahead Logging").
 *
 * A profile belongs to a program, by what is in it and not by where it lies (store/program_key.h), and a core, by its name; several of them are told
 * apart by their names, of which one is active: it is the one that is applied when nobody says which.
 * Left out: profiles of shared objects, and any judgement whether a profile still fits: who rebuilds a program has another one.
 *
 * A store is used by one thread at a time; any number of processes may have it open.
 */
#ifndef STORE_PROFILE_STORE_H
#define STORE_PROFILE_STORE_H
#include "util/err.h"
#include "util/texts.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct store_register { uint32_t msr; uint64_t value; };
struct store_set {			/* a configuration, as text and as registers hold it */
	const char **setting;		/* "feature=level" */
	size_t settings;
	struct store_register *reg;
	size_t regs;
};
struct store_figures {
	uint64_t instructions, cycles;
	double energy;			/* nJ; negative: nobody estimated it */
};
/* Stretches of the run that have settings of their own.  The run begins in the first; a phase begins when the instruction at this place of the object
 * is come to.  object NULL: it never does (again). */
struct store_phase {
	const char *object;		/* file name without directories */
	uint64_t offset;		/* in the file */
	struct store_set set;
	struct store_figures before, after;
};
struct store_tried { const char *settings; /* separated by blanks; "" the preset's */ struct store_figures figures; };
struct store_profile {
	const char *program;		/* program_key */
	const char *path;		/* where it was then */
	const char *core;
	const char *name;		/* "": the one without a name */
	const char *objective, *command, *date, *version;	/* texts of whoever made it */
	bool active;
	struct store_figures before, after;	/* promised: the whole run, as the core has it and with the profile */
	struct store_set set;		/* of the whole run, or where no phase has begun */
	struct store_phase *phase;
	size_t phases;
	struct store_tried *tried;
	size_t tries;
	struct texts texts;		/* of a profile from a store: the strings' */
};

struct profile_store;

/* The file that belongs to the user: $SOFTPMU_STORE/profiles.db, else $XDG_DATA_HOME/softpmu/profiles.db, else $HOME/.local/share/softpmu/profiles.db. */
int  profile_store_path(char *path, size_t bytes, struct err *err);
/* create: make the file, and the folders it is in, if it is not there.  Without it, and without the file: 0 and *out NULL. */
int  profile_store_open(struct profile_store **out, const char *path, bool create, struct err *err);
void profile_store_close(struct profile_store *s);

/* Keeps it, in place of the one with its program, core and name; it becomes the active one.  Strings may be NULL but program and core. */
int  profile_store_put(struct profile_store *s, const struct store_profile *p, struct err *err);
/* The profile of this name, of name NULL the active one: 1 and *out filled, to be given to store_profile_free; 0: there is none. */
int  profile_store_get(struct profile_store *s, const char *program, const char *core, const char *name, struct store_profile *out, struct err *err);
/* All that fit, by path, program, core and name; NULL: any.  Registers, phases and what was tried are not filled in, the latter two counted.  each: not 0 ends it. */
int  profile_store_list(struct profile_store *s, const char *program, const char *core, const char *name,
			int (*each)(void *context, const struct store_profile *p), void *context, struct err *err);
/* This one is the active one of its program and core; name NULL: none is.  1, or 0 if there is none of this name. */
int  profile_store_activate(struct profile_store *s, const char *program, const char *core, const char *name, struct err *err);
/* How many went; *_NULL: any. */
int  profile_store_forget(struct profile_store *s, const char *program, const char *core, const char *name, struct err *err);
void store_profile_free(struct store_profile *p);
#endif
