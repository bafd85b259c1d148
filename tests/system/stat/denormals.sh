#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Microcode assists for floating-point instructions: each kind is counted exactly, costs its time, and is off with FTZ
# and DAZ; without the wish nothing is looked for; a stream without them is refused where they are counted.
. "$TOP/tests/lib.sh"
N=1000
# counts CORE EVENTS COMMAND...: prints the counts on one line.
counts() {
	core=$1 events=$2; shift 2
	timeout 100 "$SOFTPMU" stat -x, -o counts.csv --core "$core" -e "$events" "$@" >/dev/null 2>err || cat err
	cut -d, -f1 counts.csv | tr '\n' ' ' | sed 's/ $//'
}
all=fp_assist.any:u
for program in denormals $(if_32 denormals32); do
	P=$PROGRAMS/$program
	for kind in multiply divide sqrt small packed single convert load store; do
		same "skylake, $program: each assist for '$kind' is counted" \
			"$(counts skylake $all -- "$P" $kind $N)" $N
	done
	for kind in add compare normal overflow empty full; do
		same "skylake, $program: '$kind' needs no assist" "$(counts skylake $all -- "$P" $kind $N)" 0
	done
	for kind in multiply small packed convert; do
		same "skylake, $program: with FTZ and DAZ '$kind' needs none" \
			"$(counts skylake $all -- "$P" $kind $N ftz)" 0
	done
	same "willamette, $program: each kind has its event" "$(counts willamette \
		x87_assist.FPSU,x87_assist.FPSO,x87_assist.POAO,x87_assist.POAU,x87_assist.PREA \
		-- "$P" all $N)" "$N $N $N $N $N"
done
P=$PROGRAMS/denormals
same "golden-cove: ASSISTS.FP and ASSISTS.ANY" \
	"$(counts golden-cove assists.fp,assists.any -- "$P" multiply $N)" "$N $N"
same "zen5: no assist, no time" "$(counts zen5 cycles --assists -- "$P" multiply $N)" \
	"$(counts zen5 cycles -- "$P" multiply $N)"

# 160 cycles and more an assist, as measured on Sandy Bridge to Skylake.
for core in ivy-bridge skylake; do
	set -- $(counts $core cycles --assists -- "$P" multiply 4000) $(counts $core cycles -- "$P" multiply 4000)
	each=$((($1 - $2) / 4000))
	check "$core: an assist takes $each cycles" [ $each -ge 150 -a $each -le 180 ]
done

# The stream says it.
"$SOFTPMU" trace -q --assists -o with -- "$P" multiply $N
"$SOFTPMU" trace -q -o without -- "$P" multiply $N
same "a replay counts what the run counted" "$(counts skylake $all --replay with)" $N
"$SOFTPMU" stat --replay without --core skylake -e $all >out 2>&1
refused=$?
check "a stream without assists is refused" [ $refused -ne 0 ]
check "the message says how to record one" grep -q 'trace --assists' out
check "other events count on it" [ "$(counts skylake instructions --replay without)" = \
	"$(counts skylake instructions --replay with)" ]
"$SOFTPMU" record -q --core skylake -o data -c 100 -e $all -- "$P" multiply $N >/dev/null 2>&1
check "assists are sampled" [ "$("$SOFTPMU" report -i data 2>/dev/null | grep -c main)" -ge 1 ]
exit $failed
