#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Programs that look at themselves (softpmu/client.h): counts are exact at the instruction on each family of
# PMUs, for both word sizes; regions; and where nobody listens nothing happens.
. "$TOP/tests/lib.sh"
# on CORE PROGRAM argument...: what the program prints, on one line
on() {
	core=$1 program=$2; shift 2
	# shellcheck disable=SC2086
	timeout 120 "$SOFTPMU" stat --core "$core" ${paths:-} -o counts -- "$PROGRAMS/$program" "$@" 2>&1 | tr '\n' ';'
}

# Nobody listens: on the processor, under another Valgrind tool, in a child that is not followed.
absent="present 0
rdmsr -100 wrmsr -100 rdpmc -100 cpuid -100
apic -100 -100 pmi -100
values 77 77 77 77"
for p in client client32 client-cxx; do
	same "$p alone" "$("$PROGRAMS/$p" alone 2>&1)" "$absent"
done
if command -v valgrind >/dev/null 2>&1; then
	same "under another tool" "$(valgrind --tool=none -q "$PROGRAMS/client" alone 2>&1)" "$absent"
fi
same "an unfollowed child" "$("$SOFTPMU" stat -o counts -- sh -c "\"$PROGRAMS/client\" alone; true" 2>&1)" "$absent"
same "a followed child" "$("$SOFTPMU" stat --follow -o counts -- sh -c "\"$PROGRAMS/client\" alone; true" 2>&1 |
	head -n 1)" "present 1"

# From behind the enabling write up to and with the disabling one: 3 + 4 n instructions, n branches.
for p in client client32; do
	for c in golden-cove:arch skylake:arch ivy-bridge:arch core2:arch pentium3:p6 pentium:p5 willamette:netburst \
		prescott:netburst; do

		for n in 1 1000; do
			i=$((3 + 4 * n))
			same "$p $n on $c" "$(on "${c%:*}" $p count "${c#*:}" $n)" \
				"instructions $i rdpmc same;instructions $i again;branches $n rdpmc same;\
branches $n again;"
		done
	done
	for c in golden-cove skylake core2; do
		same "$p fixed on $c" "$(on $c $p fixed 1000)" "fixed 4003 general 4003;cycles plausible;disabled 4003;"
	done
done
same "as C++" "$(on golden-cove client-cxx count arch 10)" \
	"instructions 43 rdpmc same;instructions 43 again;branches 10 rdpmc same;branches 10 again;"

# PMI: lost while the LVT entry is masked, taken when it is not; from NetBurst on it masks itself.
for p in client client32; do
	for c in golden-cove skylake; do
		same "$p pmi on $c" "$(on $c $p pmi arch)" \
			"lvt 0x10000 after reset;pending 0 counter 3003 lvt 0x10000;\
pending 1 counter 3003 lvt 0x10400 status 1 ip in the loop;pending 0 counter 3003 lvt 0x10400;"
	done
	same "$p pmi on pentium3" "$(on pentium3 $p pmi p6)" \
		"lvt 0x10000 after reset;pending 0 counter 3003 lvt 0x10000;\
pending 1 counter 3003 lvt 0x400 status 0 ip in the loop;pending 1 counter 3003 lvt 0x400 status 0 ip in the loop;"
	same "$p has no APIC on pentium" "$(on pentium $p pmi p5)" "apic_read: status -2;"
	same "$p pmi on willamette" "$(on willamette $p pmi netburst)" \
		"lvt 0x10000 after reset;pending 0 counter 3003 lvt 0x10000;\
pending 1 counter 3003 lvt 0x10400 status 1000 ip in the loop;pending 0 counter 3003 lvt 0x10400;"
done

for p in client client32; do
	same "$p refusals" "$(on golden-cove $p errors)" \
		"no such msr -2 -2;reserved bits -1;bad counter -1;bad apic -2 -2;untouched 77 77;bad address -4;\
unknown code -100;alive;"
	same "$p threads" "$(on golden-cove $p threads)" "thread 70: 283;thread 700: 2803;main: 5;"
done
# Events that are not counted at retirement keep to the same borders: ten rounds more are ten loads and thirty
# uops more. What a loop's end brings on the wrong path depends on what was predicted before: without.
paths=--no-wrong-path
for c in golden-cove:0x4101ae skylake:0x41010e golden-cove:0x4102c2 golden-cove:0x4181d0:10 skylake:0x4181d0:10 \
	pentium3:0x410043:10; do
	core=${c%%:*} select=${c#*:} more=30
	case $select in *:*) more=${select#*:} select=${select%:*} ;; esac
	a=$(on "$core" client event "$select" 1000) b=$(on "$core" client32 event "$select" 1010)
	same "event $select on $core" "$((${b%;} - ${a%;}))" "$more"
done
paths=

# PEBS: every hundredth load of 4000 writes a record into the program's memory; then every thousandth, into an
# empty buffer; a full one.
for p in client client32; do
	same "$p pebs on golden-cove" "$(on golden-cove $p pebs 32)" \
		"records 40 rest 0 in the loop 40;then 4;full 8;alive;"
	same "$p pebs on skylake" "$(on skylake $p pebs 200)" "records 39 rest 0 in the loop 39;then 4;full 8;alive;"
done
# 24 KB through answers of 3 KB.
same "bts on core2" "$(on core2 client bts 1000)" "999 branches taken, 999 of them back;"
same "bts on golden-cove, 32 bits" "$(on golden-cove client32 bts 1000)" "999 branches taken, 999 of them back;"

same "leaf 0AH" "$(on skylake client leaf)" "07300804 00000000 00000000 00000603;"
same "leaf 0AH of a Pentium III" "$(on pentium3 client leaf)" "00000000 00000000 00000000 00000000;"

# A stream that was saved does the same again, and its program need not be asked.
"$SOFTPMU" stat -x, -e cycles,instructions -o live --save-stream s -- "$PROGRAMS/client" count arch 1000 >/dev/null 2>&1
"$SOFTPMU" stat -x, -e cycles,instructions -o again --replay s >out 2>&1
same "replay" "$(cat out again)" "$(cat live)"

# Regions: 6 times "loop", three of them inside of "outer", which is entered once though begun twice. An end
# marker counts.
for p in client client32; do
	timeout 120 "$SOFTPMU" stat -x, -e instructions,branches -o counts --region loop -- "$PROGRAMS/$p" regions 1000
	same "$p --region" "$(cut -d, -f1,3 counts | tr '\n' ' ')" "24018,instructions:u 6000,branches:u "
	timeout 120 "$SOFTPMU" stat -x, -e instructions,branches -o counts --per-region -- "$PROGRAMS/$p" regions 1000
	same "$p --per-region" "$(cut -d, -f1-3,5 counts | sed -n 1,2p |
		tr '\n' ' ')" "loop,6,24018,instructions:u loop,6,6000,branches:u "
	n=$(sed -n 's/^outer,1,\([0-9]*\),,instructions.*/\1/p' counts)
	[ "${n:-0}" -gt 12009 ] && [ "$n" -lt 12200 ] && ok "$p nested" ||
		bad "$p nested: '$n' instructions in the outer region"
done
"$SOFTPMU" stat -x, -e instructions -o counts --region sort -- "$PROGRAMS/client" regions 1 2>err
same "a region that never was is told" \
	"$(cat err)" "softpmu: warning: --region sort: the program never entered a region of this name: \
nothing was counted"
same "... and counts nothing" "$(cut -d, -f1 counts)" 0

# Samples of a region are the region's.
"$SOFTPMU" record -q -c 101 --region loop -o loop.data -- "$PROGRAMS/client" regions 1000
same "record --region" "$("$SOFTPMU" report -i loop.data -s symbol 2>/dev/null |
	sed -n 's/^ *\([0-9.]*%\) *\[.\] */\1 /p' | sed 's/ *$//')" "100.00% measured"

# Behind --stop nobody listens.
same "--stop" "$(timeout 60 "$SOFTPMU" stat -o counts --stop 200000 -- "$PROGRAMS/client" forever |
	tr '\n' ';')" "asks;gone;"

# The model goes away under a program that asks.
"$SOFTPMU" stat -o counts -- "$PROGRAMS/client" forever >asked 2>&1 &
model=$!
wait_until said asks asked
kill -KILL $model 2>/dev/null
wait $model 2>/dev/null
wait_until said gone asked
same "a program whose model died goes on" "$(tail -n 1 asked)" "gone"
exit $failed
