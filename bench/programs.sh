# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=sh
# shellcheck disable=SC2154	# the script that sources this file sets $work
# To be sourced: real programs and their inputs, some hundred million instructions each, the same on every machine that
# has the same programs. $work is the folder of the inputs. scale, if it is set before: so many times the inputs.
export LC_ALL=C PYTHONHASHSEED=0

scale=${scale:-1}

awk -v n="$((25000 * scale))" 'BEGIN { s = 42; for (i = 0; i < n; i++) { s = (s * 69069 + 1) % 4294967296;
	printf "%d line %d of text, value %x\n", s % 1000, i, s } }' >"$work/text"
numbers="WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x+1 FROM n WHERE x<$((20000 * scale)))"
cat >"$work/query.sql" <<SQL
CREATE TABLE t(a INTEGER, b TEXT);
$numbers INSERT INTO t SELECT x*7919%20000, 'row '||x FROM n;
CREATE INDEX i ON t(a);
SELECT count(*), sum(length(b)) FROM t WHERE a BETWEEN 1000 AND 15000;
SELECT a%97, count(*), max(b) FROM t GROUP BY a%97 ORDER BY 2 DESC LIMIT 3;
SQL
cat >"$work/script.py" <<PY
def primes(n):
    sieve = bytearray([1]) * n
    for i in range(2, n):
        if sieve[i]:
            for j in range(i * i, n, i):
                sieve[j] = 0
    return sum(sieve) - 2
words = {}
for i in range($((30000 * scale))):
    words.setdefault(str(i * 7919 % 5003), []).append(i)
print(primes($((150000 * scale))), len(words), sorted(words)[:3])
PY
run() {	# PROGRAM PREFIX...: runs the program under the command PREFIX; standard error goes to $work/err
	name=$1; shift
	case $name in
	bzip2)   "$@" bzip2 -c "$work/text" ;;
	xz)      "$@" xz -2 -T1 -c "$work/text" ;;
	gzip)    "$@" gzip -c "$work/text" ;;
	sqlite3) "$@" sqlite3 :memory: ".read $work/query.sql" ;;
	python3) "$@" /usr/bin/python3 -S "$work/script.py" ;;
	long)	# 30 thousand million instructions with a scale of 4
		for _ in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20; do cat "$work/text"; done >"$work/long"
		"$@" bzip2 -c "$work/long" ;;
	*) echo "bench: unknown program $name" >&2; exit 1 ;;
	esac >/dev/null 2>"$work/err"
}
