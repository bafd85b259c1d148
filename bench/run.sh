#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# make bench: speed of `softpmu stat` on real programs, in the same run beside callgrind and cachegrind.
#
#   MIPS       modelled instructions a second of wall time, program start included
#   / callgrind, / cachegrind   wall time of softpmu over theirs (callgrind --cache-sim=yes --branch-sim=yes,
#              cachegrind --branch-sim=yes): below 1 is faster than they are
#   tracer     the tracer alone, a reader that only counts: MIPS without and with register writes
#
# Strengths: real programs, same inputs, interleaved, medians.  Weaknesses: some hundred million instructions each;
# a noisy machine shows in the MIPS, less in the ratios.  ROUNDS=N (default 3), PROGRAMS="bzip2 xz ..." choose.
set -eu
cd "$(dirname "$0")/.."
rounds=${ROUNDS:-3}
programs=${PROGRAMS:-"bzip2 xz sqlite3 python3"}
core=${CORE:-golden-cove}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT INT TERM
export LC_ALL=C PYTHONHASHSEED=0

awk 'BEGIN { s = 42; for (i = 0; i < 25000; i++) { s = (s * 69069 + 1) % 4294967296; printf "%d line %d of text, value %x\n", s % 1000, i, s } }' >"$work/text"
cat >"$work/query.sql" <<'SQL'
CREATE TABLE t(a INTEGER, b TEXT);
WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x+1 FROM n WHERE x<20000) INSERT INTO t SELECT x*7919%20000, 'row '||x FROM n;
CREATE INDEX i ON t(a);
SELECT count(*), sum(length(b)) FROM t WHERE a BETWEEN 1000 AND 15000;
SELECT a%97, count(*), max(b) FROM t GROUP BY a%97 ORDER BY 2 DESC LIMIT 3;
SQL
cat >"$work/script.py" <<'PY'
def primes(n):
    sieve = bytearray([1]) * n
    for i in range(2, n):
        if sieve[i]:
            for j in range(i * i, n, i):
                sieve[j] = 0
    return sum(sieve) - 2
words = {}
for i in range(30000):
    words.setdefault(str(i * 7919 % 5003), []).append(i)
print(primes(150000), len(words), sorted(words)[:3])
PY
run() {	# PROGRAM PREFIX...: runs the program behind a prefix, output away
	name=$1; shift
	case $name in
	bzip2)   "$@" bzip2 -c "$work/text" ;;
	xz)      "$@" xz -2 -T1 -c "$work/text" ;;
	gzip)    "$@" gzip -c "$work/text" ;;
	sqlite3) "$@" sqlite3 :memory: ".read $work/query.sql" ;;
	python3) "$@" /usr/bin/python3 -S "$work/script.py" ;;
	*) echo "bench: unknown program $name" >&2; exit 1 ;;
	esac >/dev/null 2>"$work/err"
}
now() { date +%s.%N; }
seconds() { awk -v a="$1" -v b="$2" 'BEGIN { printf "%.3f", b - a }'; }
median() { sort -g "$1" | awk '{ v[NR] = $1 } END { print v[int((NR + 1) / 2)] }'; }

timed() {	# FILE PROGRAM PREFIX...
	file=$1; shift
	t0=$(now); run "$@"; t1=$(now)
	seconds "$t0" "$t1" >>"$file"; echo >>"$file"
}
for round in $(seq "$rounds"); do
	for p in $programs; do
		timed "$work/$p.soft" "$p" build/softpmu stat --core "$core" -x, -e instructions,cycles -o "$work/$p.stat"
		timed "$work/$p.call" "$p" valgrind --tool=callgrind --cache-sim=yes --branch-sim=yes --callgrind-out-file=/dev/null
		timed "$work/$p.cach" "$p" valgrind --tool=cachegrind --branch-sim=yes --cachegrind-out-file=/dev/null
		timed "$work/$p.nati" "$p"
	done
done
printf 'core %s, %s rounds, medians\n' "$core" "$rounds"
printf '%-10s %14s %8s %8s %8s %12s %13s\n' program instructions seconds MIPS IPC '/callgrind' '/cachegrind'
for p in $programs; do
	insns=$(awk -F, '/instructions/ { print $1 }' "$work/$p.stat")
	cycles=$(awk -F, '/cycles/ { print $1 }' "$work/$p.stat")
	awk -v p="$p" -v i="$insns" -v c="$cycles" -v s="$(median "$work/$p.soft")" -v cg="$(median "$work/$p.call")" -v ca="$(median "$work/$p.cach")" \
		'BEGIN { printf "%-10s %14d %8.2f %8.1f %8.2f %12.2f %13.2f\n", p, i, s, i / s / 1e6, i / c, s / cg, s / ca }'
done
for regs in without with; do
	: >"$work/tracer"
	for round in $(seq "$rounds"); do
		build/tests/programs/trace_count -s $([ $regs = with ] && echo -r) -o "$work/figures" bzip2 -c "$work/text" >/dev/null
		awk '/^mips/ { print $2 }' "$work/figures" >>"$work/tracer"
	done
	printf 'tracer alone on bzip2, %s registers: %s MIPS\n' "$regs" "$(median "$work/tracer")"
done
/usr/bin/time -f '%M' -o "$work/mem" build/softpmu stat --core "$core" -e instructions -o /dev/null bzip2 -c "$work/text" >/dev/null
printf 'peak memory of softpmu on bzip2: %s KB\n' "$(tail -n 1 "$work/mem")"
