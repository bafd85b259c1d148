#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Data-address profiles: mem record on each machine that supports it, the tables of mem report against what the programs
# do, and perf mem and perf c2c on the same files.
. "$TOP/tests/lib.sh"
# The columns are in docs/softpmu.1 and in the first line. Commas in names (of C++) become semicolons, because awk -F,
# does not know quotes.
table() { "$SOFTPMU" mem report -i "$1" -s "$2" --csv |
	awk -F'"' -v OFS='"' '{ for (i = 2; i <= NF; i += 2) gsub(/,/, ";", $i); print }'; }
program=$PROGRAMS/l1_miss
location=$(nm "$program" | awk '$3 == "location" { print $1 }')

if runs_32; then
	# The Pentium 4 experiment: report explains it as a set conflict.
	"$SOFTPMU" record -q --core willamette -e replay_event.L1_LD_MISS:p -c 1000 -d -I -o p4.data \
		"$program" || exit 1
	"$SOFTPMU" mem report -i p4.data >report || failed=1
	check "eight lines in a set of four ways are reported as a set conflict" \
		grep -q '=> set conflict: 8 lines in set 16, which has 4 ways' \
		report
	check "the conflict's addresses are reported with distance and equal bits" grep \
		-q '8 addresses from .*, every 8192 bytes; their low 13 bits are equal' report
	check "the map shows eight rows in one column" \
		[ "$(grep -cE '^ +0x[0-9a-f]+ \| {16}[.:=+*#%@-] {15}\|' report)" -eq 8 ]
	check "the table of instructions has the one load" \
		[ "$(table p4.data insn | awk -F, 'NR > 1 { print $1 }')" = '"the_load+0"' ]
	check "the object in .bss has its name" [ "$(table p4.data object | awk -F, 'NR == 2 { print $1, $2 }')" \
		= '"location" "l1_miss"' ]
	check "the object's first address is the program's" \
		[ "$(table p4.data object | awk -F, 'NR == 2 { print $(NF - 9) }')" = "0x$(echo "$location" |
		sed 's/^0*//')" ]
	check "the table of pages has a row for each of the eight addresses" [ "$(table p4.data page | wc -l)" -eq 9 ]
	if command -v perf >/dev/null 2>&1; then
		perf mem report -i p4.data --stdio >perf.mem 2>/dev/null
		check "perf mem report finds the object, too" [ "$(grep -c 'location+0x' perf.mem)" -eq 8 ]
	fi
fi

# mem record on machines with data addresses.
for core in golden-cove skylake willamette; do
	"$SOFTPMU" mem record -q -U --core $core -c 23 -o $core.data "$PROGRAMS/work" 1000 >/dev/null ||
		{ failed=1; continue; }
	table $core.data insn >t
	check "$core: there are samples of loads and of stores" \
		[ "$(awk -F, 'NR > 1 { l += $8; s += $9 } END { print (l > 0 && s > 0) }' t)" \
		= 1 ]
	check "$core: the tables of objects, pages and sets have the same number of samples" [ "$(
		for k in object page set; do table $core.data $k | awk -F, -v k=$k '
		NR > 1 { n += $(k == "object" ? 6 : 3) } END { print n }'; done | sort -u | wc -l)" -eq 1 ]
done
"$SOFTPMU" mem -t load record -q --core skylake --ldlat 20 -c 3 -o lat.data "$PROGRAMS/work" 1000 >/dev/null || failed=1
check "--ldlat: all latencies lie above the threshold" \
	[ "$(table lat.data insn | awk -F, 'NR > 1 && $10 <= 20' | wc -l)" -eq 0 ]
check "the samples by level add up to all samples" [ "$(table lat.data insn |
	awk -F, 'NR > 1 && $6 != $12 + $13 + $14 + $15 + $16 + $17 + $18' | wc -l)" -eq 0 ]
check "-t load samples no stores" [ "$(table lat.data insn | awk -F, 'NR > 1 { s += $9 } END { print s + 0 }')" = 0 ]
"$SOFTPMU" mem report -i lat.data --json >json || failed=1
if command -v jq >/dev/null 2>&1; then
	check "JSON: every table has the same number of samples" \
		[ "$(jq -r '[.instructions, .objects, .pages, .sets | map(.samples) | add] | unique | length' json)" \
		= 1 ]
fi
if command -v perf >/dev/null 2>&1; then
	n=$("$SOFTPMU" mem report -i lat.data --json | sed -n 's/.*"samples": \([0-9]*\), "with_address".*/\1/p')
	check "perf mem report has the same number of samples" [ "$(perf mem report -i lat.data --stdio 2>/dev/null |
		awk '/^ +[0-9.]+%/ { n += $2 } END { print n }')" = "$n" ]
	perf c2c report -i lat.data --stdio >c2c 2>/dev/null
	check "perf c2c report has the same number of samples" \
		[ "$(awk -F: '/Total records/ { print $2 + 0 }' c2c)" = "$n" ]
fi
# Data objects: heap blocks by their allocation site, static data by symbol, stacks by thread.
"$SOFTPMU" mem record -q --core skylake -t load --ldlat 3 -c 31 -o heap.data "$PROGRAMS/heap" >/dev/null || failed=1
table heap.data object | awk -F, '{ gsub(/"/, ""); print $1 ";" $3 ";" $6 }' >objects
for object in 'malloc by make+.*;heap.c:1[67]' 'calloc by main+.*;heap.c:5' 'realloc by main+.*;heap.c:5' 'zeroed;' \
	'initialized;' 'stack of thread [0-9]*;'; do
	check "at least 50 samples are in the data object $object" \
		[ "$(grep "^$object" objects | awk -F';' '{ n += $3 } END { print (n >= 50) }')" \
		= 1 ]
done
# The program walks the block of calloc 8 times with 5,000 loads and the block of realloc once with 12,500.
check "two blocks have samples in proportion to their loads" [ "$(awk -F';' '/^calloc by main/ { c = $3 }
	/^realloc by main/ { r = $3 }
	END {
	print (c > 3.1 * r && c < 3.3 * r) }' objects)" = 1 ]
if command -v perf >/dev/null 2>&1; then
	perf report -i heap.data --mem-mode -s dso_daddr --stdio >perf.objects 2>/dev/null
	# There may be other sites: the block of a thread's DTV is loaded twice in 216,000 loads, so a sample rarely
	# falls there.
	for site in 'malloc 0x[0-9a-f]* make+' 'calloc 0x[0-9a-f]* main+' 'realloc 0x[0-9a-f]* main+'; do
		has "perf shows the allocation site: $site" "\[heap\] $site" perf.objects
	done
fi

# Cache lines that two threads share.
if command -v perf >/dev/null 2>&1; then
	"$SOFTPMU" mem record -q --core skylake -t load --ldlat 3 -c 13 -o shared.data "$PROGRAMS/sharing" queue 20000 \
		2 >/dev/null || failed=1
	perf c2c report -i shared.data --stdio >c2c 2>/dev/null
	check "perf c2c report finds the shared lines and hits on modified ones" \
		[ "$(awk -F: '/Load Local HITM/ { h = $2 } /Total Shared Cache Lines/ { l = $2 }
			END { print (h > 0 && l > 0) }' c2c)" = 1 ]
fi

# A short program without -c: the samples stand for what was counted, and none for much of it.  (When the periods of a
# start-up's burst were chosen record by record, six of nine samples stood for 87,507 stores each, of 11,178 in all.)
"$SOFTPMU" mem record -q -t store -o short.data "$PROGRAMS/work" 100 >/dev/null || failed=1
stored=$("$SOFTPMU" stat -x, -e mem-stores "$PROGRAMS/work" 100 2>&1 >/dev/null | cut -d, -f1)
"$SOFTPMU" report -i short.data >short.report 2>&1
within "the samples' weights add up to the stores" \
	"$(sed -n 's/^# Event count (approx.): //p' short.report)" "$stored" 5
if command -v perf >/dev/null 2>&1; then
	perf script -i short.data -F period 2>/dev/null >weights
	near "a short program has enough samples without -c" "$(wc -l <weights)" 100 5000
	holds "no sample weighs more than a 25th of the run" "$(sort -n weights | tail -n 1) * 25 < $stored"
	"$SOFTPMU" mem record -q -t store -F 30000 -o fixed.data "$PROGRAMS/work" 100 >/dev/null || failed=1
	holds "with -F, too, no sample weighs more than was counted" \
		"$(perf script -i fixed.data -F period 2>/dev/null | awk '{ n += $1 } END { print n + 0 }') <= $stored"
fi

for core in core2 pentium3 pentium; do
	"$SOFTPMU" mem record --core $core -o no.data true 2>err && failed=1
	check "$core is refused: it has no data addresses" grep -q "$core has no data addresses" err
done
"$SOFTPMU" mem record --core willamette --ldlat 30 -o no.data true 2>err && failed=1
check "--ldlat is refused on NetBurst" grep -q -- '--ldlat' err
"$SOFTPMU" mem record -q --core ivy-bridge -t store -c 13 -o stores.data "$PROGRAMS/sharing" queue 2000 2 >/dev/null ||
	failed=1
perf script -i stores.data -F addr,data_src >list 2>/dev/null
check "ivy-bridge: each precise store has an address" [ "$(wc -l <list)" -gt 50 -a "$(grep -c 'OP STORE' list)" \
	-eq "$(wc -l <list)" -a "$(awk '$1 == "0"' list | wc -l)" -eq 0 ]
"$SOFTPMU" stat -x, --core ivy-bridge -e mem-stores,mem_uops_retired.all_stores -o stores.csv "$PROGRAMS/work" 10 \
	>/dev/null || failed=1
check "mem-stores counts all stores" [ "$(cut -d, -f1 stores.csv | sort -u | wc -l)" -eq 1 ]
"$SOFTPMU" record --core ivy-bridge -e mem-stores -o no.data true 2>err && failed=1
check "mem-stores without PEBS is refused" grep -q ':p' err
check "refused commands make no file" [ ! -e no.data ]
"$SOFTPMU" record -q -e cycles -o cycles.data "$PROGRAMS/work" 1000 >/dev/null || failed=1
"$SOFTPMU" mem report -i cycles.data >/dev/null 2>err
check "mem report of a file without data addresses says so" grep -q 'no data addresses' err
exit $failed
