#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# A program's own handler of its PMIs (softpmu/client.h, spmu_client_handler): it is entered once for each PMI, behind
# the instruction at which the model takes it, with a whole frame, on its own stack; the interrupted program loses
# nothing; threads have handlers of their own; the same run has the same places.
. "$TOP/tests/lib.sh"
# on CORE PROGRAM ARGUMENT...: prints what the program prints
on() {
	core=$1 program=$2; shift 2
	# shellcheck disable=SC2086
	timeout 120 "$SOFTPMU" stat --core $core -o counts -- "$PROGRAMS/$program" "$@" 2>&1
}
# Where the instructions of the loop begin, in hexadecimal.
places() {
	objdump -d --no-show-raw-insn "$PROGRAMS/$1" | awk '/<loop_begin>:/ { on = 1; next } /<loop_end>:/ { exit }
		on && $1 ~ /:$/ { print $1 }' | tr -d :
}
for p in client_handler client_handler32; do
	case $p in *32) runs_32 || continue ;; esac
	places $p >insns
	first=$(printf '%d' "0x$(head -n 1 insns)")
	while read -r a; do echo $((0x$a - first)); done <insns >offsets
	case $p in
	*32) cores="pentium3:p6 willamette:netburst" ;;
	*) cores="golden-cove:arch core2:arch" ;;
	esac
	for c in $cores; do
		on "${c%:*}" $p "${c#*:}" instructions 1000 1000 print >out
		on "${c%:*}" $p "${c#*:}" instructions 1000 1000 print >again
		same "$p on ${c%:*}: the same run has the same places" "$(cat again)" "$(cat out)"
		n=$(grep -c '^ip' out)
		check "$p on ${c%:*}: $n PMIs enter the handler" [ "$n" -ge 4 ]
		# in the loop, one instruction further than the model; DEC and JNZ are one
		sed -n 's/^ip +\([0-9]*\), model +\([0-9]*\),.*/\2 \1/p' out | awk '
			NR == FNR { at[NR - 1] = $1; n = NR; next }
			{ for (i = 0; i < n && at[i] != $1; i++); j = i + 1; if (j == n - 1) j = n }
			i < n && $2 < at[n - 1] && $2 != at[j % n] && !(j % n == 0 && $2 > at[n - 1]) { print }' \
			offsets - >wrong
		same "$p on ${c%:*}: the handler is entered behind the model's instruction" "$(cat wrong)" ""
		tail -n 1 out >last
		check "$p on ${c%:*}: every frame is whole, and the loop loses nothing" \
			grep -qE ": entries $n in the loop [0-9]* frames $n nested 0 lvt 0x(100)?f0 result right " last
	done
	same "$p: from NetBurst on a PMI masks the LVT entry" "$(on willamette $p netburst instructions 1000 300 |
		sed 's/.*lvt \([^ ]*\).*/\1/')" 0x100f0
	same "$p: a P6 leaves the LVT entry" "$(on pentium3 $p p6 instructions 1000 300 |
		sed 's/.*lvt \([^ ]*\).*/\1/')" 0xf0
	check "$p: cycles enter the handler" \
		[ "$(on skylake $p arch 0x3c 5000 6000 print | grep -c '^ip')" -ge 1 ]
	check "$p: a PMI waits until the handler returns" [ "$(on skylake $p nested |
		grep -cE 'entries ([0-9]+) in the loop .* frames \1 nested 0 .* result right')" = 1 ]
	same "$p: bad memory is refused" "$(on skylake $p bad)" "no code -4 no stack -4
alive 0"
	same "$p: a stack that goes away is one line, and the program runs on" "$(on skylake $p gone)" \
		"result right entries 0
softpmu: warning: a program's PMI handler or its stack is gone: it gets no more PMIs"
	same "$p: a forked child has no handler" "$(on "skylake --follow" $p forks | sed 's/ in the loop.*//' | sort)" \
		"child result right entries 0
parent: entries 7"
	on skylake $p threads | sort >out
	same "$p: each thread has its own handler" "$(sed 's/ sum.*//; s/: entries [0-9]* .*frames/: frames/' out |
		grep -c 'nested 0 .* result right')" 2
	same "$p: threads have the same places in each run" "$(on skylake $p threads | sort)" "$(cat out)"
	same "$p: without softpmu there is no handler" "$("$PROGRAMS/$p" plain)" "handler -100"
done
same "without the wrong path it works, too" "$(on "skylake --no-wrong-path" client_handler arch instructions 1000 1000 |
	sed 's/.*frames \([0-9]*\) .*result \([a-z]*\) .*/\1 \2/')" "6 right"
# The stream holds what the handler did; a replay has the same counts, and runs on other machines.
"$SOFTPMU" stat --core skylake -x, -o live --save-stream st -e instructions,cycles -- "$PROGRAMS/client_handler" arch \
	instructions 1000 1000 >out 2>&1
"$SOFTPMU" stat --core skylake -x, -o again --replay st -e instructions,cycles >out 2>&1
same "a replay counts what the live run counted" "$(cat again)" "$(cat live)"
"$SOFTPMU" stat --core willamette -x, -o other --replay st -e instructions >out 2>&1
same "another machine replays it" "$(cut -d, -f1 other)" "$(head -n 1 live | cut -d, -f1)"
exit $failed
