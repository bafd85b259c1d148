#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# export -f firefox: a processed profile of the Firefox Profiler. A reader (tests/readers/firefox.jq) checks every rule
# of the format's description; the figures are those of softpmu report.
. "$TOP/tests/lib.sh"
need jq
export HOME="$work" LC_ALL=C
sound() {	# CLAIM FILE
	if jq -r -f "$TOP/tests/readers/firefox.jq" "$2" >said && [ ! -s said ]; then ok "$1"; else bad "$1" said; fi
}

bare_stream sharing.trace sharing atomic 500 3 >/dev/null
"$SOFTPMU" record -q -g -e cycles,instructions -c 997 --replay sharing.trace >/dev/null || bad "record"
"$SOFTPMU" report --no-inline --json >report.json
"$SOFTPMU" export -f firefox --no-inline -o plain.json
"$SOFTPMU" export -f firefox || bad "export"
sound "threads: the profile keeps the format's rules" profile.firefox.json
same "each thread has a row of each event that it has samples of" \
	"$(jq -r '.threads[] | "\(.pid) \(.tid | tostring | sub("\\..*"; ""))"' profile.firefox.json |
		sort -u | wc -l)" 3
same "the first thread of the process is its main thread" \
	"$(jq -c '[.threads[] | select(.isMainThread)] | length' profile.firefox.json)" 1
for event in cycles:u instructions:u; do
	same "$event: the weights add up to report's total" "$(jq --arg e "($event)" \
		'[.threads[] | select(.name | endswith($e)) | .samples.weight[]] | add' profile.firefox.json)" \
		"$(jq --arg e $event '.events[] | select(.event == $e) | .period' report.json)"
	# report's entries are functions that have code
	same "$event: and those of each function are report's" "$(jq -c --arg e "($event)" '.shared.stringArray as $s |
		[.threads[] | select(.name | endswith($e)) | . as $t | range($t.samples.length) | {
			name: $s[$t.funcTable.name[$t.frameTable.func[$t.stackTable.frame[$t.samples.stack[.]]]]],
			weight: $t.samples.weight[.] }] | group_by(.name) |
		map([.[0].name, (map(.weight) | add)] | select(.[0] | startswith("0x") | not))' plain.json | cksum)" \
		"$(jq -c --arg e $event '.events[] | select(.event == $e) | [.entries[] |
		select(.period > 0 and .symbol) | select(.symbol | test("^0x|^\\[") | not) |
		{ name: .symbol, weight: .period }] | group_by(.name) |
		map([.[0].name, (map(.weight) | add)])' report.json | cksum)"
done
"$SOFTPMU" export -f folded >folded
deepest=$(awk '{ n = gsub(/;/, ";"); if (n > most) most = n } END { print most }' folded)
same "the deepest stack has as many frames as the folded one" "$deepest" "$(jq '[.threads[] |
	select(.name | endswith("(cycles:u)")) | .stackTable as $t |
	reduce range($t.length) as $i ([]; . + [if $t.prefix[$i] == null then 1 else .[$t.prefix[$i]] + 1 end]) | max] |
	max' profile.firefox.json)"
"$SOFTPMU" export -f firefox -o again.json &&
	same_files "a second export has the same bytes" profile.firefox.json again.json

"$SOFTPMU" record -q -g -c 499 -o inlined.data -- "$PROGRAMS/inlined" 2000 >/dev/null || bad "record of inlined"
"$SOFTPMU" export -i inlined.data -f firefox -o inlined.json
sound "inlined functions: the profile keeps the format's rules" inlined.json
holds "inlined functions have frames of their own" \
	"$(jq '[.threads[].frameTable.inlineDepth[]] | max' inlined.json) >= 2"
same "which have the address of the frame that they are inlined into" "$(jq 'all(.threads[]; .frameTable as $f |
	.stackTable as $s | all(range($s.length); . as $i | $s.frame[$i] as $a | $f.inlineDepth[$a] == 0 or
		($s.frame[$s.prefix[$i]] as $b | $f.address[$a] == $f.address[$b] and
			$f.inlineDepth[$a] == $f.inlineDepth[$b] + 1)))' inlined.json)" true
"$SOFTPMU" export -i inlined.data -f firefox --no-inline -o plain.json
sound "without inlined functions, too" plain.json
same "--no-inline has none" "$(jq '[.threads[].frameTable.inlineDepth[]] | max' plain.json)" 0
same "frames name source files and lines" "$(jq '.shared as $s | any(.threads[]; . as $t |
	any(range(.frameTable.length);
	$t.frameTable.line[.] != null and ($t.funcTable.source[$t.frameTable.func[.]] as $f |
		$f != null and ($s.stringArray[$s.sources.filename[$f]] | test("inlined.cc$")))))' inlined.json)" true

# The reader finds what is wrong.
spoiled() {	# CLAIM, jq's program
	jq -c "$2" profile.firefox.json >spoiled.json
	jq -r -f "$TOP/tests/readers/firefox.jq" spoiled.json >said 2>&1
	if [ -s said ]; then ok "the reader notices $1: $(head -n 1 said)"; else bad "the reader does not notice $1"; fi
}
spoiled "another version" '.meta.preprocessedProfileVersion = 57'
spoiled "a frame that is not there" '.threads[0].stackTable.frame[0] = 1000000'
spoiled "a caller behind its callee" '.threads[0].stackTable.prefix[0] = 1'
spoiled "a column of another length" '.threads[1].samples.time |= .[1:]'
spoiled "time that goes back" '.threads[0].samples.time[1] = 0'
spoiled "no category that is grey" '.meta.categories[0].color = "red"'
spoiled "a missing column" 'del(.threads[0].frameTable.innerWindowID)'
spoiled "a process number that is no text" '.threads[0].pid = 1'
spoiled "two threads of the same number" '.threads[1].tid = .threads[0].tid | .threads[1].pid = .threads[0].pid'

refuse "a full disk" "cannot write" "$SOFTPMU" export -f firefox -o /dev/full
exit $failed
