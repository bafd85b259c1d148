#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# tune --software --sample: the first advice is that of full detail, with the same gain; two runs print the same.  A
# program of more than 20 million instructions is sampled without being asked for, and so is it by cost; --detail times
# all of it.
. "$TOP/tests/lib.sh"
bare_stream s tosses >out
advice() {	# OUT OPTION...
	out=$1; shift
	"$SOFTPMU" tune --software --no-wrong-path -o "$out" "$@" 2>"$out.err" || failed=1
}
advice full --replay s -j
advice sampled --replay s -j --sample
advice again --replay s -j --sample
same_files "two sampled runs print the same" sampled again
# the line of the branch whose direction is random: its gain is by a replay
field() {	# OUT NAME: its function, and the value of that name
	sed -n 's/.*"advice":"random-branch","function":"\([^"]*\)".*"'"$2"'":\([0-9.]*\).*/\1 \2/p' "$1" | head -n 1
}
same "the same place" "$(field sampled share | cut -d' ' -f1)" "$(field full share | cut -d' ' -f1)"
share=$(field full share | cut -d' ' -f2)
within "its gain" "$(field sampled share | cut -d' ' -f2)" "$share" 15
near "full detail lies in the range" "$share" "$(field sampled low | cut -d' ' -f2)" \
	"$(field sampled high | cut -d' ' -f2)"
advice table --replay s --sample
has "it says what the evidence is from" "the evidence is from [0-9]* windows, which have [0-9.]* %" table
hasnt "full detail says nothing" windows full.err
refuse "--sample with --detail" "exclude each other" "$SOFTPMU" tune --software --sample --detail --replay s
refuse "--sample with --build" "not with --build" \
	"$SOFTPMU" tune --software --sample --build 'gcc {flags} -o {out} a.c' -- ./a

loop='BEGIN { for (i = 0; i < 250000; i++) n += i % 7 }'
advice live /usr/bin/awk "$loop"
has "a long live program is sampled, and says so" "million instructions): it is sampled" live.err
has "the advice says so, too" "the evidence is from [0-9]* windows" live
bare_stream long /usr/bin/awk "$loop"
"$SOFTPMU" cost -e mispredict --no-wrong-path --replay long -o cost 2>err
has "so does cost" "million instructions): it is sampled" err
has "and it estimates" "Estimated from [0-9]* windows" cost
"$SOFTPMU" cost -e mispredict --no-wrong-path --no-total --detail --replay long -o cost 2>err
hasnt "but not with --detail" Estimated cost
same "which says nothing" "$(cat err)" ""
# Told to end in its first run, it makes no replay, and what it says is from the windows until then.
"$SOFTPMU" tune --software --replay long -o ended 2>err &
pid=$!
sleep 2
kill -TERM $pid
wait $pid
case $? in 0 | 1) ok "ended in its first run" ;; *) bad "ended in its first run" err ;; esac
exit $failed
