#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# stat --replay FILE --cut: the pieces are the same for every --jobs, so are all counts; what is counted at retirement
# is counted once; a stream of one piece counts as without --cut; what cannot be cut is refused.
. "$TOP/tests/lib.sh"

of() { awk -F, -v e="$1:u" '$3 == e { print $1 }' "$2"; }
e=cycles,instructions,branches,branch-misses,uops_retired.slots,uops_issued.any,mem_load_retired.l1_miss
e=$e,int_misc.recovery_cycles,idq.dsb_uops,task-clock,ref-cycles,duration_time,unc_cha_tor_inserts.ia_miss
bare_stream s tosses 30 >out
"$SOFTPMU" stat -x, -e $e --detail --replay s -o full
for n in 1 2 3; do
	"$SOFTPMU" stat -x, -e $e --cut=1M --jobs $n --replay s -o "jobs$n" || bad "$n jobs"
done
same_files "2 jobs count as 1 does" jobs1 jobs2
same_files "3 jobs count as 1 does" jobs1 jobs3
for name in instructions branches uops_retired.slots; do
	same "$name are counted once" "$(of $name jobs1)" "$(of $name full)"
done
# Pieces are three times shorter than by default.  awk would not do: which of two states its loop in the uop cache is in
# depends on where the environment puts the stack, and then cycles differ by up to 0.9 %.
cat "$TOP"/src/core/*.c | head -c 50000 >text
bare_stream long /usr/bin/bzip2 -c text >out
within "cycles are about those of the whole" \
	"$("$SOFTPMU" stat -x, -e cycles --cut=3M --replay long 2>&1 | cut -d, -f1)" \
	"$("$SOFTPMU" stat -x, -e cycles --detail --replay long 2>&1 | cut -d, -f1)" 0.5
"$SOFTPMU" stat --cut=1M --replay s -o table
has "the table says that it was cut" \
	"Cut into [0-9]* pieces of 1 million instructions; this changed cycles by less than 0.2%" table
"$SOFTPMU" stat -x, -e cycles,instructions --core willamette --detail --replay s -o full2
"$SOFTPMU" stat -x, -e cycles,instructions --core willamette --cut=1M --replay s -o cut2
same "a trace cache: instructions are counted once" "$(of instructions cut2)" "$(of instructions full2)"
within "and cycles are about the same" "$(of cycles cut2)" "$(of cycles full2)" 2

"$SOFTPMU" trace -q -o short seq 300 >out
"$SOFTPMU" stat -x, -e $e --detail --replay short -o full
"$SOFTPMU" stat -x, -e $e --cut=10M --replay short -o one
same_files "a stream of one piece counts as without --cut" full one
"$SOFTPMU" stat -x, -e instructions --cut=2M --replay s -o other
same "pieces of another length hold the same instructions" "$(of instructions other)" "$(of instructions jobs1)"

head -c 60000 s >broken
"$SOFTPMU" stat -x, -e instructions --cut=1M --replay broken -o part 2>err
same "a broken stream fails" $? 1
has "and says why" "cut short\|truncated\|ends" err
"$SOFTPMU" trace -q -o threads "$PROGRAMS/threads" pingpong 3 >out
refuse "several threads" "only a stream of one thread" "$SOFTPMU" stat --cut --replay threads
"$SOFTPMU" trace -q --follow -o several sh -c 'seq 3 | wc -l; true' >out
refuse "several processes" "only a stream of one thread" "$SOFTPMU" stat --cut --replay several
refuse "a program that runs" "needs --replay" "$SOFTPMU" stat --cut true
refuse "a pipe" "plain file" "$SOFTPMU" stat --cut --replay /dev/stdin
refuse "short pieces" "from 1000000" "$SOFTPMU" stat --cut=1000 --replay s
refuse "--cut with --sample" "none of --sample" "$SOFTPMU" stat --cut --sample --replay s
refuse "--cut with -I" "none of --sample" "$SOFTPMU" stat --cut -I 1 --replay s
refuse "--cut with --start" "neither --sample nor --cut" "$SOFTPMU" stat --cut --start 1M --replay s
refuse "ages of lines" "l3.others" "$SOFTPMU" stat --cut --replay s --set "l3.others=0.5:100 4:0"
refuse "samples of pieces" "carried" "$SOFTPMU" record --cut --replay s
refuse "slots of pieces" "softpmu stat" "$SOFTPMU" topdown --cut --replay s
exit $failed
