#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# PEBS records in a program's own memory hold its registers, on each generation of PEBS, in 64 and 32 bits, with and
# without the wrong path; and the program reaches the pushout registers (softpmu/client.h).
. "$TOP/tests/lib.sh"
# on PROGRAM CORE ARGUMENT...: prints what the program prints, on one line
on() {
	program=$1 core=$2; shift 2
	# shellcheck disable=SC2086
	timeout 120 "$SOFTPMU" stat --core $core -o counts -- "$PROGRAMS/$program" "$@" 2>&1 | tr '\n' ';'
}
# The load of a loop of 4 instructions, each 100th (as a driver presets it) or each 101st (as the machine does, that
# records the event behind the overflow). Core 2 has no precise load: each 101st instruction.
for p in client_records client_records32; do
	case $p in *32) runs_32 || continue ;; esac
	same "$p: adaptive records of golden-cove hold the registers" \
		"$(on $p golden-cove arch 0x4181d0 0)" "records 40 right 40 step 100;"
	for c in "skylake:0x4181d0 200" "skylake --pmu haswell:0x4181d0 192" \
		"skylake --no-wrong-path:0x4181d0 200" "core2:0x4100c0 144"; do

		case $c in core2*) e="records 158 right 158 step 25;" ;; *) e="records 39 right 39 step 101;" ;; esac
		# shellcheck disable=SC2086
		same "$p: records of ${c%:*} hold the registers" "$(on $p "${c%:*}" arch ${c#*:})" "$e"
	done
	for c in willamette prescott "willamette --no-wrong-path"; do
		same "$p: records of $c hold the registers" "$(on $p "$c" netburst)" "records 39 right 39 step 101;"
	done
	for c in willamette skylake pentium; do
		same "$p: the program uses the pushout registers of $c" "$(on $p $c pushout)" \
			"units 4 late some all slots;"
	done
done
# What record samples with -e is not affected by what the program does, and the other way round.
"$SOFTPMU" record -q --core skylake -e MEM_INST_RETIRED.ALL_LOADS:p -c 1000 -o r.data -- "$PROGRAMS/client_records" \
	arch 0x4181d0 200 >out 2>&1
same "under record, whose history begins with the thread, the records hold the registers, too" "$(cat out)" \
	"records 39 right 39 step 101"
exit $failed
