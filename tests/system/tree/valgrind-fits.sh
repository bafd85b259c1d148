#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# tools/check-valgrind.sh: a Valgrind that the tracer does not fit is named before anything is compiled.
. "$TOP/tests/lib.sh"
need nm
check() { "$TOP/tools/check-valgrind.sh" "$@" 2>&1; }
lib=$(pkg-config --variable=libdir valgrind)/valgrind headers=$(pkg-config --variable=includedir valgrind)
same "this system's Valgrind fits, without a word" "$(check "$lib" "$headers"; echo $?)" 0
same "no headers" "$(check "$lib" . | sed 's/(.*//')" "softpmu: Valgrind's headers are not in . "
same "no libraries" "$(check . "$headers" | sed 's/(.*//')" "softpmu: ./libcoregrind-amd64-linux.a is missing "
mkdir headers old
touch headers/pub_tool_basics.h
printf '#define VERSION "3.99.1"\n' >headers/config.h
same "a version that was not tried is named" "$(check "$lib" headers | grep -c 'not with 3.99.1')" 1
same "and the build goes on" "$(check "$lib" headers >/dev/null; echo $?)" 0
for arch in amd64 x86; do
	cp "$lib/libcoregrind-$arch-linux.a" "old/libcoregrind-$arch-linux.a"
done
objcopy --redefine-sym vgPlain_brk_base=vgPlain_brk old/libcoregrind-amd64-linux.a || exit 1
same "functions that it lacks are named" "$(check old headers)" "softpmu: the tracer does not fit Valgrind 3.99.1: \
old/libcoregrind-amd64-linux.a has no vgPlain_brk_base; versions that fit: 3.19 3.24"
same "its status is 1" "$(check old headers >/dev/null; echo $?)" 1
exit $failed
