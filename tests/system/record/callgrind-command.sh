#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# softpmu callgrind takes callgrind's command line and writes files that callgrind_annotate reads: with the instructions
# that Callgrind counts, by function and below calls, and modelled cycles beside them.  A harness's command line runs
# through a script that stands for valgrind.
. "$TOP/tests/lib.sh"
need callgrind_annotate valgrind

cat >calls.c <<'EOF'
#include <valgrind/callgrind.h>
volatile unsigned sum;
__attribute__((noinline)) void leaf(int n)
{
	for (int i = 0; i < n; i++)
		sum += i;
}
__attribute__((noinline)) int fib(int n)
{
	return n < 2 ? n : fib(n - 1) + fib(n - 2);
}
__attribute__((noinline)) void bench_one(void)
{
	leaf(1000);
	leaf(500);
	sum += fib(10);
}
int main(void)
{
	leaf(3000);
	bench_one();
	CALLGRIND_DUMP_STATS_AT("first");
	leaf(200);
	return 0;
}
EOF
gcc -O1 -g -fno-inline -fno-optimize-sibling-calls -o calls calls.c || exit 1
# of FILE FUNCTION: the first column (Ir) of a function; Callgrind calls what a recursion adds FUNCTION'2
of() {
	callgrind_annotate --auto=no --threshold=100 "$1" 2>/dev/null |
		awk -v f=":$2" '$0 ~ f "(\047[0-9]+)?( |$)" { gsub(",", "", $1); sum += $1 } END { print sum }'
}
inclusive() {
	callgrind_annotate --auto=no --inclusive=yes "$1" 2>/dev/null |
		awk -v f=":$2" '$0 ~ f "( |$)" { gsub(",", "", $1); print $1; exit }'
}

"$SOFTPMU" callgrind --callgrind-out-file=ours ./calls >log 2>&1
valgrind --tool=callgrind --callgrind-out-file=theirs ./calls >/dev/null 2>&1
for part in .1 ''; do
	for function in leaf fib; do
		same "part '$part': instructions of $function" "$(of ours$part $function)" "$(of theirs$part $function)"
	done
done
same "instructions below bench_one" "$(inclusive ours.1 bench_one)" "$(inclusive theirs.1 bench_one)"
has "modelled cycles stand beside them" '^events: Ir Cycles$' ours
has "the dump says why" '^desc: Trigger: Client Request: first$' ours.1
has "the log has callgrind's words" '== Collected : [0-9]' log

# Outside of START and STOP nothing is counted, and what runs there only warms caches and predictors.
cat >outside.c <<'EOF'
#include <valgrind/callgrind.h>
volatile unsigned sum;
__attribute__((noinline)) void leaf(int n)
{
	for (int i = 0; i < n; i++)
		sum += i;
}
__attribute__((noinline)) void bench(void)
{
	leaf(1000);
	leaf(500);
}
__attribute__((noinline)) void started(int n)
{
	if (n)
		started(n - 1);
	else
		CALLGRIND_START_INSTRUMENTATION;
	sum++;
}
int main(void)
{
	leaf(100000);
	started(3);
	bench();
	CALLGRIND_STOP_INSTRUMENTATION;
	leaf(100000);
	CALLGRIND_START_INSTRUMENTATION;
	bench();
	CALLGRIND_STOP_INSTRUMENTATION;
	return 0;
}
EOF
gcc -O1 -g -fno-inline -fno-optimize-sibling-calls -o outside outside.c || exit 1
"$SOFTPMU" callgrind --instr-atstart=no --callgrind-out-file=ours.part ./outside 2>log.part
"$SOFTPMU" callgrind --callgrind-out-file=ours.whole ./outside 2>/dev/null
valgrind --tool=callgrind --instr-atstart=no --callgrind-out-file=theirs.part ./outside >/dev/null 2>&1
for function in leaf bench; do
	same "between START and STOP: instructions of $function" "$(of ours.part $function)" \
		"$(of theirs.part $function)"
done
same "instructions below bench, called two times" "$(inclusive ours.part bench)" "$(inclusive theirs.part bench)"
cycles() { awk '$1 == "totals:" || $1 == "summary:" { print $3; exit }' "$1"; }
# leaf is 3 instructions of 5 or more cycles a round (a store forwarded to a load), 3,000 rounds: no time from outside
within "its cycles are those of its rounds, not of what ran outside" "$(cycles ours.part)" \
	"$(($(cycles ours.whole) * 3000 / 203000))" 40

"$SOFTPMU" callgrind --combine-dumps=yes --callgrind-out-file=one ./calls >log.one 2>&1
same "dumps in one file" "$(grep -c '^part: ' one) $(grep -c '^version: ' one) $(ls one.* 2>/dev/null)" "2 1 "
same "callgrind_annotate adds its parts" "$(of one leaf)" "$(($(of ours.1 leaf) + $(of ours leaf)))"
same "the log has all parts" "$(awk '/Collected/ { print $4 }' log.one)" \
	"$(awk '/^summary:/ { s += $2 } END { print s }' one)"

# A harness that reads its dump at once, as QTestLib does: the program goes on when the file is there.
cat >reads.c <<'EOF'
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <valgrind/callgrind.h>
int main(void)
{
	volatile unsigned sum = 0;
	for (int part = 1; part <= 20; part++) {
		char name[32], line[256];
		unsigned long instructions = 0;
		CALLGRIND_ZERO_STATS;
		for (int i = 0; i < 1000 * part; i++)
			sum += i;
		CALLGRIND_DUMP_STATS;
		snprintf(name, sizeof name, "reads.out.%d", part);
		FILE *f = fopen(name, "r");
		while (f && fgets(line, sizeof line, f))
			if (!strncmp(line, "summary: ", 9))
				instructions = strtoul(line + 9, NULL, 10);
		if (f)
			fclose(f);
		printf("%lu\n", instructions / (1000 * part));
	}
	return 0;
}
EOF
gcc -O1 -o reads reads.c
"$SOFTPMU" callgrind -q --callgrind-out-file=reads.out ./reads >reads.said
same "the program finds each of its dumps when it goes on" \
	"$(sort reads.said | uniq -c | awk '{ print $1, ($2 >= 3) }')" "20 1"

# The command line of iai-callgrind and Gungraun (gungraun-runner/src/runner/callgrind/args.rs, tool/args.rs).
mkdir bin && ln -s "$TOP/docs/examples/valgrind-on-softpmu.sh" bin/valgrind
export SOFTPMU
PATH="$work/bin:$PATH" setarch -R valgrind --tool=callgrind --error-exitcode=0 --I1=32768,8,64 --D1=32768,8,64 \
	--LL=8388608,16,64 --cache-sim=yes --compress-strings=no --compress-pos=no --dump-line=yes --dump-instr=no \
	--combine-dumps=no --separate-threads=yes '--toggle-collect=bench_*' --trace-children=yes --fair-sched=try \
	--vgdb=no --callgrind-out-file="$work/callgrind.bench.out" --log-file="$work/callgrind.bench.log" ./calls
same "a harness's command line runs" $? 0
has "its columns are those that the harness knows" '^events: Ir Dr Dw I1mr D1mr D1mw ILmr DLmr DLmw$' \
	callgrind.bench.out.1-01
has "names are whole" '^fn=bench_one$' callgrind.bench.out.1-01
has "the log is written" '^==[0-9]*== Command: ./calls' callgrind.bench.log
summary=$(awk '$1 == "summary:" { print $2 }' callgrind.bench.out.1-01)
within "only bench_one is collected" "$summary" "$(inclusive theirs.1 bench_one)" 1
PATH="$work/bin:$PATH" valgrind --version | grep -q '^valgrind-' && ok "other command lines go to valgrind" ||
	bad "valgrind --version"
refuse "another tool" 'only callgrind' "$SOFTPMU" callgrind --tool=memcheck ./calls
refuse "what is no option of callgrind" 'unknown option --cache' "$SOFTPMU" callgrind --cache ./calls
exit $failed
