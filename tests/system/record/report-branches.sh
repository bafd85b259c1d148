#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# softpmu report with the sort keys of branch stacks, against perf report on the same file. Debian's perf 6.1.187 dies
# of SIGSEGV if a sort key contains "symbol" and the branches of the file have cycles, whichever program wrote the file:
# such keys make it call hist__account_cycles, which drops references to maps that ip__resolve_ams of 6.1 never took
# (the drops belong to a fix of a later kernel). perf's default keys, which are the same, do not reach this code, nor
# does a file recorded with -j no_cycles.
. "$TOP/tests/lib.sh"
need perf
export HOME="$work" PERF_CONFIG=/dev/null PAGER=cat LC_ALL=C
# rows: prints the rows of either table with single blanks; perf truncates one long name
rows() { sed "s/vgpreload_core-amd64-linux.so/vgpreload_core-amd64/g" |
	sed '/^#/d; /^ *$/d; s/  */ /g; s/^ //; s/ *$//' | sort; }
as_perf() {	# CLAIM OPTIONS PERF-OPTIONS: softpmu report and perf report print the same rows
	# shellcheck disable=SC2086
	"$SOFTPMU" report -i b.data $2 2>err | rows >ours
	# shellcheck disable=SC2086
	perf report -i b.data --stdio $3 2>/dev/null | rows |
		sed 's/ [0-9.]* \[ *[0-9.]*%\]$//; s/\(0x[0-9a-f]*\) -$/\1/' >theirs
	check "$1: report prints $(wc -l <ours) rows" [ -s ours -a ! -s err ]
	check "$1: the rows equal perf's" cmp -s ours theirs || diff ours theirs | head -n 6
}
# perf has no names of PLT entries in a static program: 6.1 says _init, 6.12 prints the address.  So symbols are
# compared by their numbers of samples, with one name for all of the PLT.
# shellcheck disable=SC2046	# two numbers
set -- $(readelf -SW "$PROGRAMS/work-static" | awk '$2 == ".plt" || $3 == ".plt" {
	for (i = 1; $i != "PROGBITS"; i++); print $(i + 2), $(i + 3) }')
counts() { perl -pe 'BEGIN { ($from, $size) = map { hex } splice @ARGV, 0, 2 }
	s/(\[\.\]) (_init|\S+\@plt)(?= |$)/$1 PLT/g;
	s/0x([0-9a-f]{16})/hex($1) >= $from && hex($1) < $from + $size ? "PLT" : $&/ge' "$plt_from" "$plt_size" |
	awk '{ n = $2; sub(/^[^ ]* [^ ]* /, ""); sum[$0] += n } END { for (k in sum) print sum[k], k }' | sort; }
plt_from=$1 plt_size=$2
addresses() { perl -ne 'BEGIN { ($from, $size) = map { hex } splice @ARGV, 0, 2 }
	while (/0x([0-9a-f]{16})/g) { print if hex($1) >= $from && hex($1) < $from + $size }' "$plt_from" "$plt_size"; }
as_perf_counts() {	# CLAIM OPTIONS PERF-OPTIONS
	# shellcheck disable=SC2086
	"$SOFTPMU" report -i b.data -n $2 2>err | rows >named
	counts <named >ours
	# shellcheck disable=SC2086
	perf report -i b.data -n --stdio $3 2>/dev/null | rows |
		sed 's/ [0-9.]* \[ *[0-9.]*%\]$//; s/\(0x[0-9a-f]*\) -$/\1/' | counts >theirs
	check "$1: report prints $(wc -l <ours) rows" [ -s ours -a ! -s err ]
	check "$1: the counts equal perf's" cmp -s ours theirs || diff ours theirs | head -n 6
	same "$1: PLT entries have names" "$(addresses <named)" ""
}
for program in work-static work; do
	"$SOFTPMU" record -q --core skylake -b -c 5003 -o b.data "$PROGRAMS/$program" 500 >/dev/null || exit 1
	as_perf "$program, objects" '-s dso_from,dso_to' '-s dso_from,dso_to'
	as_perf "$program, threads" '-s comm,pid,dso_to' '-s comm,pid,dso_to'
	# perf's comparison of the key mispredict is no order (a > b and b > a if they differ), so its table may
	# contain a row twice. The reference is counted from perf script.
	perf script -i b.data -F brstack 2>/dev/null | tr ' ' '\n' |
		awk -F/ 'NF > 3 { n[$3 == "M" ? "Y" : "N"]++ } END { for (k in n) print k, n[k] }' | sort >flags
	check "$program, mispredict: the counts are those of the branch stacks" \
		[ "$("$SOFTPMU" report -i b.data -s mispredict --json |
		jq -r '.events[0].entries[] | "\(.mispredict) \(.samples)"' | sort)" = "$(cat flags)" ]
	entries=$(perf script -i b.data -F brstack 2>/dev/null | wc -w)
	check "$program: report counts every branch of every stack ($entries)" \
		[ "$("$SOFTPMU" report -i b.data -s symbol_from,symbol_to --json |
		jq '.events[0] | .period, .samples, ([.entries[].samples] | add)' | sort -u)" = "$entries" ]
	[ $program = work ] && continue		# perf names some PLT entries _init (record-perf-reads.sh)
	as_perf_counts "$program, default keys" -b ''
	"$SOFTPMU" record -q --core skylake -j any,u,no_cycles -c 5003 -o b.data "$PROGRAMS/$program" 500 >/dev/null ||
		exit 1
	as_perf_counts "$program, from and to" '-s symbol_from,symbol_to' '-s symbol_from,symbol_to'
	as_perf_counts "$program, to" '-s symbol_to' '-s symbol_to'
done
"$SOFTPMU" record -q --core skylake -o plain.data "$PROGRAMS/work" 500 >/dev/null || exit 1
"$SOFTPMU" report -i plain.data -s symbol_from 2>err && failed=1
check "report of a file without branch stacks names the option that records them" \
	grep -q 'plain.data has no branch stacks: record -b keeps them' \
	err
"$SOFTPMU" report -i plain.data -s symbol_form 2>err && failed=1
check "an unknown key is refused with the known ones" grep -q 'symbol_from, dso_to, symbol_to, mispredict, cycles' err
exit $failed
