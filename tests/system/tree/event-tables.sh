#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# The event tables in the repository equal the ones that tools/events generates.
. "$TOP/tests/lib.sh"
command -v python3 >/dev/null || skip "no python3"
[ -f /usr/include/perfmon/pfmlib.h ] || skip "no header of libpfm4 (libpfm4-dev)"
OUT=$work "$TOP/tools/events/generate_events.sh" 2>err || {
	# The tables are those of libpfm4 4.13.0; Debian 13 has a later snapshot, with more events.
	grep -q 'meaning.py has no entry for' err && skip "this libpfm4 is not the tables': $(tail -n 1 err)"
	cat err
	exit 1
}
tables=0
for new in "$work"/*.tsv; do
	[ -f "$new" ] || { echo "FAILED no table was made"; exit 1; }
	name=$(basename "$new")
	tables=$((tables + 1))
	cmp "$new" "$TOP/data/events/$name" && ok "$name is the generated table" ||
		bad "$name: run tools/events/generate_events.sh"
done
[ $tables -ge 6 ] || bad "only $tables tables"
exit $failed
