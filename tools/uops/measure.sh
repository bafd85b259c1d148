#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Measures instruction forms on this machine for generate_uops.sh: latency and clocks of each (see
# tools/uops/measure.py). Takes some minutes.  The machine should be quiet, though each figure is the least of three
# times 60 runs beside a chain of known cycles.
#
#   tools/uops/measure.sh tools/uops/zen4-host.tsv
#	on a Zen 4; zen3-host.tsv on a Zen 3, zen5-host.tsv on a Zen 5
#   RUN='flock LOCK chrt -f 50 taskset -c 0' tools/uops/measure.sh FILE
#	RUN: the command that runs the measuring program, 500 bodies at a time
#   ONLY='^MULX' tools/uops/measure.sh FILE
#	measures again what matches; the rest of FILE stays
#
# Needs Debian's llvm-19 (apt-get install llvm-19), python3 and a built libsoftpmu.a (make).
set -eu
[ $# = 1 ] || { echo "usage: measure.sh FILE" >&2; exit 2; }
result=$(realpath "$1")
cd "$(dirname "$0")/../.."
for tool in llvm-mc-19 python3; do
	command -v "$tool" >/dev/null || {
		echo "measure.sh: $tool is missing: run apt-get install llvm-19 python3" >&2; exit 1; }
done
[ -f build/libsoftpmu.a ] || { echo "measure.sh: build/libsoftpmu.a is missing: run make first" >&2; exit 1; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT INT TERM
${CC:-gcc} -std=gnu17 -O1 -Wall -Wextra -D_GNU_SOURCE -Iinclude -Isrc -o "$work/forms" tools/uops/list_forms.c \
	build/libsoftpmu.a -lZydis
${CC:-gcc} -std=gnu17 -O1 -Wall -Wextra -D_GNU_SOURCE -o "$work/measure" tools/uops/measure.c
python3 -B tools/uops/measure.py "$work/forms" "$work/measure" data/uops/golden-cove.tsv "$result"
