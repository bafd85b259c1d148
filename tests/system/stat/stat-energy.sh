#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# stat --energy: the energy of a run is that of tune's model; a sampled run estimates it; what it does not go with is
# refused.
. "$TOP/tests/lib.sh"
bare_stream s /usr/bin/awk 'BEGIN {
	for (i = 0; i < 5000; i++) { k = i * 7919 % 3001; n[k] += length(i k) }
	for (k in n) s += n[k]; print s }' >out
energy() { sed -n 's/.*"counter-value" : "\([0-9.]*\)", "unit" : "nJ", "event" : "energy".*/\1/p' "$1"; }

"$SOFTPMU" stat -j -e cycles --energy --detail -o full --replay s
"$SOFTPMU" stat -j -e cycles --detail -o bare --replay s
same "cycles are the same with and without it" "$(head -n 1 full)" "$(cat bare)"
SOFTPMU_STORE=$work/store "$SOFTPMU" tune -j -o tune --no-profile --features l2.size --replay s >/dev/null 2>&1
promised=$(jq -r 'select(.before.energy) | .before.energy' tune 2>/dev/null | head -n 1)
[ -n "$promised" ] || promised=$(grep -o '"energy_nj": *[0-9.]*' tune | head -n 1 | sed 's/.* //')
[ -z "$promised" ] || within "the energy is what tune says" "$(energy full)" "$promised" 0.01
"$SOFTPMU" stat -j -e cycles --energy --sample=20K,1000,1000 -o sampled --replay s
within "a sampled run estimates it" "$(energy sampled)" "$(energy full)" 6
"$SOFTPMU" stat -j -e cycles --energy --detail --feature prefetch.l2_streamer=off --set l2.size=512K -o other --replay s
holds "another machine takes another energy" "$(energy other) != $(energy full) && $(energy other) > 0"
for option in "-I 1" --cut --per-thread --per-region "--region x" --topdown; do
	# shellcheck disable=SC2086	# words
	refuse "--energy with $option" 'energy is of whole runs' "$SOFTPMU" stat --energy $option --replay s
done
exit $failed
