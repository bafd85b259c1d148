#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# cost --sample: what events cost lies near full detail, and inside of the stated intervals; the most expensive event is
# the same; the groups of the decomposition add up to the cycles; two runs print the same.
. "$TOP/tests/lib.sh"
# mawk, which each Debian has: of gawk, which `awk` may be, misses and mispredicts cost the same
awk=$(command -v mawk || echo /usr/bin/awk)
bare_stream s \
	"$awk" 'BEGIN { for (i = 0; i < 3400; i++) { k = i * 7919 % 3001; n[k] += length(i k) }
	for (k in n) s += n[k]; print s }' >out
costs() {	# OUT OPTION...
	out=$1; shift
	"$SOFTPMU" cost -e mispredict,l1_miss,no_forward --no-wrong-path --replay s -o "$out" "$@" || failed=1
}
costs full -x,
costs sampled -x, --sample=32K,4K,4K
costs again -x, --sample=32K,4K,4K
same_files "two sampled runs print the same" sampled again
field() { awk -F, -v e="$2" -v n="$3" '$1 == e { print $n }' "$1"; }
points() { awk -v a="$(field sampled "$1" "$2")" -v b="$(field full "$1" "$2")" 'BEGIN { print 100 * (a - b) }'; }
for e in mispredict l1_miss no_forward; do
	within "$e: count" "$(field sampled $e 2)" "$(field full $e 2)" 10
	# a point, or as much as the interval of the pushouts says
	bound=$(awk -v s="$(field sampled $e 11)" -v half="$(field sampled $e 20)" \
		'BEGIN { b = s * half; print (b > 1 ? b : 1) }')
	near "$e: pushouts, share of the cycles in points" "$(points $e 11)" "-$bound" "$bound"
	near "$e: total time, share of the cycles in points" "$(points $e 12)" -1.5 1.5
done
within "mispredict: duration" "$(field sampled mispredict 4)" "$(field full mispredict 4)" 10
for c in 11 12; do
	most() { awk -F, -v c=$c '$1 != "cpi" && $c > m { m = $c; e = $1 } END { print e }' "$1"; }
	same "the most expensive event by column $c" "$(most sampled)" "$(most full)"
done
same "a sampled line has four columns more" "$(awk -F, 'NR == 1 { print NF }' sampled)" \
	"$(awk -F, 'NR == 1 { print NF + 4 }' full)"
near "mispredict: the interval of its total time, percent" "$(field sampled mispredict 21)" 0.1 30
sum=$(awk -F, '$1 == "cpi" { s += $3 } END { print s }' sampled)
costs table --sample=32K,4K,4K --by=function
within "the groups add up to the cycles" "$sum" \
	"$(sed -n 's/.* instructions, \([0-9]*\) cycles.*/\1/p' table)" 0.1
has "it says how much was measured" "Estimated from [0-9]* windows" table
has "intervals are a table" "^ mispredict  *[0-9.]*% |  *[0-9.]*%  *[0-9.]*%  *[0-9.]*%$" table
has "places add up to the run" "%, of all cycles\|% of all cycles" table
costs json --sample=32K,4K,4K -j
has "intervals in JSON" '"total_time_confidence-95": [0-9.]*' json
"$SOFTPMU" cost -e mispredict --sample -o live "$PROGRAMS/phases" 1
has "a live program is recorded first, then sampled" "Estimated from" live
# machines that differ in timing share a leader: what else runs with them changes nothing
shared() {	# OUT OPTION...
	out=$1; shift
	"$SOFTPMU" cost -x, --sample=32K,4K,4K --replay s -o "$out" "$@" || failed=1
}
shared one --tag l1_miss --change lock.penalty=33
shared two --tag l1_miss --change lock.penalty=33 -e no_forward,icache_miss,store_buffer
same "a replay is the same whatever it runs with" "$(grep '^l1_miss' one)" "$(grep '^l1_miss' two)"
# the same uops twice: their costs cannot be told apart; those of mispredicts and of blocked loads can
ties() {	# OUT OPTION...
	out=$1; shift
	"$SOFTPMU" cost --no-total --no-wrong-path --sample=32K,4K,4K --replay s -o "$out" "$@" || failed=1
}
ties tied --tag l1_miss --tag l1_miss -e mispredict
has "a tie is said" "^   l1_miss  *l1_miss  *\([0-9.]*\) - \1 +- [0-9.]*$" tied
hasnt "only that" "^   mispredict .* - \| - .* mispredict" tied
ties tied -x, --tag l1_miss --tag l1_miss
has "a tie in CSV" "^tie,l1_miss,l1_miss,0.0000,[0-9.]*$" tied
ties tied -j --tag l1_miss --tag l1_miss
has "a tie in JSON" '{"tie": \["l1_miss", "l1_miss"\], "difference_points": 0.0000, "confidence-95": [0-9.]*}' tied
refuse "cost --sample --graph" "exclude each other" "$SOFTPMU" cost --sample --graph true
refuse "cost --sample --start" "go with neither --sample" "$SOFTPMU" cost --sample --start 100 true
# A run that is told to end, soon and later: a table of what was measured until then, or none.
for after in 0.2 0.6 1.5 3; do
	"$SOFTPMU" cost --sample=4000,500,500 --replay s -o table 2>err &
	pid=$!
	sleep $after
	for _ in 1 2 3; do
		kill -TERM $pid 2>/dev/null
		sleep 0.05
	done
	wait $pid
	case $? in 0 | 1 | 143) ok "ended after $after s" ;; *) bad "ended after $after s" err ;; esac
done
exit $failed
