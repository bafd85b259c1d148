#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# softpmu trace and replay: a replay counts what the live run counts, trace files are small, and damage is reported.
. "$TOP/tests/lib.sh"
events=cycles,instructions,branch-misses,L1-dcache-load-misses,uops_issued.any
counts() { "$SOFTPMU" stat -x, -o counts -e $events "$@" >/dev/null 2>err; code=$?; cut -d, -f1,3 counts 2>/dev/null |
	paste -sd' '; return $code; }
seq 1 6000 >numbers
set -- bzip2 -c numbers

"$SOFTPMU" trace -q -o with.trace "$@" >out; same "the exit status is the program's" $? 0
"$@" >want
cmp -s out want && ok "the program's output is unchanged" || bad "the program's output"
"$SOFTPMU" trace -o with.trace "$@" 2>with >/dev/null	# to /dev/null, as in counts: programs ask what their output is
"$SOFTPMU" trace --no-regs -o without.trace "$@" 2>without >/dev/null
live=$(counts "$@")
same "a replay with registers counts what the live run counts" "$(counts --replay with.trace)" "$live"
same "softpmu replay counts what stat --replay counts" \
	"$("$SOFTPMU" replay with.trace -x, -o counts -e $events 2>/dev/null; cut -d, -f1,3 counts |
	paste -sd' ')" "$live"
same "a replay without registers counts what a live run without the wrong path counts" \
	"$(counts --no-wrong-path --replay without.trace)" \
	"$(counts --no-wrong-path "$@")"
n=$(echo "$live" | tr ' ' '\n' | sed -n 's/,instructions.*//p')
for f in with without; do
	same "trace $f registers reports the instructions" \
		"$(sed -n 's/.*: \([0-9.]*\) million instructions, .*/\1/p' $f)" \
		"$(awk -v n="$n" 'BEGIN { printf "%.1f", n / 1e6 }')"
	same "trace $f registers reports the bytes per instruction" \
		"$(sed -n 's/.* \([0-9.]*\) bytes an instruction.*/\1/p' $f)" \
		"$(awk -v n="$n" -v b="$(wc -c <$f.trace)" 'BEGIN { printf "%.3f", b / n }')"
done
awk -v n="$n" -v b="$(wc -c <without.trace)" 'BEGIN { exit !(b / n < 0.3) }' &&
	ok "a trace without registers has less than 0.3 bytes per instruction" ||
	bad "without registers: $(cat without)"

size=$(wc -c <without.trace)
head -c $((size * 3 / 4)) without.trace >cut.trace
counts --no-wrong-path --replay cut.trace >some; same "replay of a truncated trace: the exit status is 1" $? 1
grep -q 'cut.trace: the trace is cut short at byte' err && ok "replay of a truncated trace says that it is cut short" ||
	bad "cut short: $(cat err)"
awk -F'[ ,]' -v n="$n" '{ exit !($3 > 0 && $3 < n) }' some && ok "the complete part of a truncated trace is counted" ||
	bad "cut short: $(cat some) of $n"
{ head -c $((size / 2)) without.trace; printf 'damaged!'; tail -c +$((size / 2 + 9)) without.trace; } >damaged.trace
counts --no-wrong-path --replay damaged.trace >some; same "replay of a damaged trace: the exit status is 1" $? 1
grep -q 'the trace is damaged before byte' err && ok "replay of a damaged trace says that it is damaged" ||
	bad "damaged: $(cat err)"
"$SOFTPMU" trace -q -o - false 2>err; same "a failing program: the exit status is the program's" $? 1
same "-q prints nothing" "$(wc -c <err)" 0
rm -f ./-
cat >asks.c <<'C'
#include "softpmu/client.h"
int main(void)
{
	spmu_client_region_begin("here");
	spmu_client_region_end("here");
	return spmu_client_present() ? 3 : 4;
}
C
if gcc -O1 -I"$TOP/include" -o asks asks.c 2>err; then
	timeout 120 "$SOFTPMU" trace -q -o asks.trace ./asks; same "spmu_client_present() is false under trace" \
		$? 4
else
	bad "asks.c: $(head -n 1 err)"
fi
"$SOFTPMU" replay 2>err; same "replay without a file is refused in one line" "$? $(wc -l <err)" "2 1"
"$SOFTPMU" trace --no-reg true 2>err; same "an unknown option is refused with the nearest one" \
	"$? $(grep -c 'nearest: --no-regs' err)" "2 1"
exit $failed
