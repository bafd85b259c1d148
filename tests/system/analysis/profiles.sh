#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Settings that were kept for a program are applied to it, and to no other, whenever it runs: A, B, A; and
# nobody is disturbed by a store that is not there or is damaged. Runs are compared on streams that were kept,
# so that they are of the same instructions.
. "$TOP/tests/lib.sh"
export SOFTPMU_STORE="$work/store" SOURCE_DATE_EPOCH=86400
a=$PROGRAMS/chase b=$PROGRAMS/stream
cp "$a" no-id && objcopy --remove-section=.note.gnu.build-id no-id 2>/dev/null
"$SOFTPMU" trace -q -o a.trace -- "$a" 256 64 random 20000 >/dev/null && "$SOFTPMU" trace -q -o b.trace -- "$b" read \
	256 2 >/dev/null &&
	"$SOFTPMU" trace -q -o c.trace -- ./no-id 16 64 linear 1 >/dev/null || exit 1
cycles() { "$SOFTPMU" stat -x, -e cycles -o counts "$@" 2>said && cut -d, -f1 <counts; }
applied() { grep -c "^softpmu: profile of" said; }

plain_a=$(cycles --replay a.trace)
plain_b=$(cycles --replay b.trace)
check "without a store nothing is said and none is made" [ "$(applied)$(ls -A "$work/store" 2>/dev/null)" = 0 ]
"$SOFTPMU" tune list >out 2>&1
check "list of nothing" grep -qx "no profile is kept; softpmu tune makes them" out
check "which makes none either" [ ! -e "$work/store" ]

"$SOFTPMU" tune apply --feature l1d.size=1/4,l2.size=1/8,rob.size=1/4 "$a" >/dev/null || exit 1
"$SOFTPMU" tune apply --feature prefetch.l2_streamer=off,l1d.size=1/8,rob.size=1/8 "$b" >/dev/null || exit 1
a1=$(cycles --replay a.trace); a1_said=$(cat said)
b1=$(cycles --replay b.trace); b1_said=$(cat said)
a2=$(cycles --replay a.trace); a2_said=$(cat said)
b2=$(cycles --replay b.trace)
echo "cycles of A $plain_a, with its profile $a1, $a2; of B $plain_b, $b1, $b2"
check "A runs otherwise with its profile" [ "$a1" != "$plain_a" ]
check "B runs otherwise with its profile" [ "$b1" != "$plain_b" ]
check "A, B, A, B: each has its own again" [ "$a1 $b1 $a1_said" = "$a2 $b2 $a2_said" ]
check "what was applied is said" \
	[ "$a1_said" = "softpmu: profile of chase for golden-cove applied (by hand, 1970-01-02): \
l1d.size=1/4,l2.size=1/8,rob.size=1/4; --no-profile runs without it" ]
check "of B, too" [ "$b1_said" != "$a1_said" ]
check "--no-profile: as if there were none" [ "$(cycles --no-profile --replay a.trace) $(applied)" = "$plain_a 0" ]
check "another core has none" [ "$(cycles --core skylake --replay a.trace >/dev/null; applied)" = 0 ]
check "nor has a core changed by --set, which is said" [ "$(cycles --set rob.size=256 --replay a.trace \
	>/dev/null; applied; grep -c "without --set: not applied" said)" = "0
1" ]
check "--profile applies it there, too" [ "$(cycles --profile --set rob.size=256 --replay a.trace \
	>/dev/null; applied)" = 1 ]
check "--profile of which there is none is an error" [ "$(cycles --profile=small --replay a.trace; cat said)" = \
	"softpmu: no profile small of this program for core 'golden-cove' (softpmu tune list)" ]
for c in "stat -e cycles" "record -q -o x.data" run; do
	# shellcheck disable=SC2086
	"$SOFTPMU" $c -- "$a" 16 64 linear 1 >/dev/null 2>said
	check "$c of a live program applies it and says so" [ "$(applied)" = 1 ]
done
"$SOFTPMU" run --replay a.trace 2>said
check "run: a line and the cycles" \
	[ "$(sed -n '$s/^\[ softpmu run: [0-9]* instructions in \([0-9]*\) cycles of golden-cove.*/\1/p' said) $(wc \
	-l <said)" = "$a1 2" ]
"$SOFTPMU" topdown --replay a.trace >/dev/null 2>said
check "topdown does not by itself" [ "$(applied)" = 0 ]
"$SOFTPMU" topdown --profile --replay a.trace >/dev/null 2>said
check "but with --profile" [ "$(applied)" = 1 ]

"$SOFTPMU" tune apply --feature rob.size=1/2 --name small "$a" >/dev/null
small=$(cycles --replay a.trace)
check "what was kept last is active" [ "$small" != "$a1" ]
"$SOFTPMU" tune apply "$a" >/dev/null
check "apply: the other one is" [ "$(cycles --replay a.trace)" = "$a1" ]
check "by its name it still is there" [ "$(cycles --profile=small --replay a.trace)" = "$small" ]
"$SOFTPMU" tune apply --off "$a" >/dev/null
check "apply --off: none is" [ "$(cycles --replay a.trace) $(cycles --replay b.trace)" = "$plain_a $b1" ]
"$SOFTPMU" tune apply --feature rob.size=1/4 ./no-id >/dev/null
check "a program without a build-id is known by a hash" [ "$("$SOFTPMU" tune show ./no-id |
	grep -c "fnv1a:[0-9a-f]* (it has no build-id")" = 1 ]
check "and its stream by the file's" [ "$(cycles --replay c.trace >/dev/null; applied)" = 1 ]
check "list: four of them, two active" [ "$("$SOFTPMU" tune list -j | wc -l) $("$SOFTPMU" tune list | grep -c '^\*')" \
	= "4 2" ]
"$SOFTPMU" tune apply --to ./no-id --name small "$a" >/dev/null 2>&1
check "apply --to: another program's" [ "$("$SOFTPMU" tune show ./no-id | grep -c rob.size=1/2)" = 1 ]
check "forget: those of a program" [ "$("$SOFTPMU" tune forget "$a")" = "2 profiles forgotten" ]
check "they are gone" [ "$(cycles --replay a.trace) $("$SOFTPMU" tune show "$a" 2>&1)" \
	= "$plain_a softpmu: no such profile (softpmu tune list)" ]
check "the others' are not" [ "$(cycles --replay b.trace)" = "$b1" ]

# what searches have measured lies beside the store
searched() { "$SOFTPMU" tune --features prefetch.l2_streamer --no-profile -o /dev/null "$@" >/dev/null; }
files() { ls "$work/store" | grep -c '^tune-.*tsv$'; }
searched -- "$a" 16 64 linear 1
searched --core skylake -- "$a" 16 64 linear 1
searched --replay c.trace
check "a file a search" [ "$(files)" = 3 ]
"$SOFTPMU" tune forget --core skylake "$a" >out
check "forget: of a core" [ "$(cat out) $(files)" = "what 1 search measured: forgotten 2" ]
"$SOFTPMU" tune forget --name small ./no-id >out
check "a name's profile has none" [ "$(cat out) $(files)" = "1 profile forgotten 2" ]
"$SOFTPMU" tune forget "$a" >out
check "forget: of a program" [ "$(cat out) $(files)" = "what 1 search measured: forgotten 1" ]
touch "$work/store/tune-0123456789abcdef.tsv" "$work/store/tune-mine.tsv"
"$SOFTPMU" tune forget ./no-id >out
check "with its profile, and a stream's program is known" \
	[ "$(tr '\n' ' ' <out)$(files)" = "1 profile forgotten what 1 search measured: forgotten 2" ]
"$SOFTPMU" tune forget --all >out
check "--all: whose nobody knows, too, and no other file" [ "$(tr '\n' ' ' <out)$(ls "$work/store" | tr '\n' ' ')" = \
	"1 profile forgotten what 1 search measured: forgotten profiles.db tune-mine.tsv " ]
"$SOFTPMU" tune forget "$a" >out 2>said
check "nothing is left to forget" [ "$? $(cat out said)" = "1 softpmu: no such profile (softpmu tune list)" ]

"$SOFTPMU" tune apply --feature l1d.size=1/4,l2.size=1/8,rob.size=1/4 "$a" >/dev/null
i=0
while [ $i -lt 8 ]; do	# a command each, at once
	"$SOFTPMU" tune apply --feature rob.size=1/2 --name "n$i" "$a" >/dev/null 2>"err$i" &
	i=$((i + 1))
done
wait
check "eight writers at once: all are kept" [ "$("$SOFTPMU" tune list -j "$a" | wc -l)$(cat err?)" = 9 ]

printf 'no database, but more than a few bytes of something else, so that it is not taken for an empty one\n' \
	>"$work/store/profiles.db"
check "a damaged store: a line, and the counts without it" \
	[ "$(cycles --replay a.trace; wc -l <said; grep -c "no profile is applied" said)" = "$plain_a
1
1" ]
"$SOFTPMU" tune list >out 2>said
check "list says what is wrong in a line" [ "$(wc -l <said) $(wc -c <out)" = "1 0" ]
check "and keeping one overwrites nothing" [ "$("$SOFTPMU" tune apply --feature rob.size=1/2 "$a" 2>&1 |
	wc -l) $(head -c 2 "$work/store/profiles.db")" = "1 no" ]
exit $failed
