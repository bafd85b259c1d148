#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# tune --sample: makes the same choice as full detail, from gains that lie near those of full detail.  cost refuses
# --sample, and says why.
. "$TOP/tests/lib.sh"
SOFTPMU_STORE=$work/store		# what it finds goes into a store of its own
export SOFTPMU_STORE
"$SOFTPMU" trace -q -o s awk 'BEGIN { for (i = 0; i < 1500; i++) { k = i * 7919 % 3001; n[k] += length(i k) }
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
refuse "tune --sample --start" "--sample goes" "$SOFTPMU" tune --sample --start 100 true
refuse "cost --sample" "uops around a gap" "$SOFTPMU" cost --sample true
exit $failed
