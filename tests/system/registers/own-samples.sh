#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# The Pentium 4's data-address experiment as a program that measures itself (docs/examples/own_samples.c): PEBS records
# tell the load's addresses, and its own handler gets the interrupts behind the load. docs/howto/own-handler.md shows
# what it prints.
. "$TOP/tests/lib.sh"
runs_32 || skip "this host executes no 32-bit programs"
gcc -m32 -O1 -no-pie -Wall -Wextra -Werror -I"$TOP/include" -o own_samples "$TOP/docs/examples/own_samples.c" || exit 1
"$SOFTPMU" stat --core willamette -o counts ./own_samples >out
same "all PEBS samples are at the load" "$(sed -n 's/^By PEBS: \([0-9]*\) samples, \1 of.*/all/p' out)" all
same "they have eight addresses, 8 KB apart, about equally often" \
	"$(awk '$1 == "+" && ($3 == 4 || $3 == 5) { printf "%s ", $2 }' out)" "0 2000 4000 6000 8000 a000 c000 e000 "
same "no interrupt is at the load" "$(sed -n 's/^By interrupt: .* samples, \([0-9]*\) of.*/\1/p' out)" 0
check "all interrupts are 60 loads or more behind it" \
	awk '/^By interrupt/ { on = 1; next } on && $1 + 0 && $1 < 60 { bad = 1 } END { exit bad }' out
# (how many interrupts there are, and where, is the model's timing, which changes)
# (where the stack lies decides in which of the eight places the first sample falls, and whether there are 39 or 40)
near "samples by PEBS" "$(sed -n 's/^By PEBS: \([0-9]*\) .*/\1/p' out)" 39 40
words() { sed -n '/^ *By PEBS/,/^ *By interrupt/s/\(^\| \) *\([45]\|39\|40\)\( \|$\)/ N /gp' "$1" |
	tr -s ' ' | sed 's/^ //'; }
words out >ours
words "$TOP/docs/howto/own-handler.md" >theirs
same_files "the page shows what it prints ($(wc -l <ours) lines)" ours theirs
same "on a processor it says what it needs" "$(./own_samples)" "needs softpmu"
exit $failed
