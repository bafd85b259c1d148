/* SPDX-License-Identifier: GPL-2.0-or-later
 * The store in SQLite (profile_store.h).
 *
 * The file's content is treated as hostile input: its schema is not trusted (sqlite.org, "Defense Against The Dark
 * Arts"), a file that is not a store of ours is refused by its application id, and text that is too long or absent
 * is an error of the file.
 */
#include "store/profile_store.h"
#include <errno.h>
#include <limits.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
	APPLICATION = 0x53504d55,	/* "SPMU" */
	LAYOUT = 1,			/* user_version */
	WAIT_MS = 60000,		/* how long to wait for other writers */
	TEXT_MOST = 1 << 20, ROWS_MOST = 1 << 20,
	WHOLE_RUN = -1,			/* phase number of a setting for the whole run */
};

struct profile_store { sqlite3 *db; char *path; };

static const char layout[] = "CREATE TABLE profile (id INTEGER PRIMARY KEY, program TEXT NOT NULL, core TEXT NOT NULL, "
			     "name TEXT NOT NULL, path TEXT NOT NULL,"
			     " objective TEXT NOT NULL, command TEXT NOT NULL, date TEXT NOT NULL, version TEXT NOT "
			     "NULL, active INTEGER NOT NULL,"
			     " instructions_before INTEGER, cycles_before INTEGER, energy_before REAL,"
			     " instructions_after INTEGER, cycles_after INTEGER, energy_after REAL, UNIQUE (program, "
			     "core, name));"
			     "CREATE TABLE phase (profile INTEGER NOT NULL REFERENCES profile ON DELETE CASCADE, "
			     "number INTEGER NOT NULL, object TEXT, offset INTEGER NOT NULL,"
			     " instructions_before INTEGER, cycles_before INTEGER, energy_before REAL,"
			     " instructions_after INTEGER, cycles_after INTEGER, energy_after REAL, PRIMARY KEY "
			     "(profile, number));"
			     "CREATE TABLE setting (profile INTEGER NOT NULL REFERENCES profile ON DELETE CASCADE, "
			     "phase INTEGER NOT NULL, number INTEGER NOT NULL,"
			     " text TEXT NOT NULL, PRIMARY KEY (profile, phase, number));"
			     "CREATE TABLE register (profile INTEGER NOT NULL REFERENCES profile ON DELETE CASCADE, "
			     "phase INTEGER NOT NULL, number INTEGER NOT NULL,"
			     " msr INTEGER NOT NULL, value INTEGER NOT NULL, PRIMARY KEY (profile, phase, number));"
			     "CREATE TABLE tried (profile INTEGER NOT NULL REFERENCES profile ON DELETE CASCADE, "
			     "number INTEGER NOT NULL, settings TEXT NOT NULL,"
			     " instructions INTEGER, cycles INTEGER, energy REAL, PRIMARY KEY (profile, number));";

static int failed(struct profile_store *s, struct err *err)
{
	int code = sqlite3_errcode(s->db) & 255;
	switch (code) {
	case SQLITE_NOMEM:
		return err_set(err, ERR_NOMEM, "out of memory for the profile store %s", s->path);
	case SQLITE_NOTADB: case SQLITE_CORRUPT:
		return err_set(err, ERR_INPUT,
			"%s: is damaged or not a profile store (%s); remove it to start a new one", s->path,
			sqlite3_errmsg(s->db));
	case SQLITE_BUSY:
		return err_set(err, ERR_SYSTEM, "%s: another process has kept the profile store locked for %d seconds",
			s->path, WAIT_MS / 1000);
	default:
		return err_set(err, ERR_SYSTEM, "profile store %s: %s", s->path, sqlite3_errmsg(s->db));
	}
}

static int damaged(struct profile_store *s, struct err *err)
{
	return err_set(err, ERR_INPUT,
		"%s: is damaged: a profile in it has content that softpmu does not write", s->path);
}

static int run(struct profile_store *s, const char *sql, struct err *err)
{
	return sqlite3_exec(s->db, sql, NULL, NULL, NULL) == SQLITE_OK ? 0 : failed(s, err);
}

/* ---- the file's path ---- */

int profile_store_path(char *path, size_t bytes, struct err *err)
{
	const char *own = getenv("SOFTPMU_STORE"), *data = getenv("XDG_DATA_HOME"), *home = getenv("HOME");
	int n;
	if (own && *own)
		n = snprintf(path, bytes, "%s/profiles.db", own);
	else if (data && *data == '/')	/* a relative path is ignored: XDG Base Directory Specification */
		n = snprintf(path, bytes, "%s/softpmu/profiles.db", data);
	else if (home && *home)
		n = snprintf(path, bytes, "%s/.local/share/softpmu/profiles.db", home);
	else
		return err_set(err, ERR_INPUT,
			"there is no directory for profiles: set SOFTPMU_STORE, XDG_DATA_HOME or HOME");
	return n > 0 && (size_t)n < bytes ? 0 : err_set(err, ERR_INPUT, "the name of the profile store is too long");
}

static int make_folders(const char *path, struct err *err)
{
	char folder[PATH_MAX];
	if (strlen(path) >= sizeof folder)
		return err_set(err, ERR_INPUT, "the name of the profile store is too long");
	strcpy(folder, path);
	for (char *c = folder + 1; *c; c++)
		if (*c == '/') {
			*c = 0;
			if (mkdir(folder, 0700) && errno != EEXIST && errno != EISDIR && access(folder, X_OK))
				return err_system(err, "%s: cannot be made", folder);
			*c = '/';
		}
	return 0;
}

/* ---- open ---- */

static int number(struct profile_store *s, const char *sql, sqlite3_int64 *out, struct err *err)
{
	sqlite3_stmt *q = NULL;
	int rc = sqlite3_prepare_v2(s->db, sql, -1, &q, NULL);
	*out = 0;
	if (rc == SQLITE_OK && (rc = sqlite3_step(q)) == SQLITE_ROW)
		*out = sqlite3_column_int64(q, 0);
	int code = rc == SQLITE_ROW || rc == SQLITE_DONE ? 0 : failed(s, err);
	sqlite3_finalize(q);
	return code;
}

/* Returns 1: ours; 0: an empty file; or an error.  Call it within a transaction: another process may be creating
 * the store. */
static int is_ours(struct profile_store *s, struct err *err)
{
	sqlite3_int64 application, version, tables;
	int code = number(s, "PRAGMA application_id", &application, err);
	if (!code)
		code = number(s, "PRAGMA user_version", &version, err);
	if (!code)
		code = number(s, "SELECT count(*) FROM sqlite_schema", &tables, err);
	if (code)
		return code;
	if (!application && !version && !tables)
		return 0;
	if (application != APPLICATION)
		return err_set(err, ERR_INPUT, "%s: is a database, but not a profile store of softpmu", s->path);
	if (version != LAYOUT)
		return err_set(err, ERR_UNSUPPORTED, "%s: a profile store of layout %lld, this softpmu reads %d",
			s->path, (long long)version, LAYOUT);
	return 1;
}

static int begin_store(struct profile_store *s, struct err *err)
{
	char pragmas[128];
	int code = run(s, "BEGIN IMMEDIATE", err);
	if (code)
		return code;
	code = is_ours(s, err);	/* another process may have been first */
	if (!code) {
		snprintf(pragmas, sizeof pragmas, "PRAGMA application_id=%d; PRAGMA user_version=%d;", APPLICATION,
			LAYOUT);
		code = run(s, pragmas, err);
		if (!code)
			code = run(s, layout, err);
	} else if (code > 0) {
		code = 0;
	}
	if (!code)
		code = run(s, "COMMIT", err);
	if (code)
		sqlite3_exec(s->db, "ROLLBACK", NULL, NULL, NULL);
	return code;
}

int profile_store_open(struct profile_store **out, const char *path, bool create, struct err *err)
{
	struct stat st;
	*out = NULL;
	int code = create ? make_folders(path, err) : 0;
	if (code)
		return code;
	if (stat(path, &st)) {
		if (!create && (errno == ENOENT || errno == ENOTDIR))
			return 0;
		if (errno != ENOENT)
			return err_system(err, "%s: cannot be opened", path);
	} else if (!S_ISREG(st.st_mode)) {
		return err_set(err, ERR_INPUT, "%s: is not a file, so it is not a profile store", path);
	}
	struct profile_store *s = calloc(1, sizeof *s);
	if (!s || !(s->path = strdup(path))) {
		free(s);
		return err_set(err, ERR_NOMEM, "out of memory for the profile store %s", path);
	}
	/* open for writing in any case: the first to open it after a crash must roll back */
	if (sqlite3_open_v2(path, &s->db,
		    SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX | (create ? SQLITE_OPEN_CREATE : 0),
		    NULL) != SQLITE_OK) {
		code = s->db ? failed(s, err) : err_set(err, ERR_NOMEM, "out of memory for the profile store %s", path);
		profile_store_close(s);
		return code;
	}
	sqlite3_busy_timeout(s->db, WAIT_MS);
	sqlite3_limit(s->db, SQLITE_LIMIT_LENGTH, TEXT_MOST);
	sqlite3_db_config(s->db, SQLITE_DBCONFIG_DEFENSIVE, 1, NULL);
	sqlite3_db_config(s->db, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, NULL);
	code = run(s,
		"PRAGMA foreign_keys=ON; PRAGMA cell_size_check=ON; PRAGMA journal_mode=DELETE; PRAGMA "
		"synchronous=FULL",
		err);
	if (!code && !(code = run(s, "BEGIN", err))) {
		code = is_ours(s, err);
		sqlite3_exec(s->db, "COMMIT", NULL, NULL, NULL);	/* nothing was written */
	}
	if (!code && create)
		code = begin_store(s, err);
	else if (code > 0)
		code = 0;
	else if (!code) {	/* treat an empty file as if it did not exist */
		profile_store_close(s);
		return 0;
	}
	if (code) {
		profile_store_close(s);
		return code;
	}
	*out = s;
	return 0;
}

void profile_store_close(struct profile_store *s)
{
	if (!s)
		return;
	sqlite3_close(s->db);
	free(s->path);
	free(s);
}

/* ---- writing ---- */

static int prepare(struct profile_store *s, sqlite3_stmt **q, const char *sql, struct err *err)
{
	return sqlite3_prepare_v2(s->db, sql, -1, q, NULL) == SQLITE_OK ? 0 : failed(s, err);
}

static void bind_text(sqlite3_stmt *q, int at, const char *text)
{
	sqlite3_bind_text(q, at, text ? text : "", -1, SQLITE_STATIC);
}

static void bind_figures(sqlite3_stmt *q, int at, const struct store_figures *f)
{
	sqlite3_bind_int64(q, at, (sqlite3_int64)f->instructions);
	sqlite3_bind_int64(q, at + 1, (sqlite3_int64)f->cycles);
	if (f->energy >= 0)
		sqlite3_bind_double(q, at + 2, f->energy);
	else
		sqlite3_bind_null(q, at + 2);
}

/* Runs a statement that gives no rows, and prepares it for its next values.  A value that could not be bound (too
 * long) must not become a NULL. */
static int done(struct profile_store *s, sqlite3_stmt *q, struct err *err)
{
	int code = sqlite3_errcode(s->db) == SQLITE_TOOBIG || sqlite3_step(q) != SQLITE_DONE ? failed(s, err) : 0;
	sqlite3_reset(q);
	return code;
}

static int put_set(struct profile_store *s, sqlite3_int64 id, int phase, const struct store_set *set, struct err *err)
{
	sqlite3_stmt *q = NULL;
	int code = prepare(s, &q, "INSERT INTO setting VALUES (?,?,?,?)", err);
	for (size_t i = 0; !code && i < set->settings; i++) {
		sqlite3_bind_int64(q, 1, id);
		sqlite3_bind_int(q, 2, phase);
		sqlite3_bind_int64(q, 3, (sqlite3_int64)i);
		bind_text(q, 4, set->setting[i]);
		code = done(s, q, err);
	}
	sqlite3_finalize(q);
	q = NULL;
	if (!code)
		code = prepare(s, &q, "INSERT INTO register VALUES (?,?,?,?,?)", err);
	for (size_t i = 0; !code && i < set->regs; i++) {
		sqlite3_bind_int64(q, 1, id);
		sqlite3_bind_int(q, 2, phase);
		sqlite3_bind_int64(q, 3, (sqlite3_int64)i);
		sqlite3_bind_int64(q, 4, set->reg[i].msr);
		sqlite3_bind_int64(q, 5, (sqlite3_int64)set->reg[i].value);
		code = done(s, q, err);
	}
	sqlite3_finalize(q);
	return code;
}

static int put_phases(struct profile_store *s, sqlite3_int64 id, const struct store_profile *p, struct err *err)
{
	sqlite3_stmt *q = NULL;
	int code = prepare(s, &q, "INSERT INTO phase VALUES (?,?,?,?,?,?,?,?,?,?)", err);
	for (size_t i = 0; !code && i < p->phases; i++) {
		const struct store_phase *f = p->phase + i;
		sqlite3_bind_int64(q, 1, id);
		sqlite3_bind_int64(q, 2, (sqlite3_int64)i);
		if (f->object)
			bind_text(q, 3, f->object);
		else
			sqlite3_bind_null(q, 3);
		sqlite3_bind_int64(q, 4, (sqlite3_int64)f->offset);
		bind_figures(q, 5, &f->before);
		bind_figures(q, 8, &f->after);
		code = done(s, q, err);
		if (!code)
			code = put_set(s, id, (int)i, &f->set, err);
	}
	sqlite3_finalize(q);
	return code;
}

static int put_tried(struct profile_store *s, sqlite3_int64 id, const struct store_profile *p, struct err *err)
{
	sqlite3_stmt *q = NULL;
	int code = prepare(s, &q, "INSERT INTO tried VALUES (?,?,?,?,?,?)", err);
	for (size_t i = 0; !code && i < p->tries; i++) {
		sqlite3_bind_int64(q, 1, id);
		sqlite3_bind_int64(q, 2, (sqlite3_int64)i);
		bind_text(q, 3, p->tried[i].settings);
		bind_figures(q, 4, &p->tried[i].figures);
		code = done(s, q, err);
	}
	sqlite3_finalize(q);
	return code;
}

static int put_profile(struct profile_store *s, const struct store_profile *p, struct err *err)
{
	const char *text[] = { p->program, p->core, p->name, p->path, p->objective, p->command, p->date, p->version };
	sqlite3_stmt *q = NULL;
	int code = prepare(s, &q, "DELETE FROM profile WHERE program=? AND core=? AND name=?", err);
	for (int i = 0; !code && i < 3; i++)
		bind_text(q, 1 + i, text[i]);
	if (!code)
		code = done(s, q, err);
	sqlite3_finalize(q);
	q = NULL;
	if (!code)
		code = prepare(s, &q, "UPDATE profile SET active=0 WHERE program=? AND core=?", err);
	for (int i = 0; !code && i < 2; i++)
		bind_text(q, 1 + i, text[i]);
	if (!code)
		code = done(s, q, err);
	sqlite3_finalize(q);
	q = NULL;
	if (!code)
		code = prepare(s, &q,
			"INSERT INTO profile (program, core, name, path, objective, command, date, version, active, "
			"instructions_before, cycles_before,"
			" energy_before, instructions_after, cycles_after, energy_after) VALUES "
			"(?,?,?,?,?,?,?,?,1,?,?,?,?,?,?)",
			err);
	for (int i = 0; !code && i < 8; i++)
		bind_text(q, 1 + i, text[i]);
	if (!code) {
		bind_figures(q, 9, &p->before);
		bind_figures(q, 12, &p->after);
		code = done(s, q, err);
	}
	sqlite3_finalize(q);
	sqlite3_int64 id = sqlite3_last_insert_rowid(s->db);
	if (!code)
		code = put_set(s, id, WHOLE_RUN, &p->set, err);
	if (!code)
		code = put_phases(s, id, p, err);
	return code ? code : put_tried(s, id, p, err);
}

/* Wraps what is done with *context in a transaction. */
static int change(struct profile_store *s, int (*what)(struct profile_store *s, void *context, struct err *err),
	void *context, struct err *err)
{
	int code = run(s, "BEGIN IMMEDIATE", err);
	if (code)
		return code;
	int result = what(s, context, err);
	code = result < 0 ? result : run(s, "COMMIT", err);
	if (code < 0)
		sqlite3_exec(s->db, "ROLLBACK", NULL, NULL, NULL);
	return code < 0 ? code : result;
}

static int put(struct profile_store *s, void *context, struct err *err)
{
	return put_profile(s, context, err);
}

int profile_store_put(struct profile_store *s, const struct store_profile *p, struct err *err)
{
	if (!p->program || !*p->program || !p->core || !*p->core)
		return err_set(err, ERR_INPUT, "a profile needs a program and a core");
	return change(s, put, (void *)p, err);
}

struct which { const char *program, *core, *name; };

static void bind_which(sqlite3_stmt *q, const struct which *w)
{
	const char *text[] = { w->program, w->core, w->name };
	for (int i = 0; i < 3; i++)	/* NULL for those that are absent */
		if (text[i])
			sqlite3_bind_text(q, 1 + i, text[i], -1, SQLITE_STATIC);
}

/* Runs one statement with the program, core and name as ?1 to ?3; returns how many rows changed. */
static int change_rows(struct profile_store *s, const char *sql, const struct which *w, struct err *err)
{
	sqlite3_stmt *q = NULL;
	int code = prepare(s, &q, sql, err);
	if (!code) {
		bind_which(q, w);
		code = done(s, q, err);
	}
	sqlite3_finalize(q);
	return code ? code : sqlite3_changes(s->db);
}

static int activate(struct profile_store *s, void *context, struct err *err)
{
	const struct which *w = context;
	int code = w->name
		? change_rows(s, "UPDATE profile SET active=1 WHERE program=?1 AND core=?2 AND name=?3", w, err)
		: 1;
	if (code <= 0)
		return code;
	code = change_rows(s,
		"UPDATE profile SET active=0 WHERE program=?1 AND core=?2 AND active AND (?3 IS NULL OR name<>?3)", w,
		err);
	return code < 0 ? code : w->name || code;
}

int profile_store_activate(struct profile_store *s, const char *program, const char *core, const char *name,
	struct err *err)
{
	return change(s, activate, &(struct which){ program, core, name }, err);
}

static const char any[] = "(?1 IS NULL OR program=?1) AND (?2 IS NULL OR core=?2) AND (?3 IS NULL OR name=?3)";

static int forget(struct profile_store *s, void *context, struct err *err)
{
	char sql[256];
	snprintf(sql, sizeof sql, "DELETE FROM profile WHERE %s", any);
	return change_rows(s, sql, context, err);
}

int profile_store_forget(struct profile_store *s, const char *program, const char *core, const char *name,
	struct err *err)
{
	return change(s, forget, &(struct which){ program, core, name }, err);
}

/* ---- reading ---- */

struct reading { struct profile_store *s; struct store_profile *p; bool failed; };

/* Keeps a text for the profile; an absent text, or one with a NUL in it, was not written by us. */
static const char *text(struct reading *r, sqlite3_stmt *q, int column)
{
	const char *t =
		sqlite3_column_type(q, column) == SQLITE_TEXT ? (const char *)sqlite3_column_text(q, column) : NULL;
	const char *kept =
		t && strlen(t) == (size_t)sqlite3_column_bytes(q, column) ? texts_keep(&r->p->texts, t) : NULL;
	r->failed |= !kept;
	return kept;
}

static struct store_figures figures(sqlite3_stmt *q, int column)
{
	return (struct store_figures){ (uint64_t)sqlite3_column_int64(q, column),
		(uint64_t)sqlite3_column_int64(q, column + 1),
		sqlite3_column_type(q, column + 2) == SQLITE_NULL ? -1 : sqlite3_column_double(q, column + 2) };
}

static void *grow(void *list, size_t count, size_t each)
{
	return count & (count - 1) ? list : realloc(list, (count ? 2 * count : 1) * each);
}

/* Adds a row to the profile's list; false: no memory, or the list has no end. */
typedef bool (*take)(struct reading *r, sqlite3_stmt *q);

static struct store_set *set_of(struct reading *r, sqlite3_stmt *q)
{
	sqlite3_int64 phase = sqlite3_column_int64(q, 0);
	if (phase == WHOLE_RUN)
		return &r->p->set;
	if (phase < 0 || (size_t)phase >= r->p->phases)
		r->failed = true;
	return r->failed ? NULL : &r->p->phase[phase].set;
}

static bool take_phase(struct reading *r, sqlite3_stmt *q)
{
	struct store_phase *list = grow(r->p->phase, r->p->phases, sizeof *list);
	if (!list)
		return false;
	r->p->phase = list;
	list[r->p->phases++] =
		(struct store_phase){ .object = sqlite3_column_type(q, 0) == SQLITE_NULL ? NULL : text(r, q, 0),
			.offset = (uint64_t)sqlite3_column_int64(q, 1), .before = figures(q, 2),
			.after = figures(q, 5) };
	return true;
}

static bool take_setting(struct reading *r, sqlite3_stmt *q)
{
	struct store_set *set = set_of(r, q);
	const char **list = set ? grow(set->setting, set->settings, sizeof *list) : NULL;
	if (!list)
		return r->failed;
	set->setting = list;
	list[set->settings++] = text(r, q, 1);
	return true;
}

static bool take_register(struct reading *r, sqlite3_stmt *q)
{
	struct store_set *set = set_of(r, q);
	struct store_register *list = set ? grow(set->reg, set->regs, sizeof *list) : NULL;
	if (!list)
		return r->failed;
	set->reg = list;
	list[set->regs++] =
		(struct store_register){ (uint32_t)sqlite3_column_int64(q, 1), (uint64_t)sqlite3_column_int64(q, 2) };
	return true;
}

static bool take_tried(struct reading *r, sqlite3_stmt *q)
{
	struct store_tried *list = grow(r->p->tried, r->p->tries, sizeof *list);
	if (!list)
		return false;
	r->p->tried = list;
	list[r->p->tries++] = (struct store_tried){ text(r, q, 0), figures(q, 1) };
	return true;
}

static int read_list(struct reading *r, const char *sql, sqlite3_int64 id, take row, struct err *err)
{
	sqlite3_stmt *q = NULL;
	size_t rows = 0;
	int code = prepare(r->s, &q, sql, err), rc = SQLITE_DONE;
	if (!code)
		sqlite3_bind_int64(q, 1, id);
	while (!code && (rc = sqlite3_step(q)) == SQLITE_ROW) {
		if (rows++ == ROWS_MOST || !row(r, q))
			code = err_set(err, ERR_NOMEM, "out of memory for a profile");
		else if (r->failed)
			code = damaged(r->s, err);
	}
	if (!code && rc != SQLITE_DONE)
		code = failed(r->s, err);
	sqlite3_finalize(q);
	return code;
}

#define PROFILE_COLUMNS "id, program, core, name, path, objective, command, date, version, active," \
	" instructions_before, cycles_before, energy_before, instructions_after, cycles_after, energy_after"

static int take_profile(struct reading *r, sqlite3_stmt *q, struct err *err)
{
	struct store_profile *p = r->p;
	const char **to[] = { &p->program, &p->core, &p->name, &p->path, &p->objective, &p->command, &p->date,
		&p->version };
	for (int i = 0; i < 8; i++)
		*to[i] = text(r, q, 1 + i);
	p->active = sqlite3_column_int(q, 9) != 0;
	p->before = figures(q, 10);
	p->after = figures(q, 13);
	return r->failed ? damaged(r->s, err) : 0;
}

static int read_set(struct reading *r, sqlite3_int64 id, struct err *err)
{
	int code = read_list(
		r, "SELECT phase, text FROM setting WHERE profile=? ORDER BY phase, number", id, take_setting, err);
	return code ? code
		    : read_list(r, "SELECT phase, msr, value FROM register WHERE profile=? ORDER BY phase, number", id,
			      take_register, err);
}

int profile_store_get(struct profile_store *s, const char *program, const char *core, const char *name,
	struct store_profile *out, struct err *err)
{
	struct reading r = { s, out, false };
	sqlite3_stmt *q = NULL;
	memset(out, 0, sizeof *out);
	int code = run(s, "BEGIN", err);	/* so that the whole profile comes from one state of the store */
	if (code)
		return code;
	code = prepare(s, &q,
		"SELECT " PROFILE_COLUMNS " FROM profile WHERE program=?1 AND core=?2 AND CASE WHEN ?3 IS NULL THEN "
					  "active ELSE name=?3 END",
		err);
	int rc = SQLITE_DONE, found = 0;
	sqlite3_int64 id = 0;
	if (!code) {
		bind_which(q, &(struct which){ program, core, name });
		rc = sqlite3_step(q);
	}
	if (!code && rc == SQLITE_ROW) {
		found = 1;
		id = sqlite3_column_int64(q, 0);
		code = take_profile(&r, q, err);
	} else if (!code && rc != SQLITE_DONE) {
		code = failed(s, err);
	}
	sqlite3_finalize(q);
	if (!code && found)
		code = read_list(&r,
			"SELECT object, offset, instructions_before, cycles_before, energy_before, instructions_after, "
			"cycles_after, energy_after"
			" FROM phase WHERE profile=? ORDER BY number",
			id, take_phase, err);
	if (!code && found)
		code = read_set(&r, id, err);
	if (!code && found)
		code = read_list(&r,
			"SELECT settings, instructions, cycles, energy FROM tried WHERE profile=? ORDER BY number", id,
			take_tried, err);
	sqlite3_exec(s->db, "COMMIT", NULL, NULL, NULL);	/* nothing was written */
	if (code)
		store_profile_free(out);
	return code ? code : found;
}

int profile_store_list(struct profile_store *s, const char *program, const char *core, const char *name,
		       int (*each)(void *context, const struct store_profile *p), void *context, struct err *err)
{
	char sql[1024];
	sqlite3_stmt *q = NULL;
	snprintf(sql, sizeof sql,
		"SELECT " PROFILE_COLUMNS ", (SELECT count(*) FROM phase WHERE profile=id), (SELECT count(*) FROM "
					  "tried WHERE profile=id)"
		" FROM profile WHERE %s ORDER BY path, program, core, name",
		any);
	int code = prepare(s, &q, sql, err), rc = SQLITE_DONE;
	bool enough = false;
	if (!code)
		bind_which(q, &(struct which){ program, core, name });
	while (!code && !enough && (rc = sqlite3_step(q)) == SQLITE_ROW) {
		struct store_profile p = { 0 };
		struct reading r = { s, &p, false };
		code = take_profile(&r, q, err);
		if (!code)
			code = read_list(&r,
				"SELECT phase, text FROM setting WHERE profile=? AND phase=-1 ORDER BY number",
				sqlite3_column_int64(q, 0), take_setting, err);
		p.phases = (size_t)sqlite3_column_int64(q, 16);
		p.tries = (size_t)sqlite3_column_int64(q, 17);
		if (!code)
			enough = each(context, &p) != 0;
		p.phases = p.tries = 0;
		store_profile_free(&p);
	}
	if (!code && !enough && rc != SQLITE_DONE)
		code = failed(s, err);
	sqlite3_finalize(q);
	return code;
}

static void free_set(struct store_set *set)
{
	free(set->setting);
	free(set->reg);
}

void store_profile_free(struct store_profile *p)
{
	for (size_t i = 0; i < p->phases; i++)
		free_set(&p->phase[i].set);
	free_set(&p->set);
	free(p->phase);
	free(p->tried);
	texts_free(&p->texts);
	memset(p, 0, sizeof *p);
}
