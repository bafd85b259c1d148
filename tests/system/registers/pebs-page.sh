#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# The examples of docs/howto/pebs.md print what the page shows: reload registers of an inner machine, embedded and under
# softpmu/client.h; and PEBS on fixed counters and on events that are not precise, by the library and by record.
. "$TOP/tests/lib.sh"
page="$TOP/docs/howto/pebs.md"
# shown: what comes in stands in the page, line by line
shown() {
	while read -r line; do grep -qF -- "$line" "$page" || echo "not in the page: $line"; done
}
gcc -O1 -Wall -Wextra -Werror -I"$TOP/include" -o inner_machine "$TOP/docs/examples/inner_machine.c" || failed=1
with=$("$SOFTPMU" stat --core golden-cove -o counts -- ./inner_machine)
without=$("$SOFTPMU" stat --core golden-cove -o counts -- ./inner_machine x)
same "an inner machine gets its records without reset values" "${with##*, }" "PEBS records: 48"
same "another machine gets one" "${without##*, }" "PEBS records: 1"
same "the page shows what the client prints" "$(printf '%s\n' "$with" "$without" | shown)" ""
same "a machine before Ice Lake has no inner machine" \
	"$("$SOFTPMU" stat --core skylake -o counts -- ./inner_machine)" \
	"needs softpmu and a machine from Ice Lake on"

case $SOFTPMU in
*/build/san/*) ;;	# the library needs the sanitizers' own
*)
	gcc -std=c11 -O1 -Wall -Wextra -Werror -I"$TOP/include" "$TOP/examples/embed/inner.c" \
		"$(dirname "$SOFTPMU")/libsoftpmu.a" -o inner || failed=1
	./inner "$TOP/data/events/golden-cove.tsv" >out
	same "the page shows what the embedding program prints" "$(shown <out)" ""
	same "it prints 8 lines" "$(wc -l <out)" 8
	same "a table without the registers is refused in one line" \
		"$(./inner "$TOP/data/events/skylake.tsv" 2>&1 >/dev/null)" "inner: RELOAD_FIXED_CTR: status -2" ;;
esac

if runs_32; then
	gcc -m32 -nostdlib -static -DROUNDS=2000 -o l1_miss "$TOP/tests/programs/l1_miss.S" || failed=1
	"$SOFTPMU" record -q --core golden-cove -e instructions:ppp,cycles:p,UOPS_DISPATCHED.PORT_2_3_10:p -c 1009 \
		-o s.data \
		-- ./l1_miss
	same "the page shows what record takes" "$("$SOFTPMU" report -i s.data -s symbol -n 2>/dev/null |
		grep -e '^# Samples' -e the_load | shown)" ""
	"$SOFTPMU" record --core skylake -e UOPS_DISPATCHED_PORT.PORT_0:p -c 1000 ./l1_miss 2>err
	same "the page shows what Skylake refuses" "$(shown <err)" ""
fi
"$SOFTPMU" msr --pmu golden-cove -e cycles:p -c 1009 | grep -E '^3(F1|0A)H' >lines
same "the page shows the registers" "$(shown <lines)" ""
exit $failed
