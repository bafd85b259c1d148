#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# softpmu tune: a prefetcher that hurts one program is switched off, and stays on for another that it helps; for a third
# program a small cache is best by energy. For four programs the search chooses what an exhaustive search chooses, in at
# most a fifth of the runs. The number of parallel replays does not change the output. An interrupted search can be
# continued. Features that cannot gain are not run, and they are listed. Refusals.
. "$TOP/tests/lib.sh"
SOFTPMU_STORE=$work/store TMPDIR=$work
export SOFTPMU_STORE TMPDIR
tune=$PROGRAMS/tune
# field FILE NAME: prints the value in the last line that has it
field() { sed -n "s/.*\"$2\": \"\{0,1\}\([^\",}]*\(,[a-z0-9_.]*=[^\",}]*\)*\)[\",}].*/\1/p" "$1" | tail -n 1; }
search() { # NAME PROGRAM... -- OPTION...: writes the JSON to NAME.json
	to=$1 program=
	shift
	while [ "$1" != -- ]; do program="$program $1"; shift; done
	shift
	# shellcheck disable=SC2086
	"$SOFTPMU" tune --core skylake --start measured --stop finished --threshold 3 --features "$features" \
		-j -o "$to.json" "$@" -- "$tune" $program 2>"$to.err" || { cat "$to.err"; return 1; }
}
features=prefetch.l2_streamer,prefetch.l2_adjacent,prefetch.l1d_ip,l3.size

# The pruned search makes the same choice as the exhaustive one in at most a fifth of the runs.
beside() { # NAME EXPECTED PROGRAM... -- OPTION...
	name=$1 wanted=$2
	shift 2
	check "$name: the search runs" search "$name" "$@" --state "$name.state" --profile="$name" || return
	runs=$(($(field "$name.json" ran) + $(field "$name.json" known)))
	choice=$(field "$name.json" choice)
	check "$name: the search chooses '$choice'" [ "$choice" = "$wanted" ]
	check "$name: the exhaustive search runs" \
		search "$name-all" "$@" --state "$name.state" --exhaustive 48 --no-profile ||
		return
	all=$(($(field "$name-all.json" ran) + $(field "$name-all.json" known)))
	check "$name: the exhaustive search tries all 48 configurations ($all)" [ "$all" = 48 ]
	check "$name: the exhaustive search makes the same choice" [ "$(field "$name-all.json" choice)" = "$choice" ]
	check "$name: the search takes at most a fifth of the runs ($runs)" [ $((5 * runs)) -le 48 ]
}
# The streamer costs this program 3 to 7 %, too, depending on where its pages lie: here a gain of 10 % counts.
beside hurts prefetch.l2_adjacent=off hurts 2 -- --objective cycles --threshold 10
beside helps "" helps 1 -- --objective cycles
beside small l3.size=off small 60 -- --objective energy
beside branches l3.size=off branches 20 -- --objective edp

# The choices are kept and applied again, with the promised cycles: to one program, another, and the first again.
promised() { # NAME PROGRAM...
	name=$1
	shift
	"$SOFTPMU" stat --core skylake --profile="$name" --start measured --stop finished -e cycles -x, -o now -- \
		"$tune" "$@" 2>said
	check "$name: stat applies the profile and says so" grep -q "profile of tune for skylake, $name applied" said
	check "$name: the run has the promised $(field "$name.json" cycles) cycles" \
		[ "$(cut -d, -f1 now)" = "$(field "$name.json" cycles)" ]
}
promised hurts hurts 2
promised small small 60
promised hurts hurts 2

# Features that cannot gain are not run but listed: prefetchers if almost nothing misses, cache sizes if only time
# counts.
for f in prefetch.l2_streamer prefetch.l2_adjacent prefetch.l1d_ip; do
	check "small: $f is listed as not run" grep -q "\"feature\": \"$f\".*\"run\": false" small.json
done
check "hurts: l3.size is listed as not run" grep -q '"feature": "l3.size".*"run": false' hurts.json
check "hurts: prefetch.l2_adjacent is run" grep -q '"feature": "prefetch.l2_adjacent".*"run": true' hurts.json
"$SOFTPMU" tune --core skylake --start measured --stop finished --features l3.size --state text.state -o text -- \
	"$tune" small 20
check "the table lists what was not run" grep -q 'Not run.*l3\.size' text

# One replay at a time, or four at a time: the same output.
features='prefetch.*'
check "a search with --jobs 1 runs" search one hurts 2 -- --jobs 1 --state one.state
check "a search with --jobs 4 runs" search four hurts 2 -- --jobs 4 --state four.state
check "--jobs does not change the output" cmp one.json four.json

# A search that is interrupted (here one that would take long): the next search reuses its measurements and prints the
# same figures as a search from the start.
check "a search from the start runs" search whole hurts 2 -- --state whole.state --exhaustive 100
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
check "an interrupted search has kept at least three measurements" some
printf 'half a li' >>broken.state
check "a search continues from the kept measurements" search resumed hurts 2 -- --state broken.state --exhaustive 100
check "a continued search reuses the measurements" [ "$(field resumed.json known)" -ge 3 ]
sed 's/, "ran": [0-9]*, "known": [0-9]*//' whole.json >a
sed 's/, "ran": [0-9]*, "known": [0-9]*//' resumed.json >b
check "a continued search prints the same figures" cmp a b
check "a search for another machine runs with the same state file" \
	"$SOFTPMU" tune --core skylake --set l2.latency=13 --start measured \
	--stop finished --features prefetch.l1d_ip --no-prune \
	--state broken.state -j -o other.json -- "$tune" hurts 2
check "a search for another machine reuses no measurements" [ "$(field other.json known)" = 0 ]

# Refused in one line.
refused() { # WHAT PATTERN OPTION...
	what=$1 says=$2
	shift 2
	"$SOFTPMU" tune --core skylake "$@" -- "$tune" small 1 >/dev/null 2>err
	code=$?
	check "refused: $what" [ "$code" = 2 ] && check "refused with a reason: $what" grep -q -- "$says" err &&
		check "refused in one line: $what" [ "$(wc -l <err)" = 1 ]
}
refused "an unknown objective" "cycles, energy, edp" --objective speed
refused "an unknown feature" "has no 'l9.size'" --features l9.size
refused "a threshold that is no percentage" "percentage" --threshold much
refused "--jobs 0" "from 1 to 256" --jobs 0
refused "--all with --native" "of its own" --all --native
"$SOFTPMU" tune --core skylake --features '*' --exhaustive 1000 --state many.state -- "$tune" small 1 >/dev/null 2>err
check "refused: more configurations than --exhaustive allows" grep -q 'more than 1000' err
exit $failed
