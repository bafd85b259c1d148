#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# make demo: counts a real program, then records it and shows the profile with perf.
set -eu
cd "$(dirname "$0")/.."
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT INT TERM
seq 1 40000 >"$work/numbers"

show() { printf '\n$ %s\n' "$*"; }
echo "softpmu: performance counters without a PMU. A real program, bzip2, on a modelled Golden Cove:"
show softpmu stat -d bzip2 -k numbers
build/softpmu stat -d bzip2 -kf "$work/numbers"
show softpmu record -g -c 20011 -o perf.data bzip2 -k numbers
build/softpmu record -g -c 20011 -o "$work/perf.data" bzip2 -kf "$work/numbers"
show 'perf report --stdio --no-children -g none -i perf.data'
perf report --stdio --no-children -g none --percent-limit 1 -i "$work/perf.data"
