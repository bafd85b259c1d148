#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# trace --live-points: counts on such a file are those of a sampled run of the whole stream with the same windows,
# within both intervals; what instructions are is counted exactly; each machine has caches and predictors of its own;
# and what the file cannot give, or a damaged file, is refused.
. "$TOP/tests/lib.sh"

of() { awk -F, -v e="$1:u" -v f="$3" '$3 == e { print $f }' "$2"; }
plan=25K,2K,3K
bare_stream s tosses 40 >out
"$SOFTPMU" trace --live-points p --sample=$plan --replay s 2>err
has "it says how many points there are" 'live points of' err
"$SOFTPMU" trace -q --live-points q --sample=$plan --replay s
whole=$(wc -c <s) points=$(wc -c <p)
holds "the file ($points bytes) is smaller than the trace ($whole)" "$points < $whole"

kinds=instructions,branches,br_inst_retired.cond,br_inst_retired.near_call,mem_inst_retired.all_loads
"$SOFTPMU" stat -x, -e $kinds --detail --replay s -o full
"$SOFTPMU" stat -x, -e $kinds --replay p -o live
cut -d, -f1-3 full >kinds
cut -d, -f1-3 live >estimated
same_files "what instructions are is counted exactly, of those that were left out, too" kinds estimated
same "and without an interval" "$(cut -d, -f4 live | sort -u)" ""

compare() {	# CORE OPTION...
	core=$1; shift
	events=cycles,instructions
	[ "$core" != golden-cove ] || events=$events,branch-misses,mem_load_retired.l1_miss
	"$SOFTPMU" stat -x, --core "$core" -e $events "$@" --sample=$plan --replay s -o direct
	"$SOFTPMU" stat -x, --core "$core" -e $events "$@" --replay p -o live
	close "$core $*" cycles 20
}
close() {	# NAME EVENT PERCENT: both intervals meet, and that of live points is narrower than PERCENT
	is=$(of "$2" direct 1) half=$(of "$2" direct 4)
	live=$(of "$2" live 1) live_half=$(of "$2" live 4)
	holds "$1: $2 ($live +- $live_half) are those of a sampled run ($is +- $half)" \
		"$is > 0 && ($live / $is - 1) ^ 2 <= ((${half%\%} + ${live_half%\%}) / 100) ^ 2 && ${live_half%\%} < $3"
}
compare golden-cove
within "mispredicts, too" "$(of branch-misses live 1)" "$(of branch-misses direct 1)" 10
close golden-cove mem_load_retired.l1_miss 40
cp live first
"$SOFTPMU" stat -x, -e "$events" --jobs 1 --replay q -o again
same_files "another capture of the stream counts the same, and so do other numbers of jobs" first again
compare prescott

# windows that begin within the 500 instructions that are kept behind the window before, or within its last block
"$SOFTPMU" trace -q --live-points close --sample=1200,150,150 --replay s
check "windows may lie close together" "$SOFTPMU" stat -x, -e cycles --replay close -o near

# parts of the file are timed by as many runs as --jobs says
"$SOFTPMU" trace -q --live-points many --sample=8K,500,1500 --replay s
events=cycles,instructions,branch-misses,mem_load_retired.l1_miss,idq.dsb_uops,br_inst_retired.cond
"$SOFTPMU" stat -x, -e $events --jobs 1 --replay many -o one
for jobs in 2 3 5; do
	"$SOFTPMU" stat -x, -e $events --jobs $jobs --replay many -o several
	same_files "$jobs jobs count the same as one" one several
done
same "all of the program's instructions are counted" "$(of instructions one 1)" "$(of instructions full 1)"
"$SOFTPMU" stat -x, -e cycles --core prescott --jobs 1 --replay many -o one
"$SOFTPMU" stat -x, -e cycles --core prescott --jobs 2 --replay many -o several
same_files "on a core without a uop cache, too" one several
"$SOFTPMU" stat -x, -I 1 -e cycles --jobs 1 --replay many -o one
"$SOFTPMU" stat -x, -I 1 -e cycles --jobs 3 --replay many -o several
same_files "intervals are the same" one several
at=$(grep -abo SPMUSEC many | sed -n 2p | cut -d: -f1)	# the first part's header; 12 bytes on is its kind
cp many flipped
printf '\003' | dd of=flipped bs=1 seek=$((at + 12)) conv=notrunc 2>/dev/null
refuse "a part that says that it is a digest" 'damaged' "$SOFTPMU" stat -x, -e cycles --jobs 2 -o out \
	--replay flipped
head -c $(($(wc -c <many) * 3 / 4)) many >half
"$SOFTPMU" stat -x, -e cycles,branches --jobs 3 --replay half -o out 2>err
has "a file of parts that was cut short says so" 'cut short' err

has "and its branches are not left out" '^[1-9][0-9]*,,branches' out

# every third part, as if there were no others: together they are all of it
"$SOFTPMU" stat -x, -e instructions,branches,cycles --replay many -o all
for k in 1 2 3; do
	"$SOFTPMU" stat -x, -e instructions,branches,cycles --jobs 1 --parts $k/3 --replay many -o part.$k
	"$SOFTPMU" stat -x, -e instructions,branches,cycles --jobs 3 --parts $k/3 --replay many -o several
	same_files "part $k of every 3: three jobs count the same as one" part.$k several
done
sum() { cat "$@" | awk -F, -v e="$event" '$3 ~ "^" e { n += $1 } END { printf "%d", n }'; }
for event in instructions branches; do
	holds "the parts' $event add up to all" "$(sum part.1 part.2 part.3) == $(sum all)"
done
event=cycles
holds "their cycles do so within 3 %" "$(sum part.1 part.2 part.3) > 0.97 * $(sum all) && \
	$(sum part.1 part.2 part.3) < 1.03 * $(sum all)"
refuse "a part that there is not" 'no part 900 of every 1000' "$SOFTPMU" stat -o out \
	--parts 900/1000 --replay many
refuse "parts of a program" 'has parts' "$SOFTPMU" stat --parts 1/2 true
refuse "part 0" 'from 1 to N' "$SOFTPMU" stat --parts 0/2 --replay many

"$SOFTPMU" stat -e branch-misses --replay p 2>text
has "it says that mispredicts are an estimate" 'mispredicted branches are estimated as well' text

# the other commands with windows
check "topdown takes the file" "$SOFTPMU" topdown --replay p -x, -o down
check "record takes it" "$SOFTPMU" record -q --replay p -o data
check "cost takes it" "$SOFTPMU" cost --replay p -e l1_miss -j -o costs
refuse "all of a run in detail" 'live points' "$SOFTPMU" stat --detail --replay p
refuse "other windows" 'live points' "$SOFTPMU" stat --sample=1M,1K,1K --replay p
refuse "pieces of the run" 'live points' "$SOFTPMU" stat --cut --replay p
refuse "call graphs" 'live points' "$SOFTPMU" record -g --replay p -o data
refuse "a capture of live points" 'live points' "$SOFTPMU" trace --live-points r --replay p
refuse "two files" 'live-points' "$SOFTPMU" trace --live-points r -o t true
refuse "a machine for a file of any" 'live points' "$SOFTPMU" trace --live-points r --core skylake true
refuse "windows without live points" 'live-points' "$SOFTPMU" trace --sample -o t true
refuse "a second thread" 'one thread' "$SOFTPMU" trace -q --live-points r "$PROGRAMS/threads" workers 1000
head -c $(($(wc -c <p) / 2)) p >half
"$SOFTPMU" stat -x, -e cycles --replay half -o out 2>err
has "a file that was cut short says so" 'cut short' err

# chase runs through 2 MB again and again: what a window finds in L2 comes from before it
plan=25K,2K,3K
bare_stream s chase 32768 64 random 200000 >out 2>err || cat err
"$SOFTPMU" trace -q --live-points p --sample=$plan --replay s
compare golden-cove
cold=$(of cycles live 1)
compare golden-cove --set l2.size=512K --set l2.ways=8
holds "a cache that does not hold it makes it slower" "$(of cycles live 1) > 1.03 * $cold"
exit $failed
