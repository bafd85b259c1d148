#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# docs/reference/pentium4-events.md is what tools/docs/pentium4_escrs.py makes of the event tables and the wiring, and
# it has a row for each of the 45 ESCRs.
. "$TOP/tests/lib.sh"
command -v python3 >/dev/null || skip "no python3"
page=$TOP/docs/reference/pentium4-events.md
python3 "$TOP/tools/docs/pentium4_escrs.py" "$TOP" >made || bad "the page is made"
cmp made "$page" && ok "the page is the generated one" ||
	bad "run tools/docs/pentium4_escrs.py >docs/reference/pentium4-events.md"
rows=$(sed -n 's/^| `\([A-Z0-9]*_ESCR[0-5]\)` |.*/\1/p' made | sort -u | wc -l)
[ "$rows" -eq 45 ] && ok "each of the 45 ESCRs has a row" || bad "$rows ESCRs have a row"
exit $failed
