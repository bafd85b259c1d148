#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# record --sample against full detail: as many samples, periods that add up to as much, the same shares, complete call
# chains and branch stacks; two runs write the same, and what does not go with it is refused.  Without the wrong path,
# for speed.
. "$TOP/tests/lib.sh"

"$SOFTPMU" trace -q -o s awk 'BEGIN { for (i = 0; i < 2500; i++) { k = i * 7919 % 3001; n[k] += length(i k) }
	for (k in n) s += n[k]; print s }' >out
# Most of its work is the same from begin to end, so that shares of a short run can be compared: windows are few.
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
	take sampled.data -e "$event" -c "$period" --sample=40K,4K,4K "$@"
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
compare "precise cycles" cycles:pp 1009 6
compare mispredicts br_misp_retired.all_branches 53 8
take frequency.data -F 1000000 -e instructions
full=$(periods frequency.data)
take frequency.data -F 1000000 -e instructions --sample=40K,4K,4K
within "-F: as many samples" "$(periods frequency.data | cut -d' ' -f1)" "${full%% *}" 10
take branches.data -b -c 2003 --sample
perf script -i branches.data -F brstack 2>/dev/null | awk 'NF { print (NF >= 32) }' | sort | uniq -c >stacks
same "branch stacks are full" "$(awk '{ print $2 }' stacks)" 1
take first.data -c 2003 --sample
take again.data -c 2003 --sample
perf script -i first.data >first 2>/dev/null
perf script -i again.data >again 2>/dev/null
same_files "two sampled runs take the same samples" first again
take default.data --sample
near "the default takes a good number of samples" "$(periods default.data | cut -d' ' -f1)" 500 20000
"$SOFTPMU" record -o threads.data --sample=20K,2K,2K -c 5003 "$PROGRAMS/threads" spin 20000 >out 2>err
near "threads are sampled: they number" "$(perf script -i threads.data -F tid 2>/dev/null | sort -u | wc -l)" 2 64
has "threads at the same time are told" "threads ran at the same time" err
"$SOFTPMU" mem record --sample=20K,2K,2K -o mem.data --no-wrong-path --replay s >out 2>err
nonzero "mem record takes samples in windows" "$(perf script -i mem.data -F addr 2>/dev/null | grep -c '[1-9a-f]')"

for o in "--region x" "--after cycles=10" "--force-ovf" "--pebs-records 8" "--pmi-cost 100" "--exact" "-j stack" \
	"--start 100" "--smt" "--cpus 2"; do
	# shellcheck disable=SC2086	# two words
	refuse "--sample $o" "--sample \(goes\|does not go\) with" "$SOFTPMU" record --sample $o true
done
exit $failed
