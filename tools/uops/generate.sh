#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Makes the rows of instruction forms in data/uops/*.tsv anew from LLVM's scheduling models and the measurements in DATA, see
# tools/uops/generate.py.  The rows above its mark are written by hand and stay.  Takes about two minutes.
#
#   DATA=../shared/data tools/uops/generate.sh [UARCH...]		(default: all; zen4, zen5: zen.py; core2, pentium3, willamette, prescott and pentium: older.py)
#
# Wants Debian's llvm-19 (apt-get install llvm-19), python3 and a built libsoftpmu.a (make).  The same inputs give the same files.
set -eu
top=$(cd "$(dirname "$0")/../.." && pwd)
cd "$top"
data=${DATA:-../shared/data}
for tool in llvm-mc-19 llvm-exegesis-19 python3; do
	command -v "$tool" >/dev/null || { echo "generate.sh: $tool is not there (apt-get install llvm-19 python3)" >&2; exit 1; }
done
[ -d "$data/instlat" ] || { echo "generate.sh: no measurements in $data/instlat (DATA=...)" >&2; exit 1; }
[ -f build/libsoftpmu.a ] || { echo "generate.sh: build first (make)" >&2; exit 1; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT INT TERM
${CC:-gcc} -std=gnu17 -O1 -Wall -Wextra -D_GNU_SOURCE -Iinclude -Isrc -o "$work/forms" tools/uops/forms.c build/libsoftpmu.a -lZydis
python3 -B tools/uops/generate.py "$top" "$work/forms" "$data" "$work" "$@"
