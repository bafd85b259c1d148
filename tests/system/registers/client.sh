#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Programs that use softpmu/client.h: counts are exact to the instruction on each family of PMUs, in 64 and 32 bits;
# regions work; and the calls do nothing when the program does not run under softpmu.
. "$TOP/tests/lib.sh"
# on CORE PROGRAM ARGUMENT...: prints what the program prints, on one line
on() {
	core=$1 program=$2; shift 2
	# shellcheck disable=SC2086
	timeout 120 "$SOFTPMU" stat --core "$core" ${paths:-} -o counts -- "$PROGRAMS/$program" "$@" 2>&1 | tr '\n' ';'
}

# Without softpmu the calls do nothing: on the processor, under another Valgrind tool, in a child that is not followed.
absent="present 0
rdmsr -100 wrmsr -100 rdpmc -100 cpuid -100
apic -100 -100 pmi -100
values 77 77 77 77"
for p in client client32 client-cxx; do
	case $p in *32) runs_32 || continue ;; esac
	same "$p without softpmu: the calls do nothing" "$("$PROGRAMS/$p" alone 2>&1)" "$absent"
done
if command -v valgrind >/dev/null 2>&1; then
	same "under another Valgrind tool the calls do nothing" \
		"$(valgrind --tool=none -q "$PROGRAMS/client" alone 2>&1)" "$absent"
fi
same "in a child that is not followed the calls do nothing" \
	"$("$SOFTPMU" stat -i -o counts -- sh -c "\"$PROGRAMS/client\" alone; true" 2>&1)" "$absent"
same "in a followed child softpmu is present" \
	"$("$SOFTPMU" stat -o counts -- sh -c "\"$PROGRAMS/client\" alone; true" 2>&1 |
	head -n 1)" "present 1"

# Counted: from the instruction after the enabling write up to and including the disabling write: 3 + 4 n instructions,
# n branches.
for p in client client32; do
	case $p in *32) runs_32 || continue ;; esac
	for c in golden-cove:arch skylake:arch ivy-bridge:arch core2:arch pentium3:p6 pentium:p5 willamette:netburst \
		prescott:netburst; do

		for n in 1 1000; do
			i=$((3 + 4 * n))
			same "$p on $c: counts of $n rounds are exact" "$(on "${c%:*}" $p count "${c#*:}" $n)" \
				"instructions $i rdpmc same;instructions $i again;branches $n rdpmc same;\
branches $n again;"
		done
	done
	for c in golden-cove skylake core2; do
		same "$p on $c: fixed counters count exactly" \
			"$(on $c $p fixed 1000)" "fixed 4003 general 4003;cycles plausible;disabled 4003;"
	done
done
same "a C++ program counts the same" "$(on golden-cove client-cxx count arch 10)" \
	"instructions 43 rdpmc same;instructions 43 again;branches 10 rdpmc same;branches 10 again;"

# A PMI is lost while the LVT entry is masked and taken when it is not; from NetBurst on, a PMI masks the LVT entry.
for p in client client32; do
	case $p in *32) runs_32 || continue ;; esac
	for c in golden-cove skylake; do
		same "$p on $c: a masked PMI is lost, an unmasked one is taken" "$(on $c $p pmi arch)" \
			"lvt 0x10000 after reset;pending 0 counter 3003 lvt 0x10000;\
pending 1 counter 3003 lvt 0x10400 status 1 ip in the loop;pending 0 counter 3003 lvt 0x10400;"
	done
	same "$p on pentium3: a masked PMI is lost, an unmasked one is taken" "$(on pentium3 $p pmi p6)" \
		"lvt 0x10000 after reset;pending 0 counter 3003 lvt 0x10000;\
pending 1 counter 3003 lvt 0x400 status 0 ip in the loop;pending 1 counter 3003 lvt 0x400 status 0 ip in the loop;"
	same "$p on pentium: there is no APIC" "$(on pentium $p pmi p5)" "apic_read: status -2;"
	same "$p on willamette: a masked PMI is lost, an unmasked one is taken" "$(on willamette $p pmi netburst)" \
		"lvt 0x10000 after reset;pending 0 counter 3003 lvt 0x10000;\
pending 1 counter 3003 lvt 0x10400 status 1000 ip in the loop;pending 0 counter 3003 lvt 0x10400;"
done

for p in client client32; do
	case $p in *32) runs_32 || continue ;; esac
	same "$p: invalid accesses return errors" "$(on golden-cove $p errors)" \
		"no such msr -2 -2;reserved bits -1;bad counter -1;bad apic -2 -2;untouched 77 77;bad address -4;\
unknown code -100;alive;"
	same "$p: each thread has its own counters" \
		"$(on golden-cove $p threads)" "thread 70: 283;thread 700: 2803;main: 5;"
done
# Events that are not counted at retirement start and stop at the same instructions: ten rounds more are ten loads and
# thirty uops more. Without the wrong path: what it executes after the loop depends on earlier predictions.
paths=--no-wrong-path
for c in $(if_32 golden-cove:0x4101ae skylake:0x41010e golden-cove:0x4102c2 golden-cove:0x4181d0:10 \
	skylake:0x4181d0:10 pentium3:0x410043:10); do
	core=${c%%:*} select=${c#*:} more=30
	case $select in *:*) more=${select#*:} select=${select%:*} ;; esac
	a=$(on "$core" client event "$select" 1000) b=$(on "$core" client32 event "$select" 1010)
	same "event $select on $core: ten rounds more count $more more" "$((${b%;} - ${a%;}))" "$more"
done
paths=

# PEBS: every hundredth of 4000 loads writes a record into the program's memory; then every thousandth, into an empty
# buffer; then into a buffer that is too small and becomes full.
for p in client client32; do
	case $p in *32) runs_32 || continue ;; esac
	same "$p: PEBS records on golden-cove" "$(on golden-cove $p pebs 32)" \
		"records 40 rest 0 in the loop 40;then 4;full 8;alive;"
	same "$p: PEBS records on skylake" \
		"$(on skylake $p pebs 200)" "records 39 rest 0 in the loop 39;then 4;full 8;alive;"
done
# BTS: 24 KB of records, passed to the program in pieces of 3 KB.
same "BTS on core2 records every taken branch" "$(on core2 client bts 1000)" "999 branches taken, 999 of them back;"
! runs_32 || same "BTS on golden-cove records every taken branch, in 32 bits" \
	"$(on golden-cove client32 bts 1000)" "999 branches taken, 999 of them back;"

same "CPUID leaf 0AH of skylake" "$(on skylake client leaf)" "07300804 00000000 00000000 00000603;"
# Two threads of a core (--smt) have four counters each, where one has eight; AnyThread counts both threads.
smt() {
	core=$1 program=$2; shift 2
	timeout 120 "$SOFTPMU" stat --smt --core "$core" -o counts -- "$PROGRAMS/$program" "$@" 2>&1 | tr "\n" ";"
}
same "CPUID leaf 0AH of skylake, with --smt" "$(smt skylake client leaf)" \
	"07300404 00000000 00000000 00000603;"
same "CPUID leaf 0AH of golden-cove, with --smt" "$(smt golden-cove client leaf)" \
	"$(on golden-cove client leaf)"
same "AnyThread of a program's own counters, with --smt" "$(smt skylake client any)" "2 2;2 2;"
same "AnyThread of a program's own counters, on a core for each thread" "$(on skylake client any)" "1 1;1 1;"
check "AnyThread is refused where leaf 0AH says that it is deprecated" \
	test "$(on golden-cove client any)" = "wrmsr: status -1;"
same "CPUID leaf 0AH of a Pentium III is zero" "$(on pentium3 client leaf)" "00000000 00000000 00000000 00000000;"

# A replay does what the program's calls did in the live run.
"$SOFTPMU" stat -x, -e cycles,instructions -o live --save-stream s -- "$PROGRAMS/client" count arch 1000 >/dev/null 2>&1
"$SOFTPMU" stat -x, -e cycles,instructions -o again --replay s >out 2>&1
same "a replay counts what the live run counted" "$(cat out again)" "$(cat live)"

# Regions: "loop" is entered 6 times, three of them inside "outer". "outer" is begun twice but entered once. The marker
# that ends a region is counted.
for p in client client32; do
	case $p in *32) runs_32 || continue ;; esac
	timeout 120 "$SOFTPMU" stat -x, -e instructions,branches -o counts --region loop -- "$PROGRAMS/$p" regions 1000
	same "$p: --region counts the region alone" \
		"$(cut -d, -f1,3 counts | tr '\n' ' ')" "24018,instructions:u 6000,branches:u "
	timeout 120 "$SOFTPMU" stat -x, -e instructions,branches -o counts --per-region -- "$PROGRAMS/$p" regions 1000
	same "$p: --per-region has a row per region and event" "$(cut -d, -f1-3,5 counts | sed -n 1,2p |
		tr '\n' ' ')" "loop,6,24018,instructions:u loop,6,6000,branches:u "
	n=$(sed -n 's/^outer,1,\([0-9]*\),,instructions.*/\1/p' counts)
	[ "${n:-0}" -gt 12009 ] && [ "$n" -lt 12200 ] && ok "$p: an outer region includes the inner ones" ||
		bad "$p: '$n' instructions in the outer region"
done
"$SOFTPMU" stat -x, -e instructions -o counts --region sort -- "$PROGRAMS/client" regions 1 2>err
same "a region that the program never enters is reported" \
	"$(cat err)" "softpmu: warning: --region sort: the program never entered a region of this name, so nothing \
was counted; it entered loop, outer"
same "a region that the program never enters counts nothing" "$(cut -d, -f1 counts)" "<not counted>"

# record --region takes samples only inside the region.
"$SOFTPMU" record -q -c 101 --region loop -o loop.data -- "$PROGRAMS/client" regions 1000
same "record --region: all samples are in the region's function" \
	"$("$SOFTPMU" report -i loop.data -s symbol 2>/dev/null |
	sed -n 's/^ *\([0-9.]*%\) *\[.\] */\1 /p' | sed 's/ *$//')" "100.00% measured"

# After --stop the calls do nothing.
same "after --stop softpmu is gone" \
	"$(timeout 60 "$SOFTPMU" stat -o counts --stop 200000 -- "$PROGRAMS/client" forever |
	tr '\n' ';')" "asks;gone;"

# softpmu is killed while the program calls it.
"$SOFTPMU" stat -o counts -- "$PROGRAMS/client" forever >asked 2>&1 &
model=$!
wait_until said asks asked
kill -KILL $model 2>/dev/null
wait $model 2>/dev/null
wait_until said gone asked
same "the program runs on after softpmu was killed" "$(tail -n 1 asked)" "gone"
# An event that the model cannot produce, written into a register, does not read 0 in silence.
"$SOFTPMU" stat --core golden-cove -o counts -- "$PROGRAMS/client" event 0x4320c9 100 >"$work/out" 2>"$work/err"
same "an event that is not modelled, set up by a register: one line names it" "$(grep -c softpmu: "$work/err")" 1
has "it names the counter, the value, the event and the reason" \
	"IA32_PMC0, set up by registers (.*RTM_RETIRED.ABORTED_UNFRIENDLY).*: under the tracer" "$work/err"
"$SOFTPMU" record -q --core golden-cove -o data -- "$PROGRAMS/client" event 0x4320c9 100 >"$work/out" 2>"$work/err"
has "record names it, too" "IA32_PMC0, set up by registers (.*RTM_RETIRED.ABORTED_UNFRIENDLY" "$work/err"
"$SOFTPMU" stat --core golden-cove -o counts -- "$PROGRAMS/client" event 0x4300fe 100 >"$work/out" 2>"$work/err"
has "a code that the table does not have" "(4300FEH).*no such event select" "$work/err"
"$SOFTPMU" stat --core golden-cove -o counts -- "$PROGRAMS/client" event 0x4300c0 100 >"$work/out" 2>"$work/err"
same "an event that is modelled: no such line" "$(cat "$work/err")" ""
exit $failed
