#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# softpmu tune: the prefetcher that hurts one program is switched off, and left on for another that it helps; a
# third needs a small cache only, by its energy; the search chooses what trying everything chooses, in a fifth
# of the runs, for four programs; as many replays at a time as there may be, the same output; an interrupted
# search goes on; features that cannot gain are never run and named; what makes no sense is refused.
. "$TOP/tests/lib.sh"
SOFTPMU_STORE=$work/store TMPDIR=$work
export SOFTPMU_STORE TMPDIR
tune=$PROGRAMS/tune
# FILE NAME: of the last line that has it
field() { sed -n "s/.*\"$2\": \"\{0,1\}\([^\",}]*\(,[a-z0-9_.]*=[^\",}]*\)*\)[\",}].*/\1/p" "$1" | tail -n 1; }
search() { # NAME program... -- options...: JSON into NAME.json
	to=$1 program=
	shift
	while [ "$1" != -- ]; do program="$program $1"; shift; done
	shift
	# shellcheck disable=SC2086
	"$SOFTPMU" tune --core skylake --start measured --stop finished --threshold 3 --features "$features" \
		-j -o "$to.json" "$@" -- "$tune" $program 2>"$to.err" || { cat "$to.err"; return 1; }
}
features=prefetch.l2_streamer,prefetch.l2_adjacent,prefetch.l1d_ip,l3.size

# Pruned beside exhaustive: the same choice in at most a fifth of the runs.
beside() { # NAME WANTED program... -- options...
	name=$1 wanted=$2
	shift 2
	check "$name: searched" search "$name" "$@" --state "$name.state" --profile="$name" || return
	runs=$(($(field "$name.json" ran) + $(field "$name.json" known)))
	choice=$(field "$name.json" choice)
	check "$name: chooses '$choice'" [ "$choice" = "$wanted" ]
	check "$name: all configurations" search "$name-all" "$@" --state "$name.state" --exhaustive 48 --no-profile ||
		return
	all=$(($(field "$name-all.json" ran) + $(field "$name-all.json" known)))
	check "$name: all 48 were tried ($all)" [ "$all" = 48 ]
	check "$name: the best of all is the choice" [ "$(field "$name-all.json" choice)" = "$choice" ]
	check "$name: in at most a fifth of the runs ($runs)" [ $((5 * runs)) -le 48 ]
}
beside hurts prefetch.l2_adjacent=off hurts 2 -- --objective cycles
beside helps "" helps 1 -- --objective cycles
beside small l3.size=off small 60 -- --objective energy
beside branches l3.size=off branches 20 -- --objective edp

# Kept, and applied again with the figures promised: one program, another, the first again.
promised() { # NAME program...
	name=$1
	shift
	"$SOFTPMU" stat --core skylake --profile="$name" --start measured --stop finished -e cycles -x, -o now -- \
		"$tune" "$@" 2>said
	check "$name: its profile is applied, and said so" grep -q "profile of tune for skylake, $name applied" said
	check "$name: $(field "$name.json" cycles) cycles, as promised" \
		[ "$(cut -d, -f1 now)" = "$(field "$name.json" cycles)" ]
}
promised hurts hurts 2
promised small small 60
promised hurts hurts 2

# What cannot gain is not run, and named: prefetchers where next to nothing misses, a size where only time counts.
for f in prefetch.l2_streamer prefetch.l2_adjacent prefetch.l1d_ip; do
	check "small: $f never ran" grep -q "\"feature\": \"$f\".*\"run\": false" small.json
done
check "hurts: a smaller cache saves no time" grep -q '"feature": "l3.size".*"run": false' hurts.json
check "hurts: its prefetcher ran" grep -q '"feature": "prefetch.l2_adjacent".*"run": true' hurts.json
"$SOFTPMU" tune --core skylake --start measured --stop finished --features l3.size --state text.state -o text -- \
	"$tune" small 20
check "the table names what never ran" grep -q 'Not run.*l3\.size' text

# One replay at a time, or four: the same search.
features='prefetch.*'
check "one replay at a time" search one hurts 2 -- --jobs 1 --state one.state
check "four at a time" search four hurts 2 -- --jobs 4 --state four.state
check "the same output" cmp one.json four.json

# A search that is broken off, here one that would take long: what was measured is known to the next, whose
# choice is that of one that began anew.
check "whole" search whole hurts 2 -- --state whole.state --exhaustive 100
: >broken.state
"$SOFTPMU" tune --core skylake --start measured --stop finished --features 'prefetch.*,eliminate.*,fusion.*' \
	--state broken.state --exhaustive 1000 --jobs 1 \
	-- "$tune" hurts 2 2>said &
job=$!
some() { [ "$(wc -l <broken.state)" -ge 3 ]; }
wait_until some
kill -TERM $job
wait $job
check "an interrupted search says what is kept" grep -q 'interrupted; .* kept in broken.state' said
check "broken off after some" some
printf 'half a li' >>broken.state
check "goes on" search resumed hurts 2 -- --state broken.state --exhaustive 100
check "what was known is not run again" [ "$(field resumed.json known)" -ge 3 ]
sed 's/, "ran": [0-9]*, "known": [0-9]*//' whole.json >a
sed 's/, "ran": [0-9]*, "known": [0-9]*//' resumed.json >b
check "with the same figures" cmp a b
check "another machine knows nothing of it" "$SOFTPMU" tune --core skylake --set l2.latency=13 --start measured \
	--stop finished --features prefetch.l1d_ip --no-prune \
	--state broken.state -j -o other.json -- "$tune" hurts 2
check "so it is run" [ "$(field other.json known)" = 0 ]

# Refused, in one line.
refused() { # WHAT THE-LINE-SAYS options...
	what=$1 says=$2
	shift 2
	"$SOFTPMU" tune --core skylake "$@" -- "$tune" small 1 >/dev/null 2>err
	code=$?
	check "refused: $what" [ "$code" = 2 ] && check "  by name" grep -q -- "$says" err &&
		check "  in one line" [ "$(wc -l <err)" = 1 ]
}
refused "an objective" "cycles, energy, edp" --objective speed
refused "a feature that is not there" "has no 'l9.size'" --features l9.size
refused "a threshold" "percentage" --threshold much
refused "no jobs" "from 1 to 256" --jobs 0
refused "another search" "of its own" --all --native
"$SOFTPMU" tune --core skylake --features '*' --exhaustive 1000 --state many.state -- "$tune" small 1 >/dev/null 2>err
check "refused: more configurations than asked for" grep -q 'more than 1000' err
exit $failed
