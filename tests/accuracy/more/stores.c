// SPDX-License-Identifier: GPL-2.0-or-later
// A key-value store on disk, for tests/accuracy/more.sh: inserts, looks up, deletes and walks records in a new file.
// stores N FILE; built with -DLMDB for LMDB, without it for GDBM. Nothing is synchronised with the disk.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static unsigned seed = 42;

static int key_at(char key[32])
{
	seed = seed * 1103515245 + 12345;
	return snprintf(key, 32, "key %u", (seed >> 8) % 50021);
}

#ifdef LMDB
#include <lmdb.h>

static size_t run(int n, const char *file)
{
	MDB_env *env;
	MDB_txn *txn;
	MDB_dbi dbi;
	MDB_cursor *cursor;
	MDB_val key, value;
	size_t sum = 0;
	char name[32], text[80];

	if (mdb_env_create(&env) || mdb_env_set_mapsize(env, 64 << 20) ||
	    mdb_env_open(env, file, MDB_NOSUBDIR | MDB_NOSYNC | MDB_WRITEMAP | MDB_NOLOCK, 0600))
		exit(1);
	for (int i = 0; i < n;) {
		if (mdb_txn_begin(env, NULL, 0, &txn) || mdb_dbi_open(txn, NULL, 0, &dbi))
			exit(1);
		for (int end = i + 500; i < end; i++) {
			key.mv_size = (size_t)key_at(name);
			key.mv_data = name;
			value.mv_size = (size_t)snprintf(text, sizeof(text), "record %d of %s", i, name);
			value.mv_data = text;
			if (i % 5 == 4)
				mdb_del(txn, dbi, &key, NULL);
			else
				mdb_put(txn, dbi, &key, &value, 0);
			key.mv_size = (size_t)key_at(name);
			if (!mdb_get(txn, dbi, &key, &value))
				sum += value.mv_size;
		}
		mdb_txn_commit(txn);
	}
	if (mdb_txn_begin(env, NULL, MDB_RDONLY, &txn) || mdb_cursor_open(txn, dbi, &cursor))
		exit(1);
	while (!mdb_cursor_get(cursor, &key, &value, MDB_NEXT))
		sum += key.mv_size;
	mdb_cursor_close(cursor);
	mdb_txn_abort(txn);
	mdb_env_close(env);
	return sum;
}
#else
#include <gdbm.h>

static size_t run(int n, const char *file)
{
	GDBM_FILE db = gdbm_open(file, 0, GDBM_NEWDB, 0600, NULL);
	size_t sum = 0;
	char name[32], text[80];

	if (!db)
		exit(1);
	for (int i = 0; i < n; i++) {
		datum key = { name, key_at(name) }, value = { text, 0 };

		value.dsize = snprintf(text, sizeof(text), "record %d of %s", i, name);
		if (i % 5 == 4)
			gdbm_delete(db, key);
		else
			gdbm_store(db, key, value, GDBM_REPLACE);
		key.dsize = key_at(name);
		value = gdbm_fetch(db, key);
		if (value.dptr)
			sum += (size_t)value.dsize;
		free(value.dptr);
	}
	for (datum key = gdbm_firstkey(db); key.dptr;) {
		datum after = gdbm_nextkey(db, key);

		sum += (size_t)key.dsize;
		free(key.dptr);
		key = after;
	}
	gdbm_close(db);
	return sum;
}
#endif

int main(int argc, char **argv)
{
	if (argc != 3)
		return 2;
	unlink(argv[2]);
	printf("%zu\n", run(atoi(argv[1]), argv[2]));
	return 0;
}
