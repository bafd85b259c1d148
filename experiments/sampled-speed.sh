#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Wall time of `stat --sample` beside callgrind and cachegrind on programs of 0.9 to 1.6 thousand million instructions
# each, interleaved: medians of the rounds, in seconds, and softpmu's time over theirs.  "load" is the host's load
# average when the program's rounds ended, these runs included: above 3, others were at work, and then wall times
# favour softpmu, because it has four threads to callgrind's one.  "CPU" are the seconds of all processes and threads,
# medians, too; they depend less on what else the host does.
#   sampled-speed.sh [PROGRAM...]      bzip2, xz, sqlite3 and python3 if none is named; or long, of 30 thousand million
#   ROUNDS=N (3).  CORE=NAME (golden-cove).  SCALE=N (4): so many times the inputs of bench/programs.sh.
set -eu
TOP=$(cd "$(dirname "$0")/.." && pwd)
SOFTPMU=${SOFTPMU:-$TOP/build/softpmu}
rounds=${ROUNDS:-3}
scale=${SCALE:-4}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export LC_ALL=C PYTHONHASHSEED=0

awk -v n="$((25000 * scale))" 'BEGIN { s = 42; for (i = 0; i < n; i++) { s = (s * 69069 + 1) % 4294967296;
	printf "%d line %d of text, value %x\n", s % 1000, i, s } }' >"$work/text"
cat >"$work/query.sql" <<SQL
CREATE TABLE t(a INTEGER, b TEXT);
WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x+1 FROM n WHERE x<$((20000 * scale)))
	INSERT INTO t SELECT x*7919%20000, 'row '||x FROM n;
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
run() {	# PROGRAM PREFIX...: runs the program under the command PREFIX
	name=$1; shift
	case $name in
	bzip2)   "$@" bzip2 -c "$work/text" ;;
	xz)      "$@" xz -2 -T1 -c "$work/text" ;;
	sqlite3) "$@" sqlite3 :memory: ".read $work/query.sql" ;;
	python3) "$@" /usr/bin/python3 -S "$work/script.py" ;;
	long)    for _ in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20; do cat "$work/text"; done >"$work/long"
		"$@" bzip2 -c "$work/long" ;;
	*) echo "sampled-speed.sh: unknown program $name" >&2; exit 2 ;;
	esac >/dev/null 2>"$work/err"
}
timed() {	# FILE PROGRAM PREFIX...: adds wall and CPU seconds to FILE
	file=$1; shift
	p=$1; shift
	run "$p" /usr/bin/time -a -o "$file" -f "%e %U %S" "$@"
}
median() { awk -v c="$2" '{ print c == 1 ? $1 : $2 + $3 }' "$1" | sort -g | awk '{ v[NR] = $1 }
	END { printf "%.2f", v[int((NR + 1) / 2)] }'; }

[ $# -gt 0 ] || set -- bzip2 xz sqlite3 python3
echo "core ${CORE:-golden-cove}, $rounds rounds, medians"
printf '%-21s | %-23s | %-23s | wall, softpmu | load\n' "" "wall seconds" "CPU seconds"
printf '%-8s %12s | %7s %7s %7s | %7s %7s %7s | %6s %6s |\n' program instructions softpmu callg. cacheg. softpmu \
	callg. cacheg. /callg /cachg
for p; do
	rm -f "$work"/*.s
	for _ in $(seq "$rounds"); do
		timed "$work/soft.s" "$p" "$SOFTPMU" stat --core "${CORE:-golden-cove}" -x, -e instructions,cycles \
			--sample -o "$work/stat"
		timed "$work/call.s" "$p" valgrind --tool=callgrind --cache-sim=yes --branch-sim=yes \
			--callgrind-out-file=/dev/null
		timed "$work/cach.s" "$p" valgrind --tool=cachegrind --cache-sim=yes --branch-sim=yes \
			--cachegrind-out-file=/dev/null
	done
	printf '%-8s %12s |' "$p" "$(awk -F, '/instructions/ { print $1 }' "$work/stat")"
	for c in 1 2; do
		printf ' %7s %7s %7s |' "$(median "$work/soft.s" $c)" "$(median "$work/call.s" $c)" \
			"$(median "$work/cach.s" $c)"
	done
	awk -v s="$(median "$work/soft.s" 1)" -v a="$(median "$work/call.s" 1)" -v b="$(median "$work/cach.s" 1)" \
		-v l="$(cut -d' ' -f1 /proc/loadavg)" 'BEGIN { printf " %6.2f %6.2f | %s\n", s / a, s / b, l }'
done
