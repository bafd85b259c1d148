#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# perf report, AutoFDO (create_llvm_prof, create_gcov) and BOLT (perf2bolt) read a file of record --sample, and find the
# shares of functions that they find in a file of full detail.
. "$TOP/tests/lib.sh"
cc=$(command -v gcc) || skip "gcc is not installed"
# DWARF 4: AutoFDO 0.19 finds nothing in DWARF 5.  --emit-relocs: for BOLT.
"$cc" -gdwarf-4 -O1 -fno-if-conversion -fno-if-conversion2 -no-pie -fno-pie -Wl,--emit-relocs -o turns \
	"$TOP/tests/programs/three_shares.c" || skip "gcc does not compile three_shares.c"
"$SOFTPMU" record -q --detail -b -c 1009 -o full.data ./turns 12000 >out
"$SOFTPMU" record -q --sample=32K,4K,4K -b -c 1009 -o sampled.data ./turns 12000 >out
percent() { awk '$1 ~ /^(little|more|most|main)$/ { n[$1] += $2; all += $2 }
	END { for (k in n) print k, 100 * n[k] / all }' | sort; }
by_perf() { perf report --stdio --no-branch-stack -i "$1.data" -s sym -F period,sym 2>/dev/null |
	awk '/^ *[0-9]/ { print $3, $1 }' | percent; }
by_llvm() { create_llvm_prof --binary=./turns --profile="$1.data" --out="$1.prof" --format=text 2>log &&
	sed -n 's/^\([a-z]*\):\([0-9]*\):.*/\1 \2/p' "$1.prof" | percent; }
no_llvm() { create_llvm_prof --binary=./turns --profile=full.data --out=none.prof 2>&1 |
	grep -q 'LLVM .* not enabled'; }
by_gcov() { create_gcov --binary=./turns --profile="$1.data" --gcov="$1.afdo" --gcov_version=2 2>log &&
	dump_gcov --gcov_version=2 "$1.afdo" 2>log | sed -n 's/^\([a-z]*\) total:\([0-9]*\) .*/\1 \2/p' | percent; }
by_bolt() { "$perf2bolt" -p "$1.data" -o "$1.fdata" ./turns >log 2>&1 &&
	awk '{ sub(/\/.*/, "", $2); print $2, $NF }' "$1.fdata" | percent; }
compare() {	# NAME FUNCTION
	$2 full >theirs
	$2 sampled >ours
	same "$1: the same functions" "$(cut -d' ' -f1 ours | tr '\n' ' ')" "$(cut -d' ' -f1 theirs | tr '\n' ' ')"
	near "$1: share of most" "$(sed -n 's/^most //p' ours)" 50 80
	near "$1: total variation, percent" "$(paste -d' ' ours theirs | awk '{ d = $2 - $4; v += d < 0 ? -d : d }
		END { print v / 2 + 0.001 }')" 0.0005 3
}
compare "perf report" by_perf
for tool in create_llvm_prof create_gcov; do
	command -v $tool >/dev/null || { echo "    $tool is not installed (package autofdo)"; continue; }
	if [ $tool = create_llvm_prof ] && no_llvm; then
		echo "    create_llvm_prof was built without LLVM"	# as Debian 13's is
		continue
	fi
	compare $tool "$([ $tool = create_gcov ] && echo by_gcov || echo by_llvm)"
done
perf2bolt=$(command -v perf2bolt || ls /usr/lib/llvm-*/bin/perf2bolt 2>/dev/null | tail -n 1)
if [ "$perf2bolt" ]; then
	compare perf2bolt by_bolt
	has "BOLT: every branch stack fits the binary" "mismatching disassembled function contents: 0 " log
else
	echo "    perf2bolt is not installed (package bolt-16)"
fi
exit $failed
