#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Real programs built in several ways (softpmu tune --software --build): modelled and native gain side by side.  The
# sources of Lua, bzip2 and mawk are Debian's, by apt-get source from a list of its own.  A program whose source is not
# available has a line that says so.
#
# Environment: SOFTPMU; OUT: sources and builds, default build/tune-software; SOURCES: a folder with unpacked sources;
# BLOCKS of four native runs each, default 24.  Packages: clang, autofdo, bolt-16 (or another), linux-perf, dpkg-dev.
set -u
top=$(cd "$(dirname "$0")/.." && pwd)
SOFTPMU=${SOFTPMU:-$top/build/softpmu} OUT=${OUT:-$top/build/tune-software} BLOCKS=${BLOCKS:-24}
mkdir -p "$OUT/lists/partial" && cd "$OUT" || exit 1
OUT=$(pwd) SOURCES=${SOURCES:-$OUT}
command -v clang >/dev/null || { echo "clang is not installed"; exit 77; }
fetched=
fetch() {	# PACKAGE FOLDER: unpacked in $SOURCES/FOLDER*
	ls -d "$SOURCES/$2"* >/dev/null 2>&1 && return
	if [ -z "$fetched" ]; then
		echo "deb-src http://deb.debian.org/debian bookworm main" >source.list
		apt-get -o Dir::Etc::sourcelist="$OUT/source.list" -o Dir::Etc::sourceparts=/dev/null \
			-o Dir::State::lists="$OUT/lists" update >apt.log 2>&1
		fetched=1
	fi
	(cd "$SOURCES" && apt-get -o Dir::Etc::sourcelist="$OUT/source.list" -o Dir::Etc::sourceparts=/dev/null \
		-o Dir::State::lists="$OUT/lists" \
		source --download-only "$1" >>"$OUT/apt.log" 2>&1; tar xzf "$1"_*.orig.tar.gz >/dev/null 2>&1)
	ls -d "$SOURCES/$2"* >/dev/null 2>&1
}
tune() {	# NAME COMMAND TIME-ARGUMENTS PROGRAM ARGUMENTS...
	name=$1 command=$2 timed=$3
	shift 3
	printf '\n== %s: %s\n' "$name" "$*"
	"$SOFTPMU" tune --software --build "$command" --flags -O2 --flags -O3 --autofdo --bolt \
		--blocks "$BLOCKS" --dir "$OUT/$name" --time "$timed" \
		-o "$OUT/$name.txt" -- "$@"
	cat "$OUT/$name.txt"
}
data=$OUT/data
seq 1 400000 | sed 's/\(.*\)\(..\)$/line \1: \2 of \1, and \2 again/' >"$data.long"	# text, the same everywhere
head -c 30000 "$data.long" >"$data.short"

if fetch lua5.4 lua-5.4; then
	cd "$SOURCES"/lua-5.4*/src || exit 1
	files=$(ls ./*.c | grep -v luac.c | tr '\n' ' ')
	tune lua "clang {flags} -std=gnu99 -DLUA_USE_LINUX -o {out} $files -lm -ldl" \
		"$top/experiments/tune-software.lua 60000" lua "$top/experiments/tune-software.lua" 600
else
	echo "lua: no source: $OUT/apt.log says why"
fi
if fetch mawk mawk-1; then
	cd "$SOURCES"/mawk-1* || exit 1
	[ -f config.h ] || CC=clang ./configure >"$OUT/configure.log" 2>&1
	make -s CC=clang >"$OUT/make.log" 2>&1	# scancode.c
	files="parse.c scan.c memory.c main.c hash.c execute.c code.c da.c error.c init.c bi_vars.c cast.c print.c
		bi_funct.c kw.c jmp.c array.c field.c
		split.c re_cmpl.c regexp.c zmalloc.c fin.c files.c scancode.c matherr.c fcall.c version.c"
	options="-w -I. -DHAVE_CONFIG_H -DLOCAL_REGEXP -D_DEFAULT_SOURCE -D_XOPEN_SOURCE=500"
	tune mawk "clang {flags} $options -o {out} $files -lm" \
		"-f $top/experiments/tune-software.awk 400000" \
		mawk -f "$top/experiments/tune-software.awk" 4000
else
	echo "mawk: no source: $OUT/apt.log says why"
fi
if fetch bzip2 bzip2-1; then
	cd "$SOURCES"/bzip2-1* || exit 1
	files="blocksort.c huffman.c crctable.c randtable.c compress.c decompress.c bzlib.c bzip2.c"
	tune bzip2 "clang {flags} -D_FILE_OFFSET_BITS=64 -o {out} $files" \
		"-kc $data.long" bzip2 -kc "$data.short"
else
	echo "bzip2: no source: $OUT/apt.log says why"
fi
