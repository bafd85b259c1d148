#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# softpmu export: the reader of each format opens the file and finds the totals of softpmu report.
. "$TOP/tests/lib.sh"
export HOME="$work" LC_ALL=C
"$SOFTPMU" record -q -g -e cycles,instructions -c 2003 "$PROGRAMS/work" 3000 >/dev/null || exit 1
"$SOFTPMU" report --json >report.json || exit 1
total() { jq ".events[] | select(.event == \"$1\") | .period" report.json; }
mix() { jq ".events[] | select(.event == \"$1\") | .entries[] | select(.symbol == \"mix\") | .period" report.json; }
cycles=$(total cycles:u) instructions=$(total instructions:u)
numbers() { tr -d ',()%' | awk '{ print $1, $2 }'; }

# callgrind
"$SOFTPMU" export -f callgrind || failed=1
if command -v callgrind_annotate >/dev/null 2>&1; then
	callgrind_annotate callgrind.out >annotated 2>err
	check "callgrind_annotate reads the file without a warning" [ ! -s err ]
	sed 's/([^)]*)//g; s/,//g' annotated >plain
	check "callgrind_annotate has the totals of report ($cycles, $instructions)" \
		[ "$(awk '/PROGRAM TOTALS/ { print $1, $2 }' plain)" \
		= "$cycles $instructions" ]
	check "callgrind_annotate has the counts of one function" \
		[ "$(awk '/work.c:mix( |$)/ { print $1, $2; exit }' plain)" \
		= "$(mix cycles:u) $(mix instructions:u)" ]
	check "callgrind_annotate shows source lines" grep -q 'x ^= x << 13;' plain
	callgrind_annotate --inclusive=yes --tree=caller callgrind.out 2>/dev/null | sed 's/([^)]*)//g; s/,//g' >tree
	children() { jq ".events[] | select(.event == \"$1\") | .entries[] |
		select(.symbol == \"$2\") | .children" report.json; }
	check "inclusive costs equal the children column of report" \
		[ "$(awk '$3 == "*" && /work.c:hot( |$)/ { print $1, $2 }' \
		tree)" = "$(children cycles:u hot) $(children instructions:u hot)" ]
else
	echo "callgrind_annotate is not installed: the callgrind format is not tested"
fi

# folded
"$SOFTPMU" export -f folded >folded || failed=1
check "folded: the total is report's" [ "$(awk '{ s += $NF } END { print s }' folded)" = "$cycles" ]
"$SOFTPMU" export -f folded -e instructions:u >folded || failed=1
check "folded: the total of another event (-e) is report's" \
	[ "$(awk '{ s += $NF } END { print s }' folded)" = "$instructions" ]
check "folded: a line is comm;outermost;...;innermost COUNT" grep -q '^work;_start;.*;main;hot;mix [0-9]*$' folded
check "folded: the count of one function is report's" \
	[ "$(awk '/;mix [0-9]*$/ { s += $NF } END { print s }' folded)" = "$(mix instructions:u)" ]

# speedscope
"$SOFTPMU" export -f speedscope || failed=1
check "speedscope: one profile per event" [ "$(jq -c '[.profiles[].name]' profile.speedscope.json)" = \
	'["cycles:u","instructions:u"]' ]
check "speedscope: the weights add up to report's totals" \
	[ "$(jq -c '[.profiles[] | (.weights | add)]' profile.speedscope.json)" = \
	"[$cycles,$instructions]" ]
check "speedscope: endValue is report's total" \
	[ "$(jq -c '[.profiles[].endValue]' profile.speedscope.json)" = "[$cycles,$instructions]" ]
check "speedscope: each weight has a stack of existing frames" jq -e '(.shared.frames | length) as $n |
	all(.profiles[]; (.samples | length) == (.weights | length) and
		all(.samples[][]; . >= 0 and . < $n))' profile.speedscope.json

# pprof
"$SOFTPMU" export -f pprof || failed=1
check "pprof: the file is gzip" gzip -t profile.pb.gz
"$SOFTPMU" export -f pprof -o again.pb.gz &&
	check "pprof: a second export has the same bytes" cmp -s profile.pb.gz again.pb.gz
if command -v go >/dev/null 2>&1; then
	for event in cycles:u instructions:u; do
		go tool pprof -top -sample_index=$event profile.pb.gz >top 2>err
		check "pprof: the total of $event is report's" grep -q " of $(total $event) total" top
		check "pprof: $event of one function are report's" \
			[ "$(awk '$NF == "mix" { print $1 }' top)" = "$(mix $event)" ]
	done
	check "pprof: the program is the main binary" grep -qx 'File: work' top
	go tool pprof -peek '^hot$' -sample_index=cycles:u profile.pb.gz >peek 2>err
	check "pprof: -peek shows the callees" grep -q '|   mix$' peek
	go tool pprof -list '^mix$' -source_path="$TOP" -sample_index=cycles:u profile.pb.gz >list 2>err
	check "pprof: -list shows source lines" grep -q 'x ^= x << 13;' list
else
	echo "go is not installed (package golang-go): the pprof format is not tested"
fi

# Errors.
"$SOFTPMU" export 2>err && failed=1
check "export without a format is refused" grep -q 'no format was given' err
"$SOFTPMU" export -f nothing 2>err && failed=1
check "an unknown format is refused with the known ones" grep -q 'callgrind, firefox, folded, pprof or speedscope' err
"$SOFTPMU" export -f folded -e nothing 2>err && failed=1
check "an event that is not in the file is refused" grep -q "no such event; the first is cycles:u" err
"$SOFTPMU" export -f pprof -o /dev/full 2>err &&
	failed=1;	check "a full disk is reported" grep -q 'cannot write /dev/full' err
"$SOFTPMU" export -f folded -i nowhere 2>err &&
	failed=1;	check "a missing input file is reported" grep -q 'cannot open nowhere' err
exit $failed
