#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# What interrupts cost: one a sample against one a PEBS buffer; the program's own cycles grow by what the
# handler drives out of the caches, not by the handler's; by default they cost nothing.
. "$TOP/tests/lib.sh"
"$SOFTPMU" stat -e cycles --save-stream stream "$PROGRAMS/causes" 5000 >out 2>&1 || { cat out; exit 1; }
run() { "$SOFTPMU" record --core skylake --exact -e cycles:pp -c 5003 "$@" -o data --replay stream 2>err ||
	failed=1; cat err; }
cycles() { "$SOFTPMU" report -i data --cycles exact | sed -n 's/^# Cycles: //p'; }
took() { sed -n 's/.*: \([0-9]*\) interrupts took \([0-9]*\) of \([0-9]*\) cycles.*/\1 \2 \3/p' err; }
samples() { sed -n 's/.*(\([0-9]*\) samples).*/\1/p' err; }
run; free=$(cycles) all=$(samples)
check "free: nothing is said of interrupts" [ -z "$(took)" ]
run --pmi-cost 4000
set -- $(took); one=$1
check "each takes what was said" [ "$2" -eq $(($1 * 4000)) ]
alone=$(cycles)
check "elapsed time has it, the program's own cycles have not" [ "$3" -eq $((alone + $2)) ]
# the last interrupt falls elsewhere each time: in the last batch, in front of a rep's end
for period in 997 1999 3001 4001 7001; do
	run --pmi-cost 4000 -c $period
	set -- $(took)
	check "so with a period of $period" [ "$3" -eq $(($(cycles) + $2)) ]
done
run --pmi-cost 4000,512
polluted=$(cycles)
check "the handler's lines drive the program's out: $free, $alone without lines, $polluted with" \
	[ "$polluted" -gt "$alone" ]
run --pmi-cost 4000 --pebs-records 32
rare=$(cycles)
run --pmi-cost 4000,512 --pebs-records 32
set -- $(took)
check "one a buffer: $1 interrupts for $one" [ $(($1 * 20)) -lt "$one" ]
# Beside the same interrupts without lines: what is under way goes on while a handler runs, so that many of them
# make the program's own cycles fewer
check "and less is driven out: $(($(cycles) - rare)) cycles for $((polluted - alone))" \
	[ $(($(cycles) - rare)) -lt $((polluted - alone)) ]
check "no sample is lost in the buffer (got $(samples), one a record: $all)" \
	[ $(($(samples) - all)) -lt 100 -a $((all - $(samples))) -lt 100 ]
for bad in 0 x 1,0 99999999999 1,9999999999; do
	"$SOFTPMU" record --pmi-cost $bad true 2>err && failed=1
	check "--pmi-cost $bad is refused" [ "$(grep -c pmi-cost err)" -eq 1 ]
done
exit $failed
