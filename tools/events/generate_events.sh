#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Makes the event tables of Nehalem to Ice Lake in data/events (tools/events/generate_events.py), in a second or two.
#
#   [OUT=FOLDER] tools/events/generate_events.sh [TABLE...]		(default: all of them, into data/events)
#
# Needs Debian's libpfm4-dev 4.13 and python3.  The same inputs give the same files.
set -eu
top=$(cd "$(dirname "$0")/../.." && pwd)
command -v python3 >/dev/null || { echo "generate_events.sh: python3 not found (apt-get install python3)" >&2; exit 1; }
[ -f /usr/include/perfmon/pfmlib.h ] ||
	{ echo "generate_events.sh: libpfm4's header not found (apt-get install libpfm4-dev)" >&2; exit 1; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT INT TERM
${CC:-gcc} -std=gnu17 -O1 -Wall -Wextra -o "$work/libpfm_list" "$top/tools/events/libpfm_list.c" -lpfm
${CC:-gcc} -std=gnu17 -O1 -Wall -Wextra -D_GNU_SOURCE -I"$top/include" -I"$top/src" -o "$work/offcore_reason" \
	"$top/tools/events/offcore_reason.c" "$top/src/pmu/families/offcore.c"
python3 -B "$top/tools/events/generate_events.py" "${OUT:-$top/data/events}" "$work/libpfm_list" "$@"
