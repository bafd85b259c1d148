#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# stat --sample --jobs N: the output is the same for every N, of one thread, of threads and of processes, with large
# and with small windows, and also if the windows follow each other closely.
. "$TOP/tests/lib.sh"

all_jobs() {	# WHAT OPTIONS...: of the stream s
	what=$1; shift
	for n in 1 2 4; do
		"$SOFTPMU" stat -x, "$@" --jobs $n --replay s -o "jobs$n" || bad "$what with $n jobs"
	done
	"$SOFTPMU" stat -x, "$@" --jobs 4 --replay s -o again
	for n in 2 4; do
		same_files "$what: $n jobs count as 1 does" jobs1 "jobs$n"
	done
	same_files "$what: so does another run" jobs1 again
	holds "$what: cycles were counted" "$(awk -F, '$3 == "cycles:u" { print $1 }' jobs1) > 1000"
}
events=cycles,instructions,branch-misses,mem_load_retired.l1_miss,uops_issued.any,int_misc.recovery_cycles
events=$events,l2_rqsts.all_rfo,unc_cha_tor_inserts.ia_miss
bare_stream s /usr/bin/awk 'BEGIN {
	for (i = 0; i < 700; i++) { k = i * 7919 % 3001; n[k] += length(i k) }
	for (k in n) s += n[k]; print s }' >out
all_jobs "auto" -e $events --sample
all_jobs "sampled after a part in detail" -e $events --detail=1M
all_jobs "small windows, close together" -e $events --sample=2000,300,200
all_jobs "windows longer than what is kept of one" -e $events --sample=2M,400K,1K
all_jobs "a trace cache" --core willamette -e cycles,instructions --sample
"$SOFTPMU" trace -q -o s "$PROGRAMS/threads" pingpong 300 >out
all_jobs "threads" -e cycles,instructions --sample=20000,2000,2000
"$SOFTPMU" trace -q --follow -o s sh -c 'seq 1000 | wc -l; true' >out
all_jobs "processes" -e cycles,instructions --sample=20000,2000,2000
"$SOFTPMU" stat -x, --sample -e cycles --jobs 2 -o live seq 20000 >out
holds "it counts a live run" "$(cut -d, -f1 live) > 1000"
exit $failed
