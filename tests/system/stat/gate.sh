#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# The gate for CI: two checkouts and builds of the same source count the same, whatever the environment, the folder and
# the terminal are; a function that got 1 % slower is found and named; a changed library is told from a changed
# program; the baseline is the same bytes each time; exit statuses.
. "$TOP/tests/lib.sh"

cat >walk.c <<'EOF'
#include "softpmu/client.h"
#include <stdio.h>
#include <stdlib.h>
unsigned step(unsigned);
static unsigned table[1024];
__attribute__((noinline)) unsigned hash(unsigned n)
{
	unsigned h = 1;
	for (unsigned i = 0; i < n; i++)
		h = h * 31 + table[i & 1023];
	return h;
}
int main(int argc, char **argv)
{
	unsigned h = 0;
	SOFTPMU_REGION_BEGIN("hash");
	h += hash(ROUNDS);
	SOFTPMU_REGION_END("hash");
	SOFTPMU_REGION_BEGIN("step");
	for (int i = 0; i < 2000; i++)
		h += step(h);
	SOFTPMU_REGION_END("step");
	if (argc > 1 && getenv("MINE"))
		fprintf(stderr, "%p\n", (void *)&h);
	return argc > 1;
}
EOF
cat >step.c <<'EOF'
unsigned step(unsigned h)
{
	for (int i = 0; i < LENGTH; i++)
		h ^= h << 5 | i;
	return h;
}
EOF
# build FOLDER ROUNDS LENGTH: a checkout of its own, with a library of its own
build() {
	mkdir -p "$1" && cp walk.c step.c "$1" && (cd "$1" &&
		gcc -O1 -g -shared -fPIC -DLENGTH="$3" -o libstep.so step.c &&
		gcc -O1 -g -DROUNDS="$2" -I"$TOP/include" -o walk walk.c ./libstep.so)
}
build one 20000 40
mkdir -p a/much/longer/name/of/a/folder
build a/much/longer/name/of/a/folder/two 20000 40
build slower 20200 40
build library 20000 60
printf 'bench walk ./walk\nregions parts ./walk # hash and step\nevents cycles,instructions,branches\n' >list

# gate FOLDER ARGUMENTS: its exit status goes to $status, what it prints to out
gate() {
	(cd "$1" && shift && "$SOFTPMU" gate -f "$work/list" --baseline "$work/base.json" "$@") >out 2>err
	status=$?
}
gate one
same "without a baseline the gate does not pass" "$status" 4
gate one --update
same "--update writes the baseline" "$status $(cat out)" "0 $work/base.json: 3 benchmarks"
cp base.json first.json
gate one --update
same_files "the baseline is the same bytes each time" base.json first.json
check "one figure stands on a line" sh -c 'grep -qx "        \"cycles\": [0-9]*," base.json'
(cd a/much/longer/name/of/a/folder/two && env -i PATH="$PATH" LONG="$(seq 100)" HOME=/nowhere "$SOFTPMU" gate \
	-f "$work/list" --baseline "$work/base.json" >"$work/out" 2>&1 </dev/null)
same "so does another build in another folder and environment" "$? $(tail -n 1 out)" "0 Gate: all counts are equal."

gate slower --junit "$work/junit.xml" --markdown "$work/comment.md"
same "1 % more work in one function fails" "$status" 3
has "the function and its growth are named" '^  in hash \[walk\]: .* instructions (+1.00 %)' out
has "the program is what changed" '^  changed file: walk' out
has "the region that did not change is equal" '^parts/step: equal' out
has "JUnit XML has the failure" '<testcase classname="softpmu.gate" name="walk"><failure type="limit"' junit.xml
has "Markdown has the function" '^| hash \\\[walk\\\] |' comment.md
cp out first
gate slower --limit walk:cycles=1000
same "a hard limit, too" "$status $(grep -c 'limit 1,000 exceeded' out)" "3 1"
sed 's/, limit 1,000 exceeded//' out >second
same_files "and the run prints the same bytes else" second first
gate slower --limit instructions=2% --limit cycles=2% --explain
same "a soft limit lets it pass" "$status" 0
has "--explain has both counts" '140,0[0-9][0-9] *141,4[0-9][0-9] *+1,400 .* hash \[walk\]' out

gate slower --limit wlak:cycles=1%
same "a limit of a benchmark that is not run is refused" "$status" 2
has "and named" "limit 'wlak:cycles': no benchmark of this name was run" err
(cd one && "$SOFTPMU" gate --baseline "$work/base.json" -e cycles,instructions,branch-misses ./walk >"$work/out" 2>&1)
same "a benchmark with an event that the baseline lacks is not compared in it" "$?" 4
has "the message tells it from a new benchmark" '^walk: EVENTS NOT IN THE BASELINE' out
has "and the summary is about one benchmark" '^Gate: the benchmark is not in the baseline, or not with all events' out
(cd one && "$SOFTPMU" gate --update --baseline "$work/user.json" -e instructions:u ./walk >"$work/out" 2>&1)
(cd slower && "$SOFTPMU" gate --baseline "$work/user.json" -e instructions:u ./walk >"$work/out" 2>&1)
same "instructions:u has the limit of instructions" "$? $(grep -c 'limit +0.1 % exceeded' out)" "3 1"

gate library
same "a library that changed is not the program's fault, although that was built anew" "$status" 4
has "its function is named" '^  in step \[libstep.so\]: ' out
has "and its file" '^  changed file: libstep.so' out
gate one --core skylake
same "another machine is no failure of the program" "$status" 4
has "the machine is named" '^The modelled machine changed: skylake' out

# The stack begins at the same address, whatever is above it.
for folder in one a/much/longer/name/of/a/folder/two; do
	(cd $folder && "$SOFTPMU" gate --baseline none.json --update --env MINE=$folder ./walk x 2>&1) | grep '^0x'
done | sort | uniq -c >places
same "the stack lies at the same place" "$(awk '{ print $1 }' places)" 2


for text in '' '[' '{}' '{"softpmu gate": 7}'; do
	echo "$text" >bad.json
	refuse "the baseline '$text'" 'bad.json' "$SOFTPMU" gate --baseline bad.json one/walk
	same "its exit status" "$code" 1
done
refuse "a limit of an event that is not counted" 'no such event is counted' "$SOFTPMU" gate --limit stalls=1% one/walk
refuse "a list with an unknown word" 'bad.json, line 1' "$SOFTPMU" gate -f bad.json
refuse "-f and a program" 'none goes behind' "$SOFTPMU" gate -f list one/walk
exit $failed
