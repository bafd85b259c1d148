#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Events that count one kind each: software prefetches, register copies, page walks by page size. The programs execute
# a known number of each.
. "$TOP/tests/lib.sh"
# counts CORE EVENTS PROGRAM...: prints the counts on one line. Without the wrong path, which would add some of each.
counts() {
	core=$1 events=$2; shift 2
	timeout 200 "$SOFTPMU" stat -x, -o counts.csv --core "$core" --no-wrong-path -e "$events" -- "$@" \
		>/dev/null 2>err || cat err
	cut -d, -f1 counts.csv | tr '\n' ' ' | sed 's/ $//'
}
P=$PROGRAMS/kinds
for core in skylake golden-cove; do
	e=sw_prefetch_access
	same "$core: each kind of software prefetch is counted exactly" \
		"$(counts $core $e.nta,$e.t0,$e.t1_t2,$e.prefetchw,$e.any "$P")" \
		"3000 5000 3000 1000 12000"
done
same "core2: each kind of software prefetch is counted exactly" \
	"$(counts core2 sse_pre_exec.nta,sse_pre_exec.l1,sse_pre_exec.l2 "$P")" "3000 5000 3000"
e=emon_kni_pref_dispatched
same "pentium3: each kind of software prefetch is counted exactly" \
	"$(counts pentium3 $e.nta,$e.t1,$e.t2 "$P")" "3000 2000 1000"

e=move_elimination
set -- $(counts skylake $e.int_eliminated,$e.int_not_eliminated "$P")
check "skylake: each copy of a general register is eliminated ($1) or not ($2)" \
	[ $(($1 + $2)) -eq 9000 -a "$1" -ge 2000 -a "$2" -ge 1000 ]
for core in skylake ivy-bridge; do
	set -- $(counts $core $e.simd_eliminated,$e.simd_not_eliminated "$P")
	check "$core: each copy of a vector register is eliminated ($1) or not ($2)" \
		[ $(($1 + $2)) -eq 1000 -a "$1" -gt 0 ]
done

# Random reads of 64 MB, mapped by 4 KB pages and then by large pages.
e=dtlb_load_misses
for core in skylake golden-cove; do
	E=$e.walk_completed_4k,$e.walk_completed_2m_4m,$e.walk_completed,itlb_misses.walk_completed_4k,\
itlb_misses.walk_completed,dtlb_store_misses.walk_completed_4k,dtlb_store_misses.walk_completed_2m_4m,\
dtlb_store_misses.walk_completed
	set -- $(counts $core $E "$PROGRAMS/pages" 64 20000)
	check "$core: without large pages, all page walks are for 4 KB pages ($1 of $3)" \
		[ "$1" -gt 15000 -a "$1" -eq "$3" -a "$2" -eq 0 -a "$4" -eq "$5" ]
	check "$core: a store page walk for each 4 KB page ($6)" [ "$6" -ge 16384 -a "$6" -eq "$8" -a "$7" -eq 0 ]
	set -- $(GLIBC_TUNABLES=glibc.malloc.hugetlb=1 counts $core $E "$PROGRAMS/pages" 64 20000)
	check "$core: with large pages, a store page walk for each of 32 pages ($7 large, $6 small)" \
		[ "$7" -ge 30 -a "$7" -le 33 -a $(($6 + $7)) -eq "$8" -a $(($1 + $2)) -eq "$3" -a "$1" -lt 1000 ]
done
set -- $(counts skylake itlb_misses.walk_completed_4k "$PROGRAMS/code_pages-2")
check "skylake: a page walk for each page of code ($1)" [ "$1" -ge 1024 -a "$1" -le 1030 ]
set -- $("$SOFTPMU" stat --core skylake --set memory.page=1G -x, -e $e.walk_completed_1g,$e.walk_completed \
	"$PROGRAMS/pages" 64 20000 2>&1 >/dev/null | cut -d, -f1)
check "skylake: with memory.page=1G, all page walks are for 1 GB pages ($1 of $2)" [ "$1" -gt 0 -a "$1" -eq "$2" ]
exit $failed
