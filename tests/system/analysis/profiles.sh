#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Profiles: settings kept for a program are applied to this program, and no other, in each later run (A, B, A, B). A
# missing or damaged store does not disturb a run. Saved streams are compared, so that the instructions are the same.
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
check "without a store, a run prints nothing about profiles and makes no store" \
	[ "$(applied)$(ls -A "$work/store" 2>/dev/null)" = 0 ]
"$SOFTPMU" tune list >out 2>&1
check "tune list without a store says that no profile is kept" \
	grep -qx "no profile is kept; softpmu tune makes them" out
check "tune list makes no store" [ ! -e "$work/store" ]

"$SOFTPMU" tune apply --feature l1d.size=1/4,l2.size=1/8,rob.size=1/4 "$a" >/dev/null || exit 1
"$SOFTPMU" tune apply --feature prefetch.l2_streamer=off,l1d.size=1/8,rob.size=1/8 "$b" >/dev/null || exit 1
a1=$(cycles --replay a.trace); a1_said=$(cat said)
b1=$(cycles --replay b.trace); b1_said=$(cat said)
a2=$(cycles --replay a.trace); a2_said=$(cat said)
b2=$(cycles --replay b.trace)
echo "cycles of A $plain_a, with its profile $a1, $a2; of B $plain_b, $b1, $b2"
check "A's profile changes its cycles" [ "$a1" != "$plain_a" ]
check "B's profile changes its cycles" [ "$b1" != "$plain_b" ]
check "A, B, A, B: each run has its own profile" [ "$a1 $b1 $a1_said" = "$a2 $b2 $a2_said" ]
check "a run names the profile and settings that it applies" \
	[ "$a1_said" = "softpmu: profile of chase for golden-cove applied (by hand, 1970-01-02): \
l1d.size=1/4,l2.size=1/8,rob.size=1/4; --no-profile runs without it" ]
check "a run of B names B's profile" [ "$b1_said" != "$a1_said" ]
check "--no-profile runs without the profile" [ "$(cycles --no-profile --replay a.trace) $(applied)" = "$plain_a 0" ]
check "another core does not use the profile" [ "$(cycles --core skylake --replay a.trace >/dev/null; applied)" = 0 ]
check "with --set the profile is not applied, and the run says so" [ "$(cycles --set rob.size=256 --replay a.trace \
	>/dev/null; applied; grep -c "without --set: not applied" said)" = "0
1" ]
check "--profile applies the profile despite --set" [ "$(cycles --profile --set rob.size=256 --replay a.trace \
	>/dev/null; applied)" = 1 ]
check "--profile with an unknown name is an error" [ "$(cycles --profile=small --replay a.trace; cat said)" = \
	"softpmu: no profile small of this program for core 'golden-cove' (softpmu tune list)" ]
for c in "stat -e cycles" "record -q -o x.data" run; do
	# shellcheck disable=SC2086
	"$SOFTPMU" $c -- "$a" 16 64 linear 1 >/dev/null 2>said
	check "$c of a live program applies it and says so" [ "$(applied)" = 1 ]
done
"$SOFTPMU" run --replay a.trace 2>said
check "run prints the profile and a line with the cycles" \
	[ "$(sed -n '$s/^\[ softpmu run: [0-9]* instructions in \([0-9]*\) cycles of golden-cove.*/\1/p' said) $(wc \
	-l <said)" = "$a1 2" ]
"$SOFTPMU" topdown --replay a.trace >/dev/null 2>said
check "topdown does not apply the profile by default" [ "$(applied)" = 0 ]
"$SOFTPMU" topdown --profile --replay a.trace >/dev/null 2>said
check "topdown --profile applies the profile" [ "$(applied)" = 1 ]

"$SOFTPMU" tune apply --feature rob.size=1/2 --name small "$a" >/dev/null
small=$(cycles --replay a.trace)
check "the profile that was kept last is active" [ "$small" != "$a1" ]
"$SOFTPMU" tune apply "$a" >/dev/null
check "tune apply without settings activates the profile without a name" [ "$(cycles --replay a.trace)" = "$a1" ]
check "the other profile can be chosen by its name" [ "$(cycles --profile=small --replay a.trace)" = "$small" ]
"$SOFTPMU" tune apply --off "$a" >/dev/null
check "tune apply --off deactivates A's profiles only" \
	[ "$(cycles --replay a.trace) $(cycles --replay b.trace)" = "$plain_a $b1" ]
"$SOFTPMU" tune apply --feature rob.size=1/4 ./no-id >/dev/null
check "a program without a build-id is identified by a hash" [ "$("$SOFTPMU" tune show ./no-id |
	grep -c "fnv1a:[0-9a-f]* (it has no build-id")" = 1 ]
check "a stream of this program is identified by the file's hash" \
	[ "$(cycles --replay c.trace >/dev/null; applied)" = 1 ]
check "tune list shows four profiles, two of them active" \
	[ "$("$SOFTPMU" tune list -j | wc -l) $("$SOFTPMU" tune list | grep -c '^\*')" \
	= "4 2" ]
"$SOFTPMU" tune apply --to ./no-id --name small "$a" >/dev/null 2>&1
check "tune apply --to copies a profile to another program" \
	[ "$("$SOFTPMU" tune show ./no-id | grep -c rob.size=1/2)" = 1 ]
check "tune forget removes the profiles of a program" [ "$("$SOFTPMU" tune forget "$a")" = "2 profiles forgotten" ]
check "forgotten profiles are not applied and not shown" \
	[ "$(cycles --replay a.trace) $("$SOFTPMU" tune show "$a" 2>&1)" \
	= "$plain_a softpmu: no such profile (softpmu tune list)" ]
check "profiles of other programs remain" [ "$(cycles --replay b.trace)" = "$b1" ]

# The measurements of searches are files beside the store.
searched() { "$SOFTPMU" tune --features prefetch.l2_streamer --no-profile -o /dev/null "$@" >/dev/null; }
files() { ls "$work/store" | grep -c '^tune-.*tsv$'; }
searched -- "$a" 16 64 linear 1
searched --core skylake -- "$a" 16 64 linear 1
searched --replay c.trace
check "each search has a file of its own" [ "$(files)" = 3 ]
"$SOFTPMU" tune forget --core skylake "$a" >out
check "tune forget --core removes the search of this core" \
	[ "$(cat out) $(files)" = "what 1 search measured: forgotten 2" ]
"$SOFTPMU" tune forget --name small ./no-id >out
check "tune forget --name removes the profile but no search" [ "$(cat out) $(files)" = "1 profile forgotten 2" ]
"$SOFTPMU" tune forget "$a" >out
check "tune forget PROGRAM removes the program's search" \
	[ "$(cat out) $(files)" = "what 1 search measured: forgotten 1" ]
touch "$work/store/tune-0123456789abcdef.tsv" "$work/store/tune-mine.tsv"
"$SOFTPMU" tune forget ./no-id >out
check "tune forget removes profiles and searches, also of a stream's program" \
	[ "$(tr '\n' ' ' <out)$(files)" = "1 profile forgotten what 1 search measured: forgotten 2" ]
"$SOFTPMU" tune forget --all >out
check "tune forget --all removes every search, but no other files" \
	[ "$(tr '\n' ' ' <out)$(ls "$work/store" | tr '\n' ' ')" = \
	"1 profile forgotten what 1 search measured: forgotten profiles.db tune-mine.tsv " ]
"$SOFTPMU" tune forget "$a" >out 2>said
check "tune forget with nothing left is an error" \
	[ "$? $(cat out said)" = "1 softpmu: no such profile (softpmu tune list)" ]

"$SOFTPMU" tune apply --feature l1d.size=1/4,l2.size=1/8,rob.size=1/4 "$a" >/dev/null
i=0
while [ $i -lt 8 ]; do	# eight commands at the same time
	"$SOFTPMU" tune apply --feature rob.size=1/2 --name "n$i" "$a" >/dev/null 2>"err$i" &
	i=$((i + 1))
done
wait
check "eight profiles written at the same time are all kept" \
	[ "$("$SOFTPMU" tune list -j "$a" | wc -l)$(cat err?)" = 9 ]

printf 'no database, but more than a few bytes of something else, so that it is not taken for an empty one\n' \
	>"$work/store/profiles.db"
check "a damaged store: a run warns in one line and has the counts without profile" \
	[ "$(cycles --replay a.trace; wc -l <said; grep -c "no profile is applied" said)" = "$plain_a
1
1" ]
"$SOFTPMU" tune list >out 2>said
check "a damaged store: tune list reports it in one line" [ "$(wc -l <said) $(wc -c <out)" = "1 0" ]
check "a damaged store: tune apply does not overwrite it" [ "$("$SOFTPMU" tune apply --feature rob.size=1/2 "$a" 2>&1 |
	wc -l) $(head -c 2 "$work/store/profiles.db")" = "1 no" ]
exit $failed
