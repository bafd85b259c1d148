/* SPDX-License-Identifier: GPL-2.0-or-later
 * Results in SQLite (sweep_store.h).
 *
 * The file is hostile input as that of the profile store is: its schema is not trusted, and a file of another
 * application is refused.  The journal is a file that is deleted: the other kinds need memory that processes share,
 * which network file systems do not have. */
#include "sweep/sweep_store.h"
#include <math.h>
#include <sqlite3.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum {
	APPLICATION = 0x53505357,	/* "SPSW" */
	LAYOUT = 1, WAIT_MS = 60000,
};

struct sweep_store {
	sqlite3 *db;
	char *path;
	sqlite3_stmt *cached[16];
	const char *sql[16];
};

static const char layout[] =
	"CREATE TABLE program (id INTEGER PRIMARY KEY, key TEXT NOT NULL UNIQUE, name TEXT NOT NULL);"
	"CREATE TABLE machine (id INTEGER PRIMARY KEY, key TEXT NOT NULL UNIQUE, name TEXT NOT NULL);"
	"CREATE TABLE setup (id INTEGER PRIMARY KEY, model TEXT NOT NULL, mode TEXT NOT NULL, UNIQUE (model, mode));"
	"CREATE TABLE event (id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE);"
	"CREATE TABLE value (program INTEGER NOT NULL, machine INTEGER NOT NULL, setup INTEGER NOT NULL, event INTEGER "
	"NOT NULL, value REAL, half REAL, PRIMARY KEY (program, machine, setup, event)) WITHOUT ROWID;"
	"CREATE TABLE cost (program INTEGER NOT NULL, machine INTEGER NOT NULL, setup INTEGER NOT NULL, seconds REAL "
	"NOT "
	"NULL, kilobytes INTEGER NOT NULL, host TEXT NOT NULL, PRIMARY KEY (program, machine, setup)) WITHOUT ROWID;"
	"CREATE TABLE failure (program INTEGER NOT NULL, machine INTEGER NOT NULL, setup INTEGER NOT NULL, text TEXT "
	"NOT "
	"NULL, PRIMARY KEY (program, machine, setup)) WITHOUT ROWID;"
	"CREATE TABLE capture (command TEXT PRIMARY KEY, file TEXT NOT NULL, digest TEXT NOT NULL) WITHOUT ROWID;"
	"CREATE TABLE file (path TEXT PRIMARY KEY, bytes INTEGER NOT NULL, ns INTEGER NOT NULL, digest TEXT NOT NULL) "
	"WITHOUT ROWID;"
	"CREATE VIEW result AS SELECT p.key AS program, p.name AS program_name, m.key AS machine, m.name AS "
	"machine_name, "
	"s.model AS model, s.mode AS mode, e.name AS event, v.value AS value, v.half AS half FROM value v JOIN program "
	"p "
	"ON p.id = v.program JOIN machine m ON m.id = v.machine JOIN setup s ON s.id = v.setup JOIN event e ON e.id = "
	"v.event;";

static int failed(struct sweep_store *s, struct err *err)
{
	switch (sqlite3_errcode(s->db) & 255) {
	case SQLITE_NOMEM:
		return err_set(err, ERR_NOMEM, "out of memory for %s", s->path);
	case SQLITE_NOTADB: case SQLITE_CORRUPT:
		return err_set(err, ERR_INPUT, "%s: is damaged, or not the results of a sweep (%s)", s->path,
			sqlite3_errmsg(s->db));
	case SQLITE_FULL:
		return err_set(err, ERR_SYSTEM, "%s: the disk is full; what was stored before is kept", s->path);
	default:
		return err_set(err, ERR_SYSTEM, "%s: %s", s->path, sqlite3_errmsg(s->db));
	}
}

static int run(struct sweep_store *s, const char *sql, struct err *err)
{
	return sqlite3_exec(s->db, sql, NULL, NULL, NULL) == SQLITE_OK ? 0 : failed(s, err);
}

/* A statement, which is kept for the next time; NULL after an error.  sql: a constant. */
static sqlite3_stmt *statement(struct sweep_store *s, const char *sql, struct err *err)
{
	size_t i = 0;
	while (i < 16 && s->sql[i] && s->sql[i] != sql)
		i++;
	if (i == 16) {
		err_set(err, ERR_SYSTEM, "%s: too many statements", s->path);
		return NULL;
	}
	if (!s->sql[i] && sqlite3_prepare_v3(s->db, sql, -1, SQLITE_PREPARE_PERSISTENT, s->cached + i, NULL) !=
		SQLITE_OK) {
		failed(s, err);
		return NULL;
	}
	s->sql[i] = sql;
	return s->cached[i];
}

static void bind_text(sqlite3_stmt *q, int at, const char *text)
{
	sqlite3_bind_text(q, at, text, -1, SQLITE_TRANSIENT);
}

static void bind_real(sqlite3_stmt *q, int at, double value)
{
	if (isnan(value))
		sqlite3_bind_null(q, at);
	else
		sqlite3_bind_double(q, at, value);
}

/* Runs a statement that gives no rows. */
static int done(struct sweep_store *s, sqlite3_stmt *q, struct err *err)
{
	const int rc = sqlite3_step(q) == SQLITE_DONE ? 0 : failed(s, err);
	sqlite3_reset(q);
	sqlite3_clear_bindings(q);
	return rc;
}

static int number(struct sweep_store *s, const char *sql, int64_t *out, struct err *err)
{
	sqlite3_stmt *q = NULL;
	int rc = sqlite3_prepare_v2(s->db, sql, -1, &q, NULL) == SQLITE_OK && sqlite3_step(q) == SQLITE_ROW
		? 0 : failed(s, err);
	if (!rc)
		*out = sqlite3_column_int64(q, 0);
	sqlite3_finalize(q);
	return rc;
}

static int make(struct sweep_store *s, struct err *err)
{
	int64_t application = 0, version = 0, tables = 0;
	char pragmas[96];
	int rc = number(s, "PRAGMA application_id", &application, err);
	rc = rc ? rc : number(s, "PRAGMA user_version", &version, err);
	rc = rc ? rc : number(s, "SELECT count(*) FROM sqlite_schema", &tables, err);
	if (rc)
		return rc;
	if (application == APPLICATION)
		return version == LAYOUT ? 0
					 : err_set(err, ERR_UNSUPPORTED, "%s: has layout %lld, this softpmu reads %d",
						   s->path, (long long)version, LAYOUT);
	if (application || version || tables)
		return err_set(err, ERR_INPUT, "%s: is a database, but not the results of a sweep", s->path);
	snprintf(pragmas, sizeof pragmas, "PRAGMA application_id=%d; PRAGMA user_version=%d;", APPLICATION, LAYOUT);
	rc = run(s, "BEGIN IMMEDIATE", err);
	rc = rc ? rc : run(s, pragmas, err);
	rc = rc ? rc : run(s, layout, err);
	rc = rc ? rc : run(s, "COMMIT", err);
	if (rc)
		sqlite3_exec(s->db, "ROLLBACK", NULL, NULL, NULL);
	return rc;
}

int sweep_store_open(struct sweep_store **out, const char *path, bool create, struct err *err)
{
	struct stat st;
	*out = NULL;
	if (!stat(path, &st) && !S_ISREG(st.st_mode))
		return err_set(err, ERR_INPUT, "%s: is not a file", path);
	struct sweep_store *s = calloc(1, sizeof *s);
	if (!s || !(s->path = strdup(path))) {
		free(s);
		return err_set(err, ERR_NOMEM, "out of memory for %s", path);
	}
	int rc = sqlite3_open_v2(path, &s->db, SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX |
		(create ? SQLITE_OPEN_CREATE : 0), NULL) == SQLITE_OK ? 0
		: s->db ? failed(s, err) : err_set(err, ERR_NOMEM, "out of memory for %s", path);
	if (!rc) {
		sqlite3_busy_timeout(s->db, WAIT_MS);
		sqlite3_limit(s->db, SQLITE_LIMIT_LENGTH, 1 << 20);
		sqlite3_db_config(s->db, SQLITE_DBCONFIG_DEFENSIVE, 1, NULL);
		sqlite3_db_config(s->db, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, NULL);
		rc = run(s, "PRAGMA cell_size_check=ON; PRAGMA journal_mode=DELETE; PRAGMA synchronous=FULL", err);
	}
	if (!rc)
		rc = make(s, err);
	if (rc)
		sweep_store_close(s);
	else
		*out = s;
	return rc;
}

void sweep_store_close(struct sweep_store *s)
{
	if (!s)
		return;
	for (size_t i = 0; i < 16; i++)
		sqlite3_finalize(s->cached[i]);
	sqlite3_close(s->db);
	free(s->path);
	free(s);
}

int sweep_store_begin(struct sweep_store *s, struct err *err)
{
	return run(s, "BEGIN IMMEDIATE", err);
}

int sweep_store_commit(struct sweep_store *s, struct err *err)
{
	return run(s, "COMMIT", err);
}

void sweep_store_rollback(struct sweep_store *s)
{
	sqlite3_exec(s->db, "ROLLBACK", NULL, NULL, NULL);
}

/* ---- writing ---- */

/* The number of a row with these texts, which is made if there is none. */
static int id_of(struct sweep_store *s, const char *insert, const char *select, const char *a, const char *b,
	int64_t *id, struct err *err)
{
	sqlite3_stmt *q = statement(s, insert, err);
	if (!q)
		return err->code;
	bind_text(q, 1, a);
	if (b)
		bind_text(q, 2, b);
	int rc = done(s, q, err);
	if (rc || !(q = statement(s, select, err)))
		return rc ? rc : err->code;
	bind_text(q, 1, a);
	if (b)
		bind_text(q, 2, b);
	if (sqlite3_step(q) == SQLITE_ROW)
		*id = sqlite3_column_int64(q, 0);
	else
		rc = failed(s, err);
	sqlite3_reset(q);
	return rc;
}

static const char insert_setup[] = "INSERT OR IGNORE INTO setup (model, mode) VALUES (?,?)",
	select_setup[] = "SELECT id FROM setup WHERE model=? AND mode=?",
	insert_program[] = "INSERT OR IGNORE INTO program (key, name) VALUES (?,'')",
	select_program[] = "SELECT id FROM program WHERE key=?",
	insert_machine[] = "INSERT OR IGNORE INTO machine (key, name) VALUES (?,'')",
	select_machine[] = "SELECT id FROM machine WHERE key=?",
	insert_event[] = "INSERT OR IGNORE INTO event (name) VALUES (?)",
	select_event[] = "SELECT id FROM event WHERE name=?",
	insert_value[] = "INSERT OR REPLACE INTO value VALUES (?,?,?,?,?,?)",
	insert_cost[] = "INSERT OR REPLACE INTO cost VALUES (?,?,?,?,?,?)",
	insert_failure[] = "INSERT OR REPLACE INTO failure VALUES (?,?,?,?)",
	insert_capture[] = "INSERT OR REPLACE INTO capture VALUES (?,?,?)",
	name_program[] = "UPDATE program SET name=?2 WHERE key=?1",
	name_machine[] = "UPDATE machine SET name=?2 WHERE key=?1",
	select_file[] = "SELECT digest FROM file WHERE path=? AND bytes=? AND ns=?",
	insert_file[] = "INSERT OR REPLACE INTO file VALUES (?,?,?,?)";

static int put_point(struct sweep_store *s, const struct sweep_result *r, struct err *err)
{
	int64_t program, machine, setup, event;
	sqlite3_stmt *q;
	int rc = id_of(s, insert_program, select_program, r->program, NULL, &program, err);
	rc = rc ? rc : id_of(s, insert_machine, select_machine, r->machine, NULL, &machine, err);
	rc = rc ? rc : id_of(s, insert_setup, select_setup, r->model, r->mode, &setup, err);
	if (rc || !(q = statement(s, *r->failed ? insert_failure : insert_cost, err)))
		return rc ? rc : err->code;
	const int64_t place[] = { program, machine, setup };
	for (int i = 0; i < 3; i++)
		sqlite3_bind_int64(q, i + 1, place[i]);
	if (*r->failed) {
		bind_text(q, 4, r->failed);
	} else {
		sqlite3_bind_double(q, 4, r->seconds);
		sqlite3_bind_int64(q, 5, (sqlite3_int64)r->kilobytes);
		bind_text(q, 6, r->host);
	}
	rc = done(s, q, err);
	for (size_t k = 0; k < r->values && !rc && !*r->failed; k++) {
		rc = id_of(s, insert_event, select_event, r->value[k].event, NULL, &event, err);
		if (rc || !(q = statement(s, insert_value, err)))
			return rc ? rc : err->code;
		for (int i = 0; i < 3; i++)
			sqlite3_bind_int64(q, i + 1, place[i]);
		sqlite3_bind_int64(q, 4, event);
		bind_real(q, 5, r->value[k].value);
		bind_real(q, 6, r->value[k].half);
		rc = done(s, q, err);
	}
	return rc;
}

int sweep_store_put(struct sweep_store *s, const struct sweep_result *r, struct err *err)
{
	struct err why;
	sqlite3_stmt *q;
	err = err ? err : &why;
	if (!r->trace)
		return put_point(s, r, err);
	if (*r->failed)
		return 0;
	if (!(q = statement(s, insert_capture, err)))
		return err->code;
	bind_text(q, 1, r->key);
	bind_text(q, 2, r->file);
	bind_text(q, 3, r->digest);
	return done(s, q, err);
}

int sweep_store_name(struct sweep_store *s, bool machine, const char *key, const char *name, struct err *err)
{
	int64_t id;
	sqlite3_stmt *q;
	int rc = id_of(s, machine ? insert_machine : insert_program, machine ? select_machine : select_program, key,
		NULL, &id, err);
	if (rc || !(q = statement(s, machine ? name_machine : name_program, err)))
		return rc ? rc : err->code;
	bind_text(q, 1, key);
	bind_text(q, 2, name);
	return done(s, q, err);
}

int sweep_store_forget_failures(struct sweep_store *s, struct err *err)
{
	return run(s, "DELETE FROM failure", err);
}

int sweep_store_file_put(struct sweep_store *s, const char *path, int64_t bytes, int64_t ns, const char *digest,
	struct err *err)
{
	sqlite3_stmt *q = statement(s, insert_file, err);
	if (!q)
		return err->code;
	bind_text(q, 1, path);
	sqlite3_bind_int64(q, 2, bytes);
	sqlite3_bind_int64(q, 3, ns);
	bind_text(q, 4, digest);
	return done(s, q, err);
}

/* ---- reading ---- */

/* Text of a column; "": it is none. */
static const char *text(sqlite3_stmt *q, int column)
{
	const char *t = (const char *)sqlite3_column_text(q, column);
	return t ? t : "";
}

int sweep_store_file(struct sweep_store *s, const char *path, int64_t bytes, int64_t ns, char digest[FNV_CHARS],
	struct err *err)
{
	sqlite3_stmt *q = statement(s, select_file, err);
	if (!q)
		return err->code;
	bind_text(q, 1, path);
	sqlite3_bind_int64(q, 2, bytes);
	sqlite3_bind_int64(q, 3, ns);
	const int step = sqlite3_step(q);
	const bool known = step == SQLITE_ROW && strlen(text(q, 0)) == FNV_CHARS - 1;
	if (known)
		strcpy(digest, text(q, 0));
	const int rc = step == SQLITE_ROW || step == SQLITE_DONE ? known : failed(s, err);
	sqlite3_reset(q);
	return rc;
}

int sweep_store_capture(struct sweep_store *s, const char *command, char *file, size_t bytes, char digest[FNV_CHARS],
	struct err *err)
{
	sqlite3_stmt *q = NULL;
	if (sqlite3_prepare_v2(s->db, "SELECT file, digest FROM capture WHERE command=?", -1, &q, NULL) != SQLITE_OK)
		return failed(s, err);
	bind_text(q, 1, command);
	const int step = sqlite3_step(q);
	bool known = step == SQLITE_ROW && strlen(text(q, 1)) == FNV_CHARS - 1 && strlen(text(q, 0)) < bytes;
	if (known) {
		strcpy(file, text(q, 0));
		strcpy(digest, text(q, 1));
	}
	const int rc = step == SQLITE_ROW || step == SQLITE_DONE ? known : failed(s, err);
	sqlite3_finalize(q);
	return rc;
}

int sweep_store_last_model(struct sweep_store *s, const char *mode, char *model, size_t bytes, struct err *err)
{
	sqlite3_stmt *q = NULL;
	if (sqlite3_prepare_v2(s->db, "SELECT model FROM setup WHERE mode=? ORDER BY id DESC LIMIT 1", -1, &q, NULL) !=
		SQLITE_OK)
		return failed(s, err);
	bind_text(q, 1, mode);
	const int step = sqlite3_step(q);
	const bool known = step == SQLITE_ROW && strlen(text(q, 0)) < bytes;
	if (known)
		strcpy(model, text(q, 0));
	const int rc = step == SQLITE_ROW || step == SQLITE_DONE ? known : failed(s, err);
	sqlite3_finalize(q);
	return rc;
}

static double real(sqlite3_stmt *q, int column)
{
	const int type = sqlite3_column_type(q, column);
	return type == SQLITE_FLOAT || type == SQLITE_INTEGER ? sqlite3_column_double(q, column) : NAN;
}

int sweep_store_read(struct sweep_store *s, const char *model, const char *mode,
	int (*each)(void *context, const struct sweep_row *row), void *context, struct err *err)
{
	static const char *const sql[] = {
		"SELECT p.key, m.key, e.name, v.value, v.half FROM setup s JOIN value v ON v.setup = s.id JOIN program "
		"p ON "
		"p.id = v.program JOIN machine m ON m.id = v.machine JOIN event e ON e.id = v.event WHERE s.model=? "
		"AND "
		"s.mode=?",
		"SELECT p.key, m.key, f.text FROM setup s JOIN failure f ON f.setup = s.id JOIN program p ON p.id = "
		"f.program JOIN machine m ON m.id = f.machine WHERE s.model=? AND s.mode=?",
		"SELECT p.key, m.key, c.seconds, c.kilobytes FROM setup s JOIN cost c ON c.setup = s.id JOIN program p "
		"ON "
		"p.id = c.program JOIN machine m ON m.id = c.machine WHERE s.model=? AND s.mode=?",
	};
	int rc = 0, step = SQLITE_DONE;
	for (int kind = 0; kind < 3 && !rc; kind++) {
		sqlite3_stmt *q = NULL;
		if (sqlite3_prepare_v2(s->db, sql[kind], -1, &q, NULL) != SQLITE_OK)
			return failed(s, err);
		bind_text(q, 1, model);
		bind_text(q, 2, mode);
		while (!rc && (step = sqlite3_step(q)) == SQLITE_ROW) {
			struct sweep_row row = {
				.program = text(q, 0), .machine = text(q, 1), .value = NAN, .half = NAN
			};
			if (kind == 0) {
				row.event = text(q, 2);
				row.value = real(q, 3);
				row.half = real(q, 4);
			} else if (kind == 1) {
				row.failed = text(q, 2);
			} else {
				const sqlite3_int64 kilobytes = sqlite3_column_int64(q, 3);
				row.seconds = real(q, 2);
				row.kilobytes = kilobytes > 0 ? (uint64_t)kilobytes : 0;
			}
			rc = each(context, &row);
		}
		if (!rc && step != SQLITE_DONE)
			rc = failed(s, err);
		sqlite3_finalize(q);
	}
	return rc;
}
