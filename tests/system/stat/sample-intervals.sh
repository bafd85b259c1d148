#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# stat -I of a sampled run: the counts of pieces of modelled time are estimates, and add up to those of the whole run.
. "$TOP/tests/lib.sh"

e=cycles,instructions,branches,branch-misses,mem_load_retired.l1_miss,duration_time
sums() { awk -F, '{ n[$4] += $2 } END { for (k in n) printf "%s %.0f\n", k, n[k] }' "$1" | sort; }
whole() { awk -F, '{ print $3, $1 }' "$1" | sort; }
bare_stream s /usr/bin/awk 'BEGIN {
	for (i = 0; i < 3000; i++) { k = i * 7919 % 3001; n[k] += length(i k) }
	for (k in n) s += n[k]; print s }' >out
stat() { "$SOFTPMU" stat --no-wrong-path "$@"; }
stat -x, -e $e --sample=40K,4K,4K --replay s -o total
stat -x, -e $e --sample=40K,4K,4K -I 0.2 --replay s -o pieces
sums pieces >added
whole total >counts
same_files "pieces add up to the whole run, exactly" added counts
stat -x, -e $e --sample=40K,4K,4K -I 0.2 --jobs 1 --replay s -o again
same_files "two such runs print the same, with one window at a time, too" pieces again
near "each piece has the cycles of its time" "$(awk -F, '$4 == "cycles:u" { print $2; exit }' pieces)" 599400 600600

# Against full detail: the program is slower at its end.  Pieces with 30 windows have intervals that hold.
stat -x, -e instructions --detail -I 0.5 --replay s -o full
stat -x, -e instructions --sample=32K,4K,4K -I 0.5 --replay s -o pieces
paste -d, full pieces | awk -F, '$13 + 0 > 0 { n++; bad += ($2 - $10) ^ 2 > (1.5 * $13 / 100 * $10) ^ 2 }
	END { print n + 0, bad + 0 }' >held
holds "instructions of pieces with an interval lie in 1.5 times theirs: $(cat held) (with one, not in it)" \
	"$(cut -d' ' -f1 held) > 0 && $(cut -d' ' -f2 held) == 0"
stat -I 0.5 --sample -e cycles,instructions --replay s -o table 2>err
has "the table has the interval in its place" "instructions:u .* ( +- *[0-9.]*% )$" table
hasnt "cycles have none, being what time is made of" "cycles:u .*( +-" table
stat -I 0.5 --sample=1M,4K,4K -e instructions --replay s -o table 2>err
has "few windows in a piece: unknown" "instructions:u .* ( +- unknown )$" table
has "which a note explains" "pieces of the run have counts without an interval, which needs 30 windows" err
stat -j -I 0.5 --sample -e instructions --replay s -o json
has "JSON has intervals" '"interval" : 0.0005.*"confidence-95" : [0-9.]*' json

# A run that is timed first: its pieces are those of full detail, up to where sampling begins.
stat -x, -e $e --detail -I 0.2 --replay s -o full
stat -x, -e $e --detail=2M -I 0.2 --replay s -o pieces 2>err
stat -x, -e $e --detail=2M --replay s -o total 2>>err
has "the change is told" "the first 2 million instructions are timed" err
sums pieces >added
whole total >counts
same_files "pieces add up with what was timed" added counts
head -6 full >first
head -6 pieces | cut -d, -f1-4,6- >second
same_files "the first piece was timed" first second
"$SOFTPMU" stat -x, -e instructions -I 0.01 --detail=1G true >out 2>pieces
same "-x has the column of intervals from the first piece on" "$(head -1 pieces | tr -cd , | wc -c)" 8
"$SOFTPMU" stat -x, -e instructions -I 0.01 true >out 2>pieces
same "without --sample and --detail=N there is none" "$(head -1 pieces | tr -cd , | wc -c)" 7

# Threads and processes.
"$SOFTPMU" trace -q -o t "$PROGRAMS/threads" workers 300000 >out
"$SOFTPMU" trace -q --follow -o f sh -c 'seq 30000 | wc -l; exec seq 30000' >out
for stream in t f; do
	stat -x, -e $e --sample=40K,4K,4K --replay $stream -o total 2>err
	stat -x, -e $e --sample=40K,4K,4K -I 0.02 --replay $stream -o pieces 2>err
	sums pieces >added
	whole total >counts
	same_files "several threads or processes: pieces add up" added counts
done
refuse "-I with --cut" "cut goes with none" "$SOFTPMU" stat --cut -I 1 --replay s
exit $failed
