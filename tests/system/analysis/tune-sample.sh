#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# tune --sample: makes the same choice as full detail, from gains that lie near those of full detail.  Every run of it
# is sampled, the first one, too.
. "$TOP/tests/lib.sh"
SOFTPMU_STORE=$work/store		# what it finds goes into a store of its own
export SOFTPMU_STORE
bare_stream s /usr/bin/awk 'BEGIN {
	for (i = 0; i < 1500; i++) { k = i * 7919 % 3001; n[k] += length(i k) }
	for (k in n) s += n[k]; print s }' >out
search() {	# OUT OPTION...
	out=$1; shift
	"$SOFTPMU" tune --fresh --state state --features dsb.size,prefetch.l1d_ip --no-prune --no-wrong-path \
		--replay s -o "$out" "$@" || failed=1
}
search full
search sampled --sample=32K,4K,4K
search again --sample=32K,4K,4K
same_files "two sampled searches print the same" sampled again
same "the same choice" "$(grep Choice sampled)" "$(grep Choice full)"
gain() { awk '$1 == "dsb.size" && $2 == "1/2" { print $3 + 0 }' "$1"; }
holds "half a uop cache costs $(gain full) %, estimated as $(gain sampled) %" \
	"$(gain full) > 1 && ($(gain sampled) - $(gain full)) ^ 2 < ($(gain full) / 3) ^ 2"
has "it says how much was measured" "Estimated from [0-9]* windows; [0-9.]*% of the instructions were measured" \
	sampled
cycles() { sed -n 's/.* instructions, \([0-9]*\) cycles,.*/\1/p' "$1"; }
within "cycles of the first run" "$(cycles sampled)" "$(cycles full)" 3
differs=$([ "$(cycles sampled)" = "$(cycles full)" ] || echo yes)
same "the first run is sampled, too" "$differs" yes
has "gains have intervals" "^ dsb.size  *1/2 .* +- [0-9.]*%$" sampled
has "it says what the intervals leave open" "^   No tie: by its 95 % interval\|^   Ties: by their 95 % intervals" \
	sampled
hasnt "full detail has no ties" "[Tt]ies\{0,1\}:" full
"$SOFTPMU" tune --state state --features dsb.size,prefetch.l1d_ip --no-prune --no-wrong-path --replay s -o known \
	--sample=32K,4K,4K || failed=1
has "gains that are known from before have no interval, and are ties" "^ .* unknown  *dsb.size=1/2" known
# replays that read the stream together are the same as alone
search alone --sample=32K,4K,4K --jobs 1
same_files "one replay at a time" sampled alone
"$SOFTPMU" tune --fresh --state state --features dsb.size --no-prune --no-wrong-path --sample -o live \
	"$PROGRAMS/phases" 1
has "a live program is recorded first, then sampled" "Estimated from" live
refuse "tune --sample --start" "go with neither --sample" "$SOFTPMU" tune --sample --start 100 true
exit $failed
