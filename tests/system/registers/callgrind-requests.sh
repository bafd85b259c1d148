#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Programs that are marked for Callgrind or Cachegrind have regions: start and stop, toggle, dump and zero.  The counts
# of parts between dumps are those that Callgrind itself has, give or take the requests' own instructions.
. "$TOP/tests/lib.sh"
[ -f /usr/include/valgrind/callgrind.h ] || skip "valgrind/callgrind.h is not installed"

cat >marked.c <<'EOF'
#include <valgrind/callgrind.h>
__attribute__((noinline)) unsigned work(int n)
{
	volatile unsigned s = 0;
	for (int i = 0; i < n; i++)
		s += i;
	return s;
}
int main(void)
{
	work(70000);
	CALLGRIND_START_INSTRUMENTATION;
	CALLGRIND_START_INSTRUMENTATION;	/* has no effect */
	work(500);
	CALLGRIND_ZERO_STATS;
	work(1000);
	CALLGRIND_DUMP_STATS_AT("first");
	work(2000);
	CALLGRIND_DUMP_STATS;
	work(3000);
	CALLGRIND_STOP_INSTRUMENTATION;
	CALLGRIND_STOP_INSTRUMENTATION;
	work(50000);
	CALLGRIND_DUMP_STATS_AT("last");
	/* CACHEGRIND_START_INSTRUMENTATION and STOP of Valgrind 3.22 */
	VALGRIND_DO_CLIENT_REQUEST_STMT(VG_USERREQ_TOOL_BASE('C', 'G'), 0, 0, 0, 0, 0);
	work(5000);
	VALGRIND_DO_CLIENT_REQUEST_STMT(VG_USERREQ_TOOL_BASE('C', 'G') + 1, 0, 0, 0, 0, 0);
	return 0;
}
EOF
cat >toggled.c <<'EOF'
#include <valgrind/callgrind.h>
int main(void)
{
	volatile unsigned s = 0;
	for (int i = 0; i < 1000; i++) {
		if (i % 100 == 0)
			CALLGRIND_TOGGLE_COLLECT;
		s += i;
	}
	return 0;
}
EOF
for bits in 64 $(if_32 32); do
	gcc "-m$bits" -O1 -o marked marked.c && gcc "-m$bits" -O1 -o toggled toggled.c ||
		{ bad "gcc -m$bits"; continue; }
	"$SOFTPMU" stat -x, --per-region -e instructions -o counts ./marked
	# an iteration of work() has some instructions; 500 of them before ZERO_STATS are forgotten
	each=$(awk -F, '$1 == "callgrind.2" { print $3 / 2000 }' counts)
	near "$bits: instructions of an iteration" "$each" 4 9
	for part in first:1000 last:3000 callgrind:6000 cachegrind:5000; do
		within "$bits: region ${part%:*}" "$(awk -F, -v n="${part%:*}" '$1 == n { print $3 }' counts)" \
			"$(awk "BEGIN { print $each * ${part#*:} }")" 2
	done
	same "$bits: what is outside of all of them is in no region" "$(wc -l <counts)" 5
	"$SOFTPMU" stat -x, --region callgrind -e instructions -o alone ./marked
	within "$bits: --region callgrind counts start to stop" "$(cut -d, -f1 alone)" \
		"$(awk "BEGIN { print $each * 6500 }")" 2
	"$SOFTPMU" stat -x, --per-region -e instructions -o counts ./toggled
	same "$bits: every other toggle begins" "$(cut -d, -f1,2 counts)" callgrind,5
done
exit $failed
