#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# `softpmu list`, `cores`, `cpuid`: what they list can be used, and nothing is run for it.
. "$TOP/tests/lib.sh"
"$SOFTPMU" cores >cores || failed=1
nonzero "golden-cove and skylake are there" "$(grep -cE '^  (golden-cove|skylake) ' cores | grep -x 2)"
for core in $(awk '{ print $1 }' cores); do
	"$SOFTPMU" list --core "$core" -j >json || failed=1
	# one object a line: modelled events, by name
	sed -n 's/^{"name": "\([^"]*\)".*"modelled": true.*/\1/p' json >names
	case $core in	# the oldest PMUs have few events of which the core knows the signal
	pentium) least=25 ;;
	pentium3) least=45 ;;
	willamette|prescott) least=30 ;;
	*) least=60 ;;
	esac
	nonzero "$core has at least $least modelled events: $(wc -l <names)" "$([ "$(wc -l <names)" -ge $least ] &&
		echo 1)"
	nonzero "$core: every modelled event can be counted, in one run" \
		"$("$SOFTPMU" stat --core "$core" -x, -e "$(paste -sd, names)" -o counts "$PROGRAMS/reps" &&
		[ "$(wc -l <counts)" = "$(wc -l <names)" ] && echo 1)"
	sed -n 's/^{"name": "\([^"]*\)".*"modelled": false.*/\1/p' json >names
	refused=0 all=0
	while read -r name; do
		all=$((all + 1))
		"$SOFTPMU" stat --core "$core" -e "$name" -o counts "$PROGRAMS/reps" 2>err && continue
		grep -q "not modelled" err && refused=$((refused + 1))
	done <<-N
	$(head -n 5 names)
	N
	nonzero "$core: events that are not modelled are refused by name" "$([ $refused = $all ] || [ ! -s names ] &&
		echo 1)"
	sed -n 's/.*"perf": "\([^"]\{1,\}\)".*"modelled": true.*/\1/p' json | tr ',' '\n' >names
	nonzero "$core: perf's generic names can be counted" "$("$SOFTPMU" stat --core "$core" -x, \
		-e "$(paste -sd, names)" -o counts "$PROGRAMS/reps" && echo 1)"
	for generic in cycles instructions branches branch-misses cache-references cache-misses L1-dcache-loads \
		L1-dcache-load-misses; do
		grep -qx $generic names || bad "$core: no $generic"
	done
	# a core's file round-trips
	"$SOFTPMU" cores "$core" >"./$core-copy.conf"
	"$SOFTPMU" stat -x, --core "$core" -o one "$PROGRAMS/reps" && "$SOFTPMU" stat -x, --core "./$core-copy.conf" \
		-o two "$PROGRAMS/reps"
	nonzero "$core: what cores prints is a core's file" "$(cmp one two && echo 1)"
	nonzero "$core: cpuid" "$("$SOFTPMU" cpuid --core "$core" | grep -c 'leaf 0AH')"
done
nonzero "words filter" "$("$SOFTPMU" list branch misp | grep -c 'BR_MISP_RETIRED.ALL_BRANCHES')"
nonzero "words filter out" "$("$SOFTPMU" list branch misp | grep -c 'L1_MISS' | grep -x 0 | sed s/0/1/)"
"$SOFTPMU" list no-such-thing-at-all >out 2>err; code=$?
nonzero "nothing found is said" "$([ $code != 0 ] && [ ! -s out ] && grep -c no-such-thing-at-all err)"
"$SOFTPMU" list --core no-such-core 2>err; code=$?
nonzero "an unknown core is refused with the known ones" "$([ $code != 0 ] && grep -c skylake err)"
"$SOFTPMU" list >/dev/full 2>err; code=$?
nonzero "a full disk is said" "$([ $code != 0 ] && grep -c 'write error' err)"
exit $failed
