#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Real programs run to the end under softpmu, with the same output and exit status as without it.
. "$TOP/tests/lib.sh"
export LC_ALL=C PYTHONHASHSEED=0
[ -x "$SOFTPMU" ] || { echo "no $SOFTPMU"; exit 1; }
seq 1 30000 >numbers
printf 'int f(int x) { return x * 3; }\nint main(void) { return f(14) != 42; }\n' >small.c
cat >words.pl <<'PL'
my %n; for my $i (1 .. 20000) { $n{$i * 7919 % 997}++; }
print join(",", map { "$_=$n{$_}" } (sort { $a <=> $b } keys %n)[0 .. 5]), "\n";
PL
cat >sum.py <<'PY'
print(sum(i * i % 7 for i in range(100000)), sorted({str(i): i for i in range(500)})[:3])
PY
cat >script.sh <<'SH'
set -e
n=0; for i in 1 2 3 4 5; do n=$((n + i)); done
echo "sum $n"; seq 1 100 | sort -rn | head -n 2; exit 5
SH
as_alone() {	# NAME SOFTPMU-OPTION... -- COMMAND...: output and exit status are the same with and without softpmu
	name=$1; shift
	options=
	while [ "$1" != -- ]; do options="$options $1"; shift; done
	shift
	(exec "$@") >native.out 2>native.err </dev/null; native=$?
	sed -i '/^\(Segmentation fault\|Aborted\)/d' native.err	# the shell's own message about a signal
	start=$(date +%s)
	# shellcheck disable=SC2086
	timeout 300 "$SOFTPMU" stat -x, -e instructions,cycles -o counts $options -- "$@" >soft.out 2>soft.err \
		</dev/null; soft=$?
	took=$(($(date +%s) - start))
	# softpmu says it as a shell does, on a line of its own
	told=$(grep -c "^softpmu: $1: \(Segmentation fault\|Aborted\)" soft.err)
	sed -i "\\,^softpmu: $1: \(Segmentation fault\|Aborted\),d" soft.err
	insns=$(awk -F, '/instructions/ { print $1 }' counts)
	cycles=$(awk -F, '/cycles/ { print $1 }' counts)
	ok=ok
	[ "$told" = $((native > 128)) ] || { ok=FAILED; echo "$name: a signal is told $told times"; }
	[ "$native" = "$soft" ] || { ok=FAILED; echo "$name: exit status $soft, natively $native"; }
	cmp -s native.out soft.out || { ok=FAILED; echo "$name: standard output differs:"; diff native.out soft.out |
		head -n 5; }
	cmp -s native.err soft.err || { ok=FAILED; echo "$name: standard error differs:"; diff native.err soft.err |
		head -n 5; }
	[ "${insns:-0}" -gt 1000 ] && [ "${cycles:-0}" -gt 1000 ] ||
		{ ok=FAILED; echo "$name: counts are missing: '$(cat counts)'"; }
	# The counts are plausible: between 0.05 and 6 instructions per cycle.
	[ $((${insns:-0} / 6)) -le "${cycles:-0}" ] && [ $((${insns:-0} * 20)) -ge "${cycles:-0}" ] ||
		{ ok=FAILED; echo "$name: $insns instructions in $cycles cycles"; }
	[ $ok = ok ] || failed=$((failed + 1))
	echo "$ok $name: $insns instructions, $cycles cycles, ${took}s"
}
as_alone bzip2 -- bzip2 -c numbers
as_alone xz -- xz -1 -T1 -c numbers
as_alone gzip -- gzip -nc numbers
as_alone sqlite3 -- sqlite3 :memory: \
	'WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x+1 FROM n WHERE x<5000) SELECT count(*), sum(x*x%7) FROM n;'
as_alone python3 -- /usr/bin/python3 -S sum.py
as_alone perl -- perl words.pl
as_alone gcc -- gcc -O1 -c small.c -o small.o
as_alone shell -- sh script.sh
as_alone shell-untraced-children -i -- sh script.sh
as_alone static -- "$PROGRAMS/work-static" 20000
! runs_32 || as_alone 32-bit -- "$PROGRAMS/work32" 20000
as_alone c++-throws -- "$PROGRAMS/throws" 50
as_alone exit-status -- "$PROGRAMS/dies" exit7
as_alone segv -- "$PROGRAMS/dies" segv
as_alone abort -- "$PROGRAMS/dies" abort
as_alone forks -- "$PROGRAMS/forks"
as_alone forks-untraced -i -- "$PROGRAMS/forks"
as_alone killed-child --follow -- "$PROGRAMS/trace_self" killed
as_alone jit -- "$PROGRAMS/jit"
as_alone workers -- "$PROGRAMS/threads" workers 100000
as_alone pingpong -- "$PROGRAMS/threads" pingpong 500
as_alone spin -- "$PROGRAMS/threads" spin 2000
as_alone spinpause -- "$PROGRAMS/threads" spinpause 2000
[ "$failed" = 0 ]
