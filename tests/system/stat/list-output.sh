#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# `softpmu list`, `cores` and `cpuid`: every modelled event and every core that they list can be used.
. "$TOP/tests/lib.sh"
"$SOFTPMU" cores >cores || failed=1
nonzero "cores lists golden-cove and skylake" "$(grep -cE '^  (golden-cove|skylake) ' cores | grep -x 2)"
for core in $(awk '{ print $1 }' cores); do
	"$SOFTPMU" list --core "$core" -j >json || failed=1
	# One JSON object per line. The names of the modelled events:
	sed -n 's/^{"name": "\([^"]*\)".*"modelled": true.*/\1/p' json >names
	case $core in	# the oldest PMUs have few events that the core models
	pentium) least=25 ;;
	pentium3) least=45 ;;
	willamette|prescott) least=30 ;;
	*) least=60 ;;
	esac
	nonzero "$core has at least $least modelled events: $(wc -l <names)" "$([ "$(wc -l <names)" -ge $least ] &&
		echo 1)"
	nonzero "$core: all modelled events can be counted in one run" \
		"$("$SOFTPMU" stat --core "$core" -x, -e "$(paste -sd, names)" -o counts "$PROGRAMS/reps" &&
		[ "$(wc -l <counts)" = "$(wc -l <names)" ] && echo 1)"
	sed -n 's/^{"name": "\([^"]*\)".*"modelled": false.*/\1/p' json >names
	refused=0 all=0
	while read -r name; do
		all=$((all + 1))
		"$SOFTPMU" stat --core "$core" -e "$name" -o counts "$PROGRAMS/reps" || continue
		grep -q "<not supported>" counts && grep -q "not modelled" counts && refused=$((refused + 1))
	done <<-N
	$(head -n 5 names)
	N
	nonzero "$core: what is not modelled is said not to be supported" "$([ $refused = $all ] || [ ! -s names ] &&
		echo 1)"
	sed -n 's/.*"perf": "\([^"]\{1,\}\)".*"modelled": true.*/\1/p' json | tr ',' '\n' >names
	nonzero "$core: perf's generic names can be counted" "$("$SOFTPMU" stat --core "$core" -x, \
		-e "$(paste -sd, names)" -o counts "$PROGRAMS/reps" && echo 1)"
	for generic in cycles instructions branches branch-misses cache-references cache-misses L1-dcache-loads \
		L1-dcache-load-misses; do
		grep -qx $generic names || bad "$core: no $generic"
	done
	# The output of cores CORE is a file for --core.
	"$SOFTPMU" cores "$core" >"./$core-copy.conf"
	"$SOFTPMU" stat -x, --core "$core" -o one "$PROGRAMS/reps" && "$SOFTPMU" stat -x, --core "./$core-copy.conf" \
		-o two "$PROGRAMS/reps"
	nonzero "$core: the output of cores is a core file with the same counts" "$(cmp one two && echo 1)"
	nonzero "$core: cpuid shows leaf 0AH" "$("$SOFTPMU" cpuid --core "$core" | grep -c 'leaf 0AH')"
done
nonzero "list with words shows the events that match" \
	"$("$SOFTPMU" list branch misp | grep -c 'BR_MISP_RETIRED.ALL_BRANCHES')"
nonzero "list with words hides the events that do not match" \
	"$("$SOFTPMU" list branch misp | grep -c 'L1_MISS' | grep -x 0 | sed s/0/1/)"
"$SOFTPMU" list hw >hw; "$SOFTPMU" list cache >cache; "$SOFTPMU" list sw >sw; "$SOFTPMU" list pmu >pmu
has "list hw has cycles" '^  cycles ' hw; hasnt "and no cache's events" L1-dcache hw
has "list cache has L1-dcache-loads" '^  L1-dcache-loads ' cache; hasnt "and no machine's events" MEM_LOAD cache
has "list sw has task-clock" '^  task-clock ' sw; hasnt "and nothing else" '^  cycles' sw
has "list pmu has the machine's events" '^  MEM_LOAD_RETIRED.L1_MISS' pmu; hasnt "and no generic names" '^  cycles' pmu
same "the four are what list prints without a word" "$(cat hw cache sw pmu | grep -c '^  [^ ]')" \
	"$("$SOFTPMU" list | grep -c '^  [^ ]')"
"$SOFTPMU" list metric front >metric; has "list metric has metrics that hold a word" '^  Frontend_Bound' metric
refuse "events of a kernel" "a kernel's" "$SOFTPMU" list tracepoint
"$SOFTPMU" list no-such-thing-at-all >out 2>err; code=$?
nonzero "list with no match fails and says so" "$([ $code != 0 ] && [ ! -s out ] && grep -c no-such-thing-at-all err)"
"$SOFTPMU" list --core no-such-core 2>err; code=$?
nonzero "an unknown core is refused with the names of the known ones" "$([ $code != 0 ] && grep -c skylake err)"
"$SOFTPMU" list >/dev/full 2>err; code=$?
nonzero "list reports a full disk" "$([ $code != 0 ] && grep -c 'write error' err)"
exit $failed
