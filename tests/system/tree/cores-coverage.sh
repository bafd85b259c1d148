#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# `softpmu cores --coverage`: every instruction that real programs execute has a row of its own in each core's uop
# table; FILE may be a stream or an ELF file, and bad files are refused.
. "$TOP/tests/lib.sh"
awk 'BEGIN { for (i = 0; i < 400; i++) printf "%d line %d of text, value %x\n", i * 7 % 13, i, i * 40503 % 65536 }' \
	>text
echo 'CREATE TABLE t(a INTEGER, b TEXT); INSERT INTO t VALUES(3, "x"), (1, "y");
SELECT count(*), avg(a) * 1.5 FROM t ORDER BY 1;' >query.sql
cores=$("$SOFTPMU" cores | wc -l)
covered() {	# NAME PROGRAM...: every executed instruction has a row, on every core
	name=$1; shift
	command -v "$1" >/dev/null 2>&1 || { echo "skipped $name: not installed"; return; }
	"$SOFTPMU" stat -e instructions --save-stream "$name.st" -- "$@" >out 2>err ||
		{ bad "$name runs"; cat err; return; }
	"$SOFTPMU" cores --coverage "$name.st" >list || { bad "$name is read"; return; }
	if [ "$(grep -c 'without a row of their own: 0 forms, 0 instructions$' list)" \
		= "$cores" ]; then ok "$name: $(head -n 1 list)"
	else bad "$name: executed instructions without a row"; head -n 20 list; fi
}
covered bzip2 bzip2 -k text
covered xz xz -k -2 text
covered sqlite3 sqlite3 :memory: ".read query.sql"
covered python3 /usr/bin/python3 -S -c 'print(sum(i * i for i in range(100)))'

"$SOFTPMU" cores --coverage "$SOFTPMU" skylake >list &&
	grep -q '^skylake: [0-9]\{5,\} instructions of [0-9]\{3,\} forms' list &&
	ok "--coverage reads an ELF file, for one core" ||
	bad "an ELF file, one core"
"$SOFTPMU" cores --coverage "$SOFTPMU" skylake --json >json &&
	grep -q '"core": "skylake", "instructions": [0-9]*, "undecoded": ' json && ok "--coverage --json prints JSON" ||
	bad "JSON"
for file in text /nowhere . ; do
	"$SOFTPMU" cores --coverage $file >out 2>err; code=$?
	if [ $code != 0 ] && [ "$(grep -c . err)" = 1 ]; then ok "refused: $(cat err)"; else bad "$file: exit $code"
	cat err; fi
done
[ -f bzip2.st ] && { head -c 60000 bzip2.st >cut.st; "$SOFTPMU" cores --coverage cut.st skylake >out 2>err; code=$?
	[ $code != 0 ] && [ "$(grep -c . err)" = 1 ] && ok "a truncated stream is refused in one line: $(cat err)" ||
		bad "a stream cut short: exit $code"; }
exit $failed
