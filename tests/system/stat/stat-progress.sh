#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# The progress line: it is shown only on a terminal and only in runs of more than two seconds, and cleared at the end.
# If the program writes to the same terminal, each progress is a line of its own.
. "$TOP/tests/lib.sh"
command -v script >/dev/null || skip "script (util-linux) is not installed"
script -qec "'$SOFTPMU' stat -e instructions -o counts -- sleep 3.5 >/dev/null" long </dev/null >/dev/null
same "a long run shows instructions, cycles, modelled time and MIPS" \
	"$(tr '\r' '\n' <long | grep -c 'M instructions, .* M cycles, .* s modelled, .* MIPS' |
	sed 's/^[1-9][0-9]*$/some/')" some
same "the line is cleared at the end" "$(tr '\r' '\n' <long | grep -v '^Script' | tr -d '\000' |
	awk 'NF { last = $0 } END { print last }')" "$(printf '\033[K')"
same "of a program that mostly waits it is not said how slow the model is" "$(grep -c 'times as long' long)" 0
script -qec "'$SOFTPMU' trace -o talk.trace -- sh -c 'sleep 2.2; echo words; sleep 0.5'" talked \
	</dev/null >/dev/null
same "the program's output stays apart from the progress" "$(tr -d '\r' <talked | grep -cx words)" 1
same "softpmu trace shows neither cycles nor modelled time" \
	"$(tr -d '\r' <talked | grep -cE '^softpmu: [0-9.]+ M instructions, [0-9]+ s passed, [0-9.]+ MIPS$')" 1
"$SOFTPMU" trace -o loop.trace awk 'BEGIN { for (i = 0; i < 200000; i++) n += i % 7 }' >/dev/null 2>&1
script -qec "'$SOFTPMU' stat --replay loop.trace -e instructions -o counts" replay </dev/null >/dev/null
same "a replay says once how slow the model is" \
	"$(grep -c 'the model takes about [1-9][0-9]* times as long as the modelled machine would' replay)" 1
same "and which share of it was read, which rises" "$(tr '\r' '\n' <replay |
	awk '/%, .* M instructions/ { n++; worse += $1 + 0 < last; last = $1 + 0; much += last > 100 }
		END { print (n > 1) (worse + 0) (much + 0) }')" 100
script -qec "'$SOFTPMU' cost --replay loop.trace --stop 20M >/dev/null" replays </dev/null >/dev/null
same "softpmu cost shows which of its replays is under way" \
	"$(tr '\r' '\n' <replays | grep -cE 'replay(s 1 to [1-9][0-9]*| 1) of [1-9][0-9]*: [0-9]+%' |
	sed 's/^[1-9][0-9]*$/some/')" some
script -qec "'$SOFTPMU' cost --sample=4000,500,500 --replay loop.trace >/dev/null" together </dev/null >/dev/null
same "and how far those are that run together" \
	"$(tr '\r' '\n' <together | grep -cE 'replay(s 1 to [1-9][0-9]*| 1) of [1-9][0-9]*: [0-9]+%' |
	sed 's/^[1-9][0-9]*$/some/')" some
seq 2000000 >input
script -qec "'$SOFTPMU' stat -e instructions --stop 60M -o counts -- gzip -kf input >/dev/null" live </dev/null \
	>/dev/null
same "a live run shows which share of its input was read, which rises" "$(tr '\r' '\n' <live |
	awk '/% of the input, .* M instructions/ { n++; worse += $1 + 0 < last; last = $1 + 0; much += last > 100 }
		END { print (n > 1) (worse + 0) (much + 0) }')" 100
# A busy host can make the short run take more than two seconds: then it is tried again.
for _ in 1 2 3 4 5 6 7 8 9 10; do
	began=$(date +%s%N)
	script -qec "'$SOFTPMU' stat -e instructions -o counts -- '$PROGRAMS/reps'" short </dev/null >/dev/null
	[ $(($(date +%s%N) - began)) -ge 2000000000 ] || break
done
same "a short run shows no progress line" "$(grep -c MIPS short)" 0
"$SOFTPMU" stat -e instructions -o counts -- sleep 2.5 >out 2>err
same "without a terminal no progress line is shown" "$(cat out err)" ""
exit $failed
