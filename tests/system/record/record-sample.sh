#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# record --sample, and record of a long run, which goes on sampled, against full detail: as many samples, periods that
# add up to as much, the same shares, complete call chains and branch stacks; two runs write the same, and what does not
# go with it is refused.  Without the wrong path, for speed.
. "$TOP/tests/lib.sh"

bare_stream s /usr/bin/awk 'BEGIN {
	for (i = 0; i < 3500; i++) { k = i * 7919 % 3001; n[k] += length(i k) }
	for (k in n) s += n[k]; print s }' >out
# Most of its work is the same from begin to end, so that shares of a short run can be compared: windows are few.  There
# are some 850 of them, because with half as many chance alone was 6.2 percent of the cycles.
take() {	# FILE OPTION...
	file=$1; shift
	"$SOFTPMU" record -o "$file" --no-wrong-path --replay s "$@" 2>err || { cat err; failed=1; }
}
shares() {	# FILE: percent and name of each file of code
	perf report --stdio -i "$1" --no-children -g none -s dso -F overhead,dso 2>/dev/null |
		awk '/^ *[0-9.]+%/ { print $1 + 0, $2 }' | sort -k2
}
variation() {	# FILE FILE: half of the sum of differences, in percent
	shares "$1" >a
	shares "$2" >b
	awk 'NR == FNR { p[$2] = $1; next } { p[$2] -= $1 } END { for (k in p) s += p[k] < 0 ? -p[k] : p[k]
		print s / 2 }' a b
}
periods() { perf script -i "$1" -F period 2>/dev/null | awk '$1 > 0 { s += $1; n++ } END { print n, s }'; }
compare() {	# NAME EVENT PERIOD PERCENT OPTION...
	name=$1 event=$2 period=$3 percent=$4; shift 4
	take full.data -e "$event" -c "$period" "$@"
	take sampled.data -e "$event" -c "$period" --sample=16K,2K,2K "$@"
	read -r full_samples full_sum <<-E
		$(periods full.data)
	E
	read -r samples sum <<-E
		$(periods sampled.data)
	E
	within "$name: as many samples" "$samples" "$full_samples" "$percent"
	within "$name: the periods add up to as much" "$sum" "$full_sum" "$percent"
	# two sets of so many samples of the same program: three standard deviations of a share of one half
	near "$name: total variation of the files' shares, percent" "$(variation full.data sampled.data)" 0 \
		"$(awk -v n="$samples" 'BEGIN { print 300 * sqrt(0.5 / n) }')"
}
compare cycles cycles 1009 6 -g
has "it says how much was measured" "Taken in [0-9]* windows, which are [0-9.]*% of the instructions" err
for f in full sampled; do
	perf script -i $f.data -F ip,sym 2>/dev/null | awk -v RS= '{ n++; d += NF; m += /_start/ }
		END { print d / n, m / n }' >$f.depth
done
within "call chains are as deep" "$(cut -d' ' -f1 sampled.depth)" "$(cut -d' ' -f1 full.depth)" 5
within "and as complete" "$(cut -d' ' -f2 sampled.depth)" "$(cut -d' ' -f2 full.depth)" 1
ends() { perf script -i "$1" -F time 2>/dev/null | awk '$1 + 0 > t { t = $1 + 0 } END { print 1000 * t }'; }
within "times are those of the whole run, in ms" "$(ends sampled.data)" "$(ends full.data)" 5
# 19 cycles apart in a window, closer than an interrupt takes to arrive: none is lost
take close.data -c 151 --sample=16K,2K,2K
within "close cycles: as many samples as cycles make" "$(periods close.data | cut -d' ' -f1)" $((full_sum / 151)) 6
compare "precise cycles" cycles:pp 1009 6
compare mispredicts br_misp_retired.all_branches 53 8
# PEBS does not count the event at which it writes its record; records of instructions, and with :ppp, are of the event
# that overflows.
take sampled.data -e instructions:pp -c 503 --sample=40K,4K,4K
within "precise instructions: the periods add up to the instructions" "$(periods sampled.data | cut -d' ' -f2)" \
	"$("$SOFTPMU" stat -x, -e instructions --detail --replay s 2>&1 | cut -d, -f1)" 0.8
take armed.data -e br_misp_retired.all_branches:pp -c 53 --sample=40K,4K,4K
take exact.data -e br_misp_retired.all_branches:ppp -c 53 --sample=40K,4K,4K
within "mispredicts with :ppp: the periods add up to as much as with :pp" \
	"$(periods exact.data | cut -d' ' -f2)" "$(periods armed.data | cut -d' ' -f2)" 4
take frequency.data -F 1000000 -e instructions
full=$(periods frequency.data)
take frequency.data -F 1000000 -e instructions --sample=40K,4K,4K
within "-F: as many samples" "$(periods frequency.data | cut -d' ' -f1)" "${full%% *}" 10
take branches.data -b -c 2003 --sample=40K,4K,4K
perf script -i branches.data -F brstack 2>/dev/null | awk 'NF { print (NF >= 32) }' | sort | uniq -c >stacks
same "branch stacks are full" "$(awk '{ print $2 }' stacks)" 1
take first.data -c 2003 --sample
take again.data -c 2003 --sample
perf script -i first.data >first 2>/dev/null
perf script -i again.data >again 2>/dev/null
same_files "two sampled runs take the same samples" first again
take default.data --sample
near "the default takes a good number of samples" "$(periods default.data | cut -d' ' -f1)" 15000 40000
has "in an eighth of what follows the start" "Taken in [0-9]* windows, which are 1[12][.]" err
same "samples are as far apart as in full detail where the start is timed" \
	"$(perf script -i default.data -F period 2>/dev/null | sed -n '100s/ //gp')" 151
"$SOFTPMU" record -o threads.data --sample=20K,2K,2K -c 5003 "$PROGRAMS/threads" spin 20000 >out 2>err
near "threads are sampled: they number" "$(perf script -i threads.data -F tid 2>/dev/null | sort -u | wc -l)" 2 64
has "threads at the same time are told" "threads ran at the same time" err
"$SOFTPMU" mem record --sample=20K,2K,2K -o mem.data --no-wrong-path --replay s >out 2>err
nonzero "mem record takes samples in windows" "$(perf script -i mem.data -F addr 2>/dev/null | grep -c '[1-9a-f]')"

# Without --sample a run is timed until 200 million instructions, or those of --detail=N, are over.
take short.data -c 1009
take detail.data -c 1009 --detail
perf script -i short.data >first 2>/dev/null
perf script -i detail.data >again 2>/dev/null
same_files "a short run is timed: the same samples as with --detail" first again
take part.data -c 1009 -g --detail=3M
has "the change is told" "the first 3 million instructions are timed; the rest of the run is sampled" err
has "and how much was measured then" "The rest was taken in [0-9]* windows, which are [0-9.]*% of its inst" err
perf script -i part.data -F time,period,ip 2>/dev/null | awk '/:/ && $2 == 1009' >part
perf script -i short.data -F time,period,ip 2>/dev/null >full
head -500 full | awk '{ print $1 }' >first
head -500 part | awk '{ print $1 }' >again
same_files "samples of the timed part are those of a run in full detail" first again
within "periods of both parts add up" "$(periods part.data | cut -d' ' -f2)" "$(periods short.data | cut -d' ' -f2)" 5
near "total variation of the files' shares, percent" "$(variation short.data part.data)" 0 6
perf script -i part.data -F ip,sym 2>/dev/null | awk -v RS= '{ n++; m += /_start/ } END { print m / n }' >depth
within "call chains are complete in both parts" "$(cat depth)" "$(cut -d' ' -f2 full.depth)" 1
take part.data -e br_misp_retired.all_branches:pp -c 53 --detail=3M
take full.data -e br_misp_retired.all_branches:pp -c 53
within "precise events" "$(periods part.data | cut -d' ' -f2)" "$(periods full.data | cut -d' ' -f2)" 8
take part.data -F 1000000 -e instructions --detail=3M
within "-F goes on: as many samples" "$(periods part.data | cut -d' ' -f1)" "${full%% *}" 10
take few.data --detail=3M
has "few samples are told, with a period that takes enough" "only [0-9]* samples of cycles:u; -c [0-9]* would" err
take few.data --sample -c 100003
has "of a sampled run, too" "only [0-9]* samples of cycles:u; -c [0-9]* would take about 1000" err
"$SOFTPMU" record -o threads.data --detail=300K -c 5003 "$PROGRAMS/threads" spin 20000 >out 2>err
has "several threads are timed to the end" "all of the run was timed, because several threads ran" err
refuse "--detail with --sample" "exclude each other" "$SOFTPMU" record --detail --sample true

for o in "--region x" "--after cycles=10" "--force-ovf" "--pebs-records 8" "--pmi-cost 100" "--exact" "-j stack" \
	"--start 100" "--smt" "--cpus 2"; do
	# shellcheck disable=SC2086	# two words
	refuse "--sample $o" "--sample \(goes\|does not go\) with\|go with neither --sample" \
		"$SOFTPMU" record --sample $o true
done
exit $failed
