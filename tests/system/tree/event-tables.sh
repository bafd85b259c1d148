#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# The event tables that tools/events makes are the ones that are checked in.
set -u
command -v python3 >/dev/null || { echo "no python3"; exit 77; }
[ -f /usr/include/perfmon/pfmlib.h ] || { echo "no header of libpfm4 (libpfm4-dev)"; exit 77; }
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
OUT=$work "$TOP/tools/events/generate_events.sh" || exit 1
failed=0 tables=0
for new in "$work"/*.tsv; do
	[ -f "$new" ] || { echo "FAILED no table was made"; exit 1; }
	name=$(basename "$new")
	tables=$((tables + 1))
	cmp "$new" "$TOP/data/events/$name" && echo "ok $name" || { echo "FAILED $name: run tools/events/generate_events.sh"; failed=1; }
done
[ $tables -ge 6 ] || { echo "FAILED only $tables tables"; failed=1; }
exit $failed
