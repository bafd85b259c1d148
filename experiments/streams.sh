#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Streams of memory (tests/native/streams.c) on this host and under the model of a core: cycles a line, in Markdown.
#   streams.sh CORE [NAME...]      CORE: a preset or a file; NAME: all streams, or these
# Environment: SOFTPMU and STREAMS name the programs (build/softpmu, build/native/streams); BYTES: size of each buffer
# (100663296); OPTIONS of softpmu stat, such as --set FIELD=VALUE; NATIVE: a command put before the native ones, such as
# taskset -c 0.  Natively the shorter of two passes counts.  Model cycles are the difference of a run of two laps
# and a run of one.
set -eu
top=$(cd "$(dirname "$0")/.." && pwd)
softpmu=${SOFTPMU:-$top/build/softpmu} streams=${STREAMS:-$top/build/native/streams} bytes=${BYTES:-100663296}
[ $# -ge 1 ] || { echo "usage: streams.sh CORE [NAME...]" >&2; exit 2; }
for program in "$softpmu" "$streams"; do
	[ -x "$program" ] || { echo "streams.sh: $program is not built: make all programs" >&2; exit 1; }
done
core=$1; shift
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
# shellcheck disable=SC2046
[ $# -gt 0 ] || set -- $("$streams" --list)

echo "| stream | native | model | model ÷ native |"
echo "|---|---:|---:|---:|"
for name; do
	for pass in 1 2; do
		# shellcheck disable=SC2086
		${NATIVE:-} "$streams" --native "$name" "$bytes"
		# shellcheck disable=SC2086
		"$softpmu" stat -x, -e cycles -o "$work/$pass" --core "$core" ${OPTIONS:-} \
			"$streams" "$name" "$bytes" "$pass" >"$work/out" 2>&1 ||
			{ echo "streams.sh: $name on $core: $(cat "$work/out")" >&2; exit 1; }
	done >"$work/native"
	lines=$("$streams" --lines "$name" "$bytes")
	awk -F'[,\t]' -v name="$name" -v lines="$lines" '
	FILENAME ~ /native$/ { if (!native || $3 < native) native = $3; next }
	$3 ~ /^cycles/ { model = $1 - model }
	END { printf "| %s | %.2f | %.2f | %.2f |\n", name, native, model / lines, model / lines / native }
	' "$work/native" "$work/1" "$work/2"
done
