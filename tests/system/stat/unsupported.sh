#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# stat counts the events of a list that it can count, and prints "<not supported>" for the others, as perf does.  So one
# list serves all cores.  A name that no core has is an error, and so is an unsupported event in record.
. "$TOP/tests/lib.sh"

list=cycles,page-faults,MEM_LOAD_RETIRED.L1_MISS,msr/tsc/,'{branches,cycles:k}',skl::UOPS_ISSUED:ANY,instructions
names="cycles:u page-faults:u MEM_LOAD_RETIRED.L1_MISS:u msr/tsc/u branches:u cycles:k skl::UOPS_ISSUED:ANY:u"
names="$names instructions:u"
for core in golden-cove skylake core2 pentium zen5; do
	"$SOFTPMU" stat --core $core -x, -e "$list" -o counts "$PROGRAMS/reps" || failed=1
	same "$core: the lines stand in the list's order" "$(cut -d, -f3 counts | paste -sd' ')" "$names"
	within "$core: what can be counted is" "$(awk -F, '$3 ~ /^instr/ { print $1 }' counts)" \
		"$("$SOFTPMU" stat --core $core -x, -e instructions "$PROGRAMS/reps" 2>&1 | cut -d, -f1)" 0.1
done
"$SOFTPMU" stat -e "$list" sh -c 'exit 3' 2>table; same "the status is the program's" $? 3
same "the table has a line for each" "$(grep -c '<not supported>' table)" 4
same "and below it the reason of each, once" "$(grep -c '^ Not supported: ' table)" 4
"$SOFTPMU" stat -j -e page-faults true 2>json
has "JSON has perf's words" '"counter-value" : "<not supported>".*"event" : "page-faults:u"' json
uncounted "an event of another core" "events of core2 are not modelled; it exists on .*skylake" \
	"$SOFTPMU" stat --core core2 -e unc_cbo_cache_lookup.any_mesi,cycles "$PROGRAMS/reps"
uncounted "-r" "counted by a kernel" "$SOFTPMU" stat -r 2 -e page-faults,cycles "$PROGRAMS/reps"
uncounted "-I" "not supported" "$SOFTPMU" stat -I 0.01 -e page-faults,cycles "$PROGRAMS/reps"
uncounted "--per-thread" "counted by a kernel" "$SOFTPMU" stat --per-thread -e page-faults,cycles "$PROGRAMS/reps"
refuse "a name that no core has" "nearest: PAGE_WALK" "$SOFTPMU" stat --core core2 -e cycles,page_walk true
refuse "record" "counted by a kernel" "$SOFTPMU" record -e page-faults true
exit $failed
