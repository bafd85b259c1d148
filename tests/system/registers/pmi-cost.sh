#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# The cost of interrupts (--pmi-cost): one per sample against one per PEBS buffer. The program's own cycles grow by the
# misses on lines that the handler evicts, not by the handler's cycles. By default interrupts cost nothing.
. "$TOP/tests/lib.sh"
"$SOFTPMU" stat -e cycles --save-stream stream "$PROGRAMS/causes" 5000 >out 2>&1 || { cat out; exit 1; }
run() { "$SOFTPMU" record --core skylake --exact -e cycles:pp -c 5003 "$@" -o data --replay stream 2>err ||
	failed=1; cat err; }
cycles() { "$SOFTPMU" report -i data --cycles exact | sed -n 's/^# Cycles: //p'; }
took() { sed -n 's/.*: \([0-9]*\) interrupts took \([0-9]*\) of \([0-9]*\) cycles.*/\1 \2 \3/p' err; }
samples() { sed -n 's/.*(\([0-9]*\) samples).*/\1/p' err; }
run; free=$(cycles) all=$(samples)
check "without --pmi-cost, no cost of interrupts is reported" [ -z "$(took)" ]
run --pmi-cost 4000
set -- $(took); one=$1
check "each interrupt takes the given 4000 cycles" [ "$2" -eq $(($1 * 4000)) ]
alone=$(cycles)
check "the handler's cycles are in the elapsed time but not in the program's own cycles" [ "$3" -eq $((alone + $2)) ]
# With each period the last interrupt falls elsewhere: in the last batch, or before the end of a REP instruction.
for period in 997 1999 3001 4001 7001; do
	run --pmi-cost 4000 -c $period
	set -- $(took)
	check "the same holds with a period of $period" [ "$3" -eq $(($(cycles) + $2)) ]
done
run --pmi-cost 4000,512
polluted=$(cycles)
check "cache lines of the handler cost the program cycles: $polluted, without them $alone, free $free" \
	[ "$polluted" -gt "$alone" ]
run --pmi-cost 4000 --pebs-records 32
rare=$(cycles)
run --pmi-cost 4000,512 --pebs-records 32
set -- $(took)
check "one interrupt per PEBS buffer: $1 interrupts instead of $one" [ $(($1 * 20)) -lt "$one" ]
# Compared with the same interrupts without cache lines: misses in flight continue while the handler runs, so many
# interrupts reduce the program's own cycles.
check "fewer interrupts evict less: $(($(cycles) - rare)) cycles instead of $((polluted - alone))" \
	[ $(($(cycles) - rare)) -lt $((polluted - alone)) ]
check "the buffer loses no sample: $(samples) samples, with one interrupt per sample $all" \
	[ $(($(samples) - all)) -lt 100 -a $((all - $(samples))) -lt 100 ]
for bad in 0 x 1,0 99999999999 1,9999999999; do
	"$SOFTPMU" record --pmi-cost $bad true 2>err && failed=1
	check "--pmi-cost $bad is refused" [ "$(grep -c pmi-cost err)" -eq 1 ]
done
exit $failed
