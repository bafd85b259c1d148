#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# How often the 95 % interval of a sampled run holds the count in full detail: 14 programs, 10 events each.
#   sampled-truth.sh [CORE [OPTION...]]     OPTION: of both runs, as --no-wrong-path
#   STREAMS=DIR: keeps the recorded streams there.  PROGRAMS="awk bzip2": only these.  SAMPLE=N,U,W: these windows.
# Needs build/tests/programs (make programs), and some ten minutes.
set -eu
TOP=$(cd "$(dirname "$0")/.." && pwd)
SOFTPMU=${SOFTPMU:-$TOP/build/softpmu} own=${OWN_PROGRAMS:-$TOP/build/tests/programs}
core=${1:-golden-cove}
[ $# = 0 ] || shift
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
streams=${STREAMS:-$work}
mkdir -p "$streams"
events=cycles,uops_issued.any,idq.dsb_uops,idq.mite_uops,mem_load_retired.l1_miss,mem_load_retired.l2_miss
events=$events,int_misc.recovery_cycles,exe_activity.bound_on_loads,topdown.backend_bound_slots,uops_dispatched.port_0

record() {	# NAME PROGRAM...
	name=$1; shift
	[ -f "$streams/$name" ] || "$SOFTPMU" trace -q -o "$streams/$name" "$@" >/dev/null
}
make_stream() {
	case $1 in
	awk) record awk awk 'BEGIN { for (i = 0; i < 12000; i++) { k = i * 7919 % 3001; n[k] += length(i k) }
		for (k in n) s += n[k]; print s }' ;;
	sqlite3) record sqlite3 sqlite3 :memory: "CREATE TABLE t(a INTEGER, b TEXT);
		WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x+1 FROM n WHERE x<6000)
		INSERT INTO t SELECT x*7919%6000, 'row '||x FROM n; CREATE INDEX i ON t(a);
		SELECT count(*), sum(length(b)) FROM t WHERE a BETWEEN 1000 AND 5000;
		SELECT a%97, count(*), max(b) FROM t GROUP BY a%97 ORDER BY 2 DESC LIMIT 3;" ;;
	python3) record python3 /usr/bin/python3 -S -c "d = {}
for i in range(20000):
    k = str(i * 7919 % 10007)
    d[k] = d.get(k, 0) + len(k)
print(sum(sorted(d.values())))" ;;
	bzip2) record bzip2 bzip2 -c "$work/text" ;;
	xz) record xz xz -2 -T1 -c "$work/text" ;;
	gzip) record gzip gzip -c "$work/text" ;;
	sort) record sort sort "$work/text" ;;
	perl) record perl perl -e 'while (<>) { $n{$_}++ for split /\W+/ } print scalar keys %n' "$work/text" ;;
	cc1) record cc1 "$(gcc -print-prog-name=cc1)" -quiet -O1 -o /dev/null "$work/unit.c" ;;
	diff) record diff diff "$work/text" "$work/other" ;;
	chase) record chase "$own/chase" 16384 64 random 3000000 ;;
	stream) record stream "$own/stream" read 32768 12 ;;
	phases) record phases "$own/phases" 20 ;;
	threads) record threads "$own/threads" workers 3000000 ;;
	esac || :	# diff's status is 1
}
cat "$TOP"/src/*/*.c "$TOP"/src/*/*/*.c | head -c 200000 >"$work/text"
sed 's/the/The/; 7~90d' "$work/text" >"$work/other"
cat >"$work/unit.c" <<'C'
struct node { struct node *left, *right; long key; };
long sum(struct node *n) { return n ? n->key + sum(n->left) + sum(n->right) : 0; }
struct node *insert(struct node *n, struct node *x)
{
	if (!n) return x;
	if (x->key < n->key) n->left = insert(n->left, x); else n->right = insert(n->right, x);
	return n;
}
void sort(int *a, int n)
{
	for (int i = 1; i < n; i++)
		for (int k = i; k && a[k - 1] > a[k]; k--) { int t = a[k]; a[k] = a[k - 1]; a[k - 1] = t; }
}
C
for name in ${PROGRAMS:-awk sqlite3 python3 bzip2 xz gzip sort perl cc1 diff chase stream phases threads}; do
	make_stream "$name"
	for how in detail sample="${SAMPLE:-auto}"; do
		"$SOFTPMU" stat -x, --core "$core" -e "$events" "$@" --"$how" --replay "$streams/$name" \
			-o "$work/${how%%=*}" 2>/dev/null || [ -s "$work/${how%%=*}" ]	# its status is the program's
	done
	awk -F, -v p="$name" 'NR == FNR { full[$3] = $1; next } {
		half = $4; sub(/%/, "", half)
		print p, $3, full[$3], $1, half == "" ? "unknown" : half
	}' "$work/detail" "$work/sample" >>"$work/pairs"
done
awk '
function size(x) { return x < 0 ? -x : x }
{
	error = $3 ? 100 * ($4 - $3) / $3 : 0
	if (!($1 in seen)) { seen[$1] = 1; order[++programs] = $1 }
	if ($2 == "cycles:u") {
		cycles[$1] = error; interval[$1] = $5
		sum += error; total += size(error); if (size(error) > most) most = size(error)
		squares += error * error
	}
	if ($5 == "unknown") { unknown[$1]++; unknowns++; next }
	pairs++; all[$1]++
	# the interval is a share of the estimate
	if (size($4 - $3) <= $4 * $5 / 100 + 0.5) { held++; good[$1]++ }
	else
		out[++outside] = sprintf("  %-10s %-34s %14.0f %14.0f %+8.2f %%  +- %s %%", $1, $2, $3, $4,
			error, $5)
}
END {
	print "program           error of cycles       95 %   intervals hold  no interval"
	for (i = 1; i <= programs; i++) {
		p = order[i]
		printf "%-10s %+20.2f %% %8s %% %10d of %2d %12d\n", p, cycles[p], interval[p], good[p], all[p],
			unknown[p]
	}
	print "Outside of their intervals:"
	for (i = 1; i <= outside; i++) print out[i]
	printf "%d of %d intervals hold (%.1f %%); %d counts have none\n", held, pairs, 100 * held / pairs, unknowns
	printf "cycles: mean error %.2f %%, largest %.2f %%; bias %+.2f %% +- %.2f %% (two standard errors)\n",
		total / programs, most, sum / programs,
		(programs > 1) ? 2 * sqrt((squares - sum * sum / programs) / (programs - 1) / programs) : 0
}' "$work/pairs"
