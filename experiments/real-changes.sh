#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# What tune --software says of real programs, and what changes gain, in the model and on this host.
#   real-changes.sh DIR [PROGRAM...]   zstd jq lua sqlite3 python3 ledger; default: all
# Debian's sources of five programs are fetched into DIR (apt-get source) and built there, optimised; ledger is a
# C++ program of our own (real/ledger.cc).  Needs root once, to install what jq and sqlite3 are built with.
#   ONLY=findings|gains   only one of the two.   ROUNDS=N (15): pairs of native runs, in turn.
set -eu
TOP=$(cd "$(dirname "$0")/.." && pwd)
SOFTPMU=${SOFTPMU:-$TOP/build/softpmu} own=$TOP/experiments/real
[ $# -gt 0 ] || { echo "usage: real-changes.sh DIR [PROGRAM...]" >&2; exit 2; }
mkdir -p "$1"
cd "$1"
shift

fetch() {	# SOURCE PACKAGE, FOLDER PATTERN: prints the folder
	set -- "$1" "$2" "$(find . -maxdepth 1 -type d -name "$2" | head -n 1)"
	if [ -z "$3" ]; then
		echo "deb-src http://deb.debian.org/debian bookworm main" >sources.list
		mkdir -p lists/partial
		set -- "$1" "$2" -o "Dir::Etc::sourcelist=$PWD/sources.list" -o Dir::Etc::sourceparts=- \
			-o "Dir::State::lists=$PWD/lists"
		package=$1 pattern=$2; shift 2
		{ apt-get "$@" -q update && apt-get "$@" -q source "$package"; } >"$package.fetch" 2>&1
		find . -maxdepth 1 -type d -name "$pattern" | head -n 1
	else
		echo "$3"
	fi
}
built() {	# FILE COMMAND: makes it once
	mkdir -p logs
	[ -e "$1" ] || sh -c "$2" >"logs/$1" 2>&1 || { echo "$1: see logs/$1" >&2; exit 1; }
}
tools() {
	for t in autoreconf libtoolize bison flex tclsh; do
		command -v $t >/dev/null || missing=1
	done
	[ -z "${missing:-}" ] || apt-get install -y -q autoconf automake libtool bison flex libonig-dev tcl >/dev/null
}

make_inputs() {
	[ -e work.lua ] && return
	cp "$own"/work.* .
	awk 'BEGIN { srand(3); for (i = 0; i < 20000; i++) printf "{\"id\":%d,\"city\":\"c%d\",\"amount\":%d.%02d," \
		"\"tags\":[\"a%d\",\"b%d\"],\"open\":%s}\n", i, int(rand() * 300), int(rand() * 1000),
		int(rand() * 100), int(rand() * 50), int(rand() * 9), rand() < .5 ? "true" : "false" }' >rows.json
	head -n 4000 rows.json >rows4k.json
	cat "$TOP"/src/*/*.[ch] "$TOP"/src/*/*/*.[ch] | head -c 6000000 >text
}
make_zstd() {
	d=$(fetch libzstd 'libzstd-*')
	make="make zstd CFLAGS='-O3 -g' HAVE_ZLIB=0 HAVE_LZMA=0 HAVE_LZ4=0"
	built zstd "cd $d/programs && $make && cp zstd ../.."
	built zstd-mended "cp -r $d mended-zstd && cd mended-zstd && \
		sed -i -f $own/zstd.sed lib/compress/zstd_double_fast.c &&
		cd programs && $make && cp zstd ../../zstd-mended"
}
make_jq() {
	tools
	d=$(fetch jq 'jq-[0-9]*')
	built jq "cd $d && autoreconf -i && ./configure --disable-docs --disable-maintainer-mode \
		--disable-shared --enable-static CFLAGS='-O2 -g' && make src/builtin.inc src/version.h &&
		make jq && cp jq .."
	built jq-pool "gcc -O2 -g -o jq-pool $d/src/main.o $own/pool.c -fno-builtin $d/.libs/libjq.a \
		-lonig -lm -lpthread"
}
make_lua() {
	d=$(fetch lua5.4 'lua5.4-*')
	for o in 2 3; do
		built lua-O$o "cd $d/src && touch lua5.4-deb-multiarch.h && gcc -I. -O$o -g -std=gnu99 \
			-DLUA_COMPAT_5_3 -DLUA_USE_LINUX -DDEB_HOST_MULTIARCH='\"x86_64-linux-gnu\"' \
			\$(ls *.c | grep -v luac.c) -o ../../lua-O$o -Wl,-E -lm -ldl"
	done
}
make_sqlite3() {
	tools
	d=$(fetch sqlite3 'sqlite3-*')
	built sqlite3 "cd $d && ./configure CFLAGS='-O2 -g' && make sqlite3.c shell.c && gcc -O2 -g \
		-DSQLITE_THREADSAFE=1 -DSQLITE_ENABLE_MATH_FUNCTIONS shell.c sqlite3.c -o ../sqlite3 -lm"
}
make_python3() {
	d=$(fetch python3.11 'python3.11-*')
	built python3 "mkdir -p python-build && cd python-build && ../$d/configure CFLAGS=-g && make python && \
		ln -s python-build/python ../python3"
}
make_ledger() {
	built ledger "g++ -std=c++17 -O2 -g $own/ledger.cc -o ledger"
	built ledger-mended "g++ -std=c++17 -O2 -g -DMENDED $own/ledger.cc -o ledger-mended"
}
command_of() {	# PROGRAM [INSTEAD]: prints the command line; INSTEAD: this build
	case $1 in
	zstd) echo "./${2:-zstd} --no-asyncio --single-thread -3 -c text";;
	jq) echo "./${2:-jq} -s -c -f work.jq rows.json";;
	lua) echo "./${2:-lua-O2} work.lua";;
	sqlite3) echo "./${2:-sqlite3} :memory: -init work.sql .quit";;
	python3) echo "./${2:-python3} -S work.py";;
	ledger) echo "./${2:-ledger}";;
	esac
}
other_build() {
	case $1 in
	zstd | ledger) echo "$1-mended";;
	jq) echo jq-pool;;
	lua) echo lua-O3;;
	esac
}

cycles() { "$SOFTPMU" stat -x, -e cycles -- "$@" 2>&1 >/dev/null | sed -n 's/^\([0-9]*\),.*cycles.*/\1/p'; }
timed() { /usr/bin/time -a -o "$1" -f "%U %S" sh -c "for i in 1 2 3 4 5 6; do $2 >/dev/null 2>&1; done"; }
gains() {	# PROGRAM: of the other build
	before=$(command_of "$1") after=$(command_of "$1" "$(other_build "$1")")
	# shellcheck disable=SC2086
	a=$(cycles $before) b=$(cycles $after)
	rm -f time.a time.b
	for _ in $(seq "${ROUNDS:-15}"); do
		timed time.a "$before"
		timed time.b "$after"
	done
	paste -d' ' time.a time.b | awk '{ print 100 * (1 - ($3 + $4) / ($1 + $2)) }' | sort -g >pairs
	awk -v p="$1" -v a="$a" -v b="$b" '{ v[NR] = $1 } END {
		printf "%-8s cycles %d -> %d (%.1f %%); on this host ", p, a, b, 100 * (1 - b / a)
		printf "%.1f %% (quartiles of %d pairs: %.1f to %.1f)\n", v[int((NR + 1) / 2)], NR,
			v[int((NR + 3) / 4)], v[int((3 * NR + 1) / 4)]
	}' pairs
}

[ $# -gt 0 ] || set -- zstd jq lua sqlite3 python3 ledger
make_inputs
for p; do
	"make_$p"
done
[ "${ONLY:-}" = gains ] || for p; do
	echo "== $p: $(command_of "$p")"
	# shellcheck disable=SC2046
	"$SOFTPMU" tune --software -o findings -- $(command_of "$p") >/dev/null 2>&1 || [ -s findings ]
	sed -n '/^[0-9]* cycles/p; /^[0-9]*\. /p; /^   at /p; /^   evidence/p; /^   wins/p; /^   spent/p' findings
done
[ "${ONLY:-}" = findings ] || for p; do
	[ -z "$(other_build "$p")" ] || gains "$p"
done
