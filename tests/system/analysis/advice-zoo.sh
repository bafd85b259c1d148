#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Advice on programs of the zoo (tests/programs/zoo), which have one known bottleneck each: the slow one gets the rule
# that zoo.tsv expects, at the marked line, with a gain, a range and a way to check it; the mended one does not get this
# rule there.  Where there is nothing, nothing is said.  cost has total times for locks and divides, and they are what
# the mended programs gain.
. "$TOP/tests/lib.sh"
zoo=$TOP/tests/programs/zoo
tab=$(printf '\t')
record() {	# NAME slow|mended OPTION...: a stream without surroundings
	name=$1 half=$2; shift 2
	ln -sf "$PROGRAMS/zoo_$name" "zoo_$name"
	env -i "$SOFTPMU" trace -q "$@" -o "$name.$half" "./zoo_$name" "$half" >/dev/null 2>err ||
		bad "$name: trace" err
}
advise() {	# NAME slow|mended RULE OPTION...: writes the advice of the rule to found
	name=$1 half=$2 rule=$3; shift 3
	"$SOFTPMU" tune --software -j "$@" -o out --replay "$name.$half" 2>err || bad "$name: tune" err
	grep "^{\"advice\":\"$rule\"" out >found
	return 0
}
both() {	# NAME RULE [--assists]
	name=$1 rule=$2 assists=${3:-}
	options=$(awk -F "$tab" -v n="$name" '$1 == n { gsub("--assists", "", $2); print $2 }' "$zoo/zoo.tsv")
	here=$(awk '/\/\* HERE \*\// { print NR; exit }' "$zoo/zoo_$name.c")
	for half in slow mended; do
		# shellcheck disable=SC2086
		record "$name" "$half" $assists
	done
	# shellcheck disable=SC2086
	advise "$name" slow "$rule" $options $assists
	has "$name: $rule, at the marked line" "\"line\":$here," found
	has "$name: with its range and a check" '"low":[0-9.]*,"high":[0-9.]*,"sure":".*"check":"softpmu' found
	# shellcheck disable=SC2086
	advise "$name" mended "$rule" $options $assists
	check "$name: the mended one gets no $rule" [ ! -s found ] || cat found
}
cd "$work" || exit 1
both chain chain
both port port
both fence fence
both denormal denormal --assists
both short_copy string
both partial_register partial-register
both sse_avx sse-avx
both store_passed store-passed
both tlb_reach huge-pages
both share_store false-sharing
both store_miss split-structure
# A rule about functions: there is no line.
record unknown_branches slow
advise unknown_branches slow code-layout
has "unknown_branches: code-layout, in the function" '"function":"slow".*"share":0\.[78].*frontend.resteer=0' found
# A short function that allocates for others, and code that is inlined from a header of the system.
cc -g -O2 -o wraps "$TOP/tests/programs/wraps.c" || bad "wraps: cc" /dev/null
env -i "$SOFTPMU" tune --software -j -o out -- ./wraps 2>err || bad "wraps: tune" err
has "allocations: those who call the wrapper" '"advice":"allocation","function":"make"' out
hasnt "allocations: the wrapper is not named" '"advice":"allocation","function":"get_memory"' out
record nothing slow
"$SOFTPMU" tune --software -j -o out --replay nothing.slow 2>err || bad "nothing: tune" err
check "nothing is said where there is nothing" [ ! -s out ] || cat out

worth() {	# NAME EVENT: share of the cycles by total time
	"$SOFTPMU" cost -x, -e "$2" -o out --replay "$1.slow" 2>err || bad "$1: cost" err
	awk -F, -v e="$2" '$1 == e { print 100 * $12 }' out
}
record lock_alone slow
record divide slow
record share_rmw slow
near "what locked operations cost, per cent" "$(worth lock_alone lock)" 75 95
near "what divides cost, per cent" "$(worth divide divide)" 45 70
record share_rmw mended
cycles() { "$SOFTPMU" stat -x, -e cycles --replay "$1" 2>&1 | cut -d, -f1; }
# How often the line changes hands depends on when the second thread starts, so what is gained is measured.
gain=$(awk -v a="$(cycles share_rmw.slow)" -v b="$(cycles share_rmw.mended)" 'BEGIN { print 100 * (1 - b / a) }')
near "what the mended program gains, per cent" "$gain" 75 99
near "what lines of another core cost, in points beside that" \
	"$(awk -v a="$(worth share_rmw other_core)" -v b="$gain" 'BEGIN { print a - b }')" -6 6
exit $failed
