#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Makes the rows of instruction forms in data/uops/*.tsv anew from LLVM's scheduling models and the measurements in DATA, see
# tools/uops/generate_uops.py.  The rows above its mark are written by hand and stay.  Takes about two minutes.
#
#   DATA=../shared/data tools/uops/generate_uops.sh [UARCH...]		(default: all; zen4, zen5: zen.py; core2, pentium3, willamette, prescott and pentium: older.py)
#
#   FOLDS=N DATA=../shared/data tools/uops/generate_uops.sh UARCH...		(core2, pentium3, willamette, prescott, pentium)
#
# judges the rules of older.py by the rows that they may see, and writes no table: leaves every Nth of these rows out in turn (never the
# fifth that is held out), and prints how many of those left out a table of the others gets right (MISSED=1: which it does not).
#
# Wants Debian's llvm-19 (apt-get install llvm-19), python3 and a built libsoftpmu.a (make).  The same inputs give the same files.
set -eu
top=$(cd "$(dirname "$0")/../.." && pwd)
cd "$top"
data=${DATA:-../shared/data}
for tool in llvm-mc-19 llvm-exegesis-19 python3; do
	command -v "$tool" >/dev/null || { echo "generate_uops.sh: $tool is not there (apt-get install llvm-19 python3)" >&2; exit 1; }
done
[ -d "$data/instlat" ] || { echo "generate_uops.sh: no measurements in $data/instlat (DATA=...)" >&2; exit 1; }
[ -f build/libsoftpmu.a ] || { echo "generate_uops.sh: build first (make)" >&2; exit 1; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT INT TERM
${CC:-gcc} -std=gnu17 -O1 -Wall -Wextra -D_GNU_SOURCE -Iinclude -Isrc -o "$work/forms" tools/uops/list_forms.c build/libsoftpmu.a -lZydis
if [ -z "${FOLDS:-}" ]; then
	python3 -B tools/uops/generate_uops.py "$top" "$work/forms" "$data" "$work" "$@"
	exit
fi
[ -x build/accuracy ] || { echo "generate_uops.sh: build first (make build/accuracy)" >&2; exit 1; }
for k in $(seq 0 $((FOLDS - 1))); do
	mkdir "$work/$k"
	cp -r data "$work/$k/data"
done
python3 -B tools/uops/generate_uops.py "$work" "$work/forms" "$data" "$work" "$@" >/dev/null
for uarch; do
	for k in $(seq 0 $((FOLDS - 1))); do
		FOLD=$k/$FOLDS MCA=0 build/accuracy "$data" "$work/$k/data" "$uarch"
	done | awk -F '[|]' -v uarch="$uarch" '$3 == " left out " { n[$2] += $4; good[$2] += $4 * $5 / 100; mean[$2] += $4 * $6 }
		END { for (w in n) printf "%-11s%s %4d left out, %.1f %% good, mean abs. error %.2f %%\n", uarch, w, n[w], 100 * good[w] / n[w], mean[w] / n[w] }' | sort
done
