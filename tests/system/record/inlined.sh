#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Functions that the compiler inlined have frames of their own in report and in every export, as addr2line names them;
# --no-inline puts them into the function around them.
. "$TOP/tests/lib.sh"
need perf addr2line callgrind_annotate jq
export HOME="$work" PERF_CONFIG=/dev/null LC_ALL=C
program=$PROGRAMS/inlined
# Without surroundings, which decide where samples fall: for one in atoi, inlined from stdlib.h, addr2line prints main.
bare_stream stream inlined 3000 >/dev/null || bad "saving a stream"
"$SOFTPMU" record -q -g -c 2003 --replay stream >out 2>err </dev/null || { cat err; exit 1; }

"$SOFTPMU" report --no-children --percent-limit 5 >out
has "report: a call tree has the inlined functions" '-deep::spin<unsigned int> (inlined)$' out
has "report: and the function that they are inlined into" '^ *outer (inlined)$' out
has "report: a call within an inlined function has it as its caller" '^ *deep::calls_leaf (inlined)$' out
"$SOFTPMU" report -g none >out
has "report: an inlined function has an entry with what it called" \
	' 0\.00%  inlined .*\[\.\] outer (inlined)$' out
same "report: an inlined function is one entry for each function around it" \
	"$(grep -c 'deep::spin<unsigned int> (inlined)' out)" 2
"$SOFTPMU" report --json | jq -r '.events[0].entries[] | select(.inlined) | .symbol' >out
has "report --json: entries of inlined functions say so" '^outer$' out
for options in "" --no-children "-g caller"; do
	# shellcheck disable=SC2086	# words
	"$SOFTPMU" report --no-inline $options >ours
	hasnt "report --no-inline $options: no inlined function" inlined\) ours
done

# A sample's chain is addr2line's.
"$SOFTPMU" record -q -c 499 -o flat.data --replay stream >out 2>err </dev/null || cat err
perf script -i flat.data -F ip,dso 2>/dev/null | awk -v p="($program)" '$2 == p { print $1 }' >addresses
sort -u addresses >each
while read -r address; do
	echo "$address $(addr2line -fi -e "$program" "$address" | awk 'NR % 2 { chain = $1 ";" chain } END {
		sub(/;$/, "", chain); print chain }' | c++filt -p | sed 's/deep:://g; s/ //g')"
done <each >chains
awk 'NR == FNR { chain[$1] = $2; next } { n[chain[$1]] += 499 } END { for (c in n) print c, n[c] }' chains addresses |
	grep -v '^??' | sort >theirs
"$SOFTPMU" export -i flat.data -f folded | sed 's/^inlined;//; s/deep:://g; s/unsigned int/unsignedint/g' |
	grep -E '^(main|middle|leaf)' | awk '{ n[$1] += $2 } END { for (c in n) print c, n[c] }' | sort >ours
sed 's/ 0x[^ ]*//' theirs | grep -E '^(main|middle|leaf)' >all
nonzero "there are chains of inlined functions" "$(grep -c '^main;outer;spin' all)"
same_files "export: the inlined functions at each sample are addr2line's" all ours

# Each format.
"$SOFTPMU" export -f folded >out
has "folded: main;outer;spin" ';main;outer;deep::spin<unsigned int> [0-9]*$' out
has "folded: a call from an inlined function" ';main;outer;deep::calls_leaf;deep::leaf [0-9]*$' out
"$SOFTPMU" export -f folded --no-inline >plain
hasnt "folded --no-inline: main alone" 'outer' plain
sum() { awk '{ n += $NF } END { print n }' "$1"; }
same "folded: the same total with and without" "$(sum out)" "$(sum plain)"
spin=$(grep 'deep::spin<unsigned int> [0-9]*$' out | sum -)
sum_of() { jq '[.shared.frames[].name] as $n | .profiles[0] | [.samples, .weights] | transpose |
	map(select($n[.[0][-1]] == "'"$1"'") | .[1]) | add' profile.speedscope.json; }
"$SOFTPMU" export -f speedscope
same "speedscope: the same weight as folded" "$(sum_of 'deep::spin<unsigned int>')" "$spin"
same "speedscope: an inlined function is one frame" \
	"$(jq '[.shared.frames[] | select(.name == "deep::spin<unsigned int>")] | length' profile.speedscope.json)" 1
"$SOFTPMU" export -f callgrind
callgrind_annotate callgrind.out 2>err | sed 's/([^)]*)//g; s/,//g' >annotated
check "callgrind_annotate reads the file without a warning" [ ! -s err ]
same "callgrind: the same cost as folded" \
	"$(awk '/:deep::spin<unsigned int> / { print $1; exit }' annotated)" "$spin"
if command -v go >/dev/null 2>&1; then
	"$SOFTPMU" export -f pprof
	go tool pprof -top profile.pb.gz >top 2>err
	same "pprof: the same cost as folded" "$(awk '/deep::spin/ { print $1 }' top)" "$spin"
	has "pprof: an inlined function says so" 'deep::spin.*(inline)$' top
fi
exit $failed
