#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# compare reads what stat writes in each of its forms, and profiles; and refuses what is neither, with one line.
. "$TOP/tests/lib.sh"
cat >walk.c <<'EOF'
static volatile unsigned sum;
__attribute__((noinline)) void walk(int n)
{
	for (int i = 0; i < n; i++)
		sum += i;
}
__attribute__((noinline)) void rest(int n)
{
	for (int i = 0; i < n; i++)
		sum ^= i;
}
int main(void)
{
	walk(WALK);
	rest(20000);
	return 0;
}
EOF
for n in 20000 30000; do
	gcc -O1 -g -DWALK=$n -o walk$n walk.c || exit 1
	"$SOFTPMU" stat -x, -o csv$n -e cycles,instructions ./walk$n
	"$SOFTPMU" stat -j -o json$n -e cycles,instructions ./walk$n
	"$SOFTPMU" stat -o table$n -e cycles,instructions ./walk$n
	"$SOFTPMU" record -q -c 1000 -e instructions -o data$n ./walk$n
done
grown=$(awk -F, 'FNR == 2 { print $1 }' csv20000 csv30000 | awk '{ d = $1 - d } END { print "+" d }')
for form in csv json table; do
	"$SOFTPMU" compare ${form}20000 ${form}30000 >out 2>err
	same "$form: the difference" "$? $(awk '$1 == "instructions:u" { print $4 }' out)" "0 $grown"
done
"$SOFTPMU" compare csv20000 table30000 >out
same "two forms" "$(awk '$1 == "instructions:u" { print $4 }' out)" "$grown"
"$SOFTPMU" stat -r 2 -o repeated -e cycles ./walk20000
"$SOFTPMU" compare repeated table20000 >out
same "the elapsed time of several runs and of one" "$(grep -c '^seconds elapsed .* 0 %$' out)" 1
"$SOFTPMU" compare data20000 data30000 >out
has "profiles: the whole" '^instructions:u: A [0-9]*, B [0-9]*, +' out
has "profiles: the function" ' walk \[walk20000\]$' out

"$SOFTPMU" stat -I 0.001 -x, -o intervals -e cycles ./walk20000
refuse "intervals" 'no counts of a whole run' "$SOFTPMU" compare intervals csv20000
refuse "a profile and counts" 'data20000 is a profile, and csv20000 is none' "$SOFTPMU" compare data20000 csv20000
refuse "one file" 'needs two files' "$SOFTPMU" compare csv20000
refuse "three files" 'one word too many' "$SOFTPMU" compare csv20000 csv20000 csv20000
refuse "no file" 'cannot read nothing' "$SOFTPMU" compare nothing csv20000
: >empty
printf '{"event" : 1}\n' >odd1
printf '{"counter-value" : "x", "event" : "cycles"}\n' >odd2
printf '{{{{{{{{\n' >odd3
printf '1,,cycles\n1,,cycles\n' >odd4
printf 'a,b,c\n' >odd5
printf '1,\n' >odd6
printf '\001\002\377\n' >odd7
head -c 300 /dev/zero | tr '\0' ',' >odd8
for file in empty odd1 odd2 odd3 odd4 odd5 odd6 odd7 odd8; do
	refuse "counts in $file" "$file" "$SOFTPMU" compare $file csv20000
done
head -c 200 data20000 >half
refuse "half a profile" half "$SOFTPMU" compare half data20000
exit $failed
