#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Pushout counters as events (pushout/.../), on saved streams. The three ways to load a threshold count the same on
# every preset; a tag's count equals that of `softpmu cost`; there is a sample per period of the count, and its weight
# is the slot's pushout; events that the counter cannot count are refused.
. "$TOP/tests/lib.sh"
stream=$work/stream
"$SOFTPMU" stat --core golden-cove -e cycles --save-stream "$stream" -- gzip -c "$TOP/README.md" >/dev/null 2>&1 ||
	{ echo "FAILED no stream"; exit 1; }

count() {	# CORE EVENTS: prints the counts, one per line
	"$SOFTPMU" stat --core "$1" -x, -e "$2" --replay "$stream" 2>&1 >/dev/null | cut -d, -f1
}

for core in golden-cove skylake zen4 zen5 prescott pentium3 pentium core2; do
	list=
	for way in down up up-to; do
		list=$list,pushout/threshold=1,way=$way/,pushout/threshold=7,way=$way/
	done
	set -- $(count $core "${list#,}")
	check "$core: down, up and up-to count the same: $*" [ $# = 6 -a "${1:-0}" -gt "${2:-0}" -a "$1,$2" = "$3,$4" \
		-a "$1,$2" = "$5,$6" ]
done

# softpmu cost measures the same.
for tag in mispredict 'load & !store' 'l1d_miss | dtlb_miss'; do
	"$SOFTPMU" cost --core golden-cove --no-total -x, -o "$work/cost" --tag "$tag" --replay "$stream"
	direct=$(awk -F, -v t="$tag" '$1 == t { print $2 }' "$work/cost")
	counted=$(count golden-cove "pushout/tag=$tag,threshold=0/")
	check "tag $tag: the event counts $counted slots, as softpmu cost does ($direct)" [ "$direct" = "$counted" ]
done

# Every store that retires becomes visible, except the stores that are still in the store buffer when the program ends.
set -- $(count golden-cove 'pushout/at=visible,threshold=0/,pushout/tag=store,threshold=0/')
check "as many stores become visible as retire, except the last few: $*" \
	[ "${1:-1}" -le "${2:-0}" -a $((${1:-0} + 128)) \
	-ge "${2:-1000}" ]

# Every slot passes fetch, decode and retirement, so the counts at the three places are equal.
for core in golden-cove skylake prescott pentium core2; do
	set -- $(count $core 'pushout/threshold=0/,pushout/at=decode,threshold=0/,pushout/at=fetch,threshold=0/')
	check "$core: as many slots retire as are decoded and fetched: $*" [ "$*" = "${1:-none} ${1:-none} ${1:-none}" ]
done

total=$(count golden-cove pushout/tag=mispredict,threshold=8/)
said=$("$SOFTPMU" record --core golden-cove -e pushout/tag=mispredict,threshold=8,period=100/ -o "$work/data" \
	--replay "$stream" 2>&1 >/dev/null)
samples=$(echo "$said" | sed -n 's/.*(\([0-9]*\) samples).*/\1/p')
check "a sample for every 100 of $total slots: $samples" [ "$samples" = $((total / 100)) ]
if command -v perf >/dev/null 2>&1; then
	perf script -i "$work/data" -F ip,weight >"$work/script" 2>/dev/null
	ok_lines=$(awk '$1 >= 8 && $1 < 1000 { n++ } END { print n + 0 }' "$work/script")
	check "the weight of each sample is a pushout at or above the threshold: $ok_lines samples" \
		[ "$ok_lines" = "$samples" ]
fi

# The pushout columns of report: their samples and shares are complete, no median is below the threshold, no sum is too
# small, and the rows are in order.
"$SOFTPMU" report -i "$work/data" --json -s symbol,pushout,pushout_median,pushout_share >"$work/json"
columns=$(sed -n 's/.*"samples": \([0-9]*\), "symbol".*"pushout": \([0-9]*\), "pushout_median": '\
'\([0-9]*\), "pushout_share": \([0-9.]*\).*/\1 \2 \3 \4/p' \
	"$work/json" |
	awk '{ n += $1; share += $4; low += $3 < 8; wrong += $2 < 100 * 8 * $1 || (NR > 1 && $2 > last);
		last = $2 } END { printf "%d %.1f %d %d", n, share, low, wrong }')
check "report's pushout columns are consistent: $columns" \
	[ "$columns" = "$samples 100.0 0 0" ]

refuse_softpmu() {	# PATTERN ARGUMENT...
	pattern=$1; shift
	refuse "$*" "$pattern" "$SOFTPMU" "$@"
}
refuse_softpmu "no interrupt" record --core pentium -e pushout/period=10/ -o "$work/no" -- true
refuse_softpmu "does not fit a counter's registers" stat -e 'pushout/tag=(load|store) & (l2_miss|lock)/' -- true
refuse_softpmu "nearest: l2_miss" stat -e 'pushout/tag=l2_mis/' -- true
refuse_softpmu "never fires" stat -e 'pushout/threshold=0,way=up/' -- true
refuse_softpmu "give one of retire" stat -e 'pushout/at=dispatch/' -- true
refuse_softpmu "unknown term" stat -e 'pushout/foo=1/' -- true
"$SOFTPMU" record -q -e cycles -o "$work/plain" --replay "$stream" 2>/dev/null >/dev/null
refuse_softpmu "does not say by how much" report -i "$work/plain" -s pushout
refuse_softpmu "do not take turns" stat --one-pmu -e pushout,cycles -- true
exit "$failed"
