#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# stat times a process in full until it has executed 200 million instructions, then samples it.  --detail=N sets another
# number: what was timed is counted exactly, what follows is estimated.  --detail alone times all of it.
. "$TOP/tests/lib.sh"

of() { awk -F, -v e="$1:u" -v f="$3" '$3 == e { print $f }' "$2"; }
e=cycles,instructions,branch-misses,mem_load_retired.l1_miss,branches
bare_stream s /usr/bin/awk 'BEGIN {
	for (i = 0; i < 6000; i++) { k = i * 7919 % 3001; n[k] += length(i k) }
	for (k in n) s += n[k]; print s }' >out
"$SOFTPMU" stat -x, -e $e --no-wrong-path --replay s -o full
"$SOFTPMU" stat -x, -e $e --no-wrong-path --detail --replay s -o g 2>err
same_files "--detail times the whole run" full g
"$SOFTPMU" stat -x, -e $e --no-wrong-path --detail=1G --replay s -o g 2>>err
same_files "a run that is not as long is timed" full g
same "and nothing is said" "$(cat err)" ""

"$SOFTPMU" stat -x, -e $e --no-wrong-path --detail=2M --replay s -o g 2>err
has "the change is told, and not as a warning" \
	"^softpmu: the first 2 million instructions are timed; the rest of the run is sampled" err
for name in instructions branches branch-misses; do
	same "$name are exact" "$(of $name g 1)" "$(of $name full 1)"
done
half=$(of cycles g 4) is=$(of cycles full 1) estimate=$(of cycles g 1)
half=${half%\%}
holds "cycles of $is are estimated as $estimate +- ${half:-nothing} %" \
	"${half:-0} > 0 && ($estimate - $is) ^ 2 <= ($estimate * 2 * ${half:-0} / 100) ^ 2"
within "misses, which come in bursts," "$(of mem_load_retired.l1_miss g 1)" "$(of mem_load_retired.l1_miss full 1)" 5
"$SOFTPMU" stat -x, -e $e --no-wrong-path --sample --replay s -o h
differs=$(of cycles h 4)
holds "the part that was timed has no error" "$(of cycles g 4 | tr -d %) < ${differs%\%} * 1.2"
"$SOFTPMU" stat -x, -e $e --no-wrong-path --detail=2M --replay s -o h 2>err
same_files "two such runs print the same" g h
"$SOFTPMU" stat --detail=2M --replay s -o table 2>err
has "the table says how much was timed" "[0-9.]*% of the instructions were timed, then the run was sampled" table
has "and how much was measured" \
	"Estimated from [0-9]* windows; [0-9.]*% of the instructions after the start were" table

"$SOFTPMU" stat -x, -e cycles,instructions --detail=300K "$PROGRAMS/threads" spin 20000 >out 2>err
has "threads at the same time are timed" "all of the run was timed, because several threads ran" err
hasnt "so nothing is estimated" ",cycles:u,[0-9.]*%," err
"$SOFTPMU" trace -q --follow -o several sh -c 'seq 3000 | wc -l; exec seq 30000' >out
"$SOFTPMU" stat -x, -e instructions --replay several --detail=100K 2>err
"$SOFTPMU" stat -x, -e instructions --replay several --detail 2>err2
same "each process is timed, then sampled; a new image stays sampled" "$(of instructions err 1)" \
	"$(of instructions err2 1)"
has "this is told once" "^1$" "$(grep -c 'is sampled' err >count; echo count)"

refuse "--detail=N with -r" "nor does --detail=N" "$SOFTPMU" stat --detail=1M -r 2 true
refuse "--detail with --sample" "exclude each other" "$SOFTPMU" stat --detail --sample true
refuse "--detail=0" "N is a number of instructions" "$SOFTPMU" stat --detail=0 true
exit $failed
