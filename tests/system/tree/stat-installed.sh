#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# softpmu finds its files relative to its binary: installed anywhere, through a link, from any directory.
. "$TOP/tests/lib.sh"
prefix="$work/a prefix"
mkdir -p "$prefix/bin" "$prefix/libexec/softpmu" "$prefix/share/softpmu" "$work/elsewhere" || exit 1
cp "$SOFTPMU" "$prefix/bin/" && cp "$(dirname "$SOFTPMU")"/libexec/* "$prefix/libexec/softpmu/" &&
	cp -r "$TOP"/data/* "$prefix/share/softpmu/" || exit 1
ln -s "$prefix/bin/softpmu" "$work/link"
cd "$work/elsewhere" || exit 1
count() { "$@" stat -x, -e instructions "$PROGRAMS/reps" 2>&1 | cut -d, -f1; }
same "softpmu runs in the build tree" "$(count "$SOFTPMU")" 607
same "softpmu runs from an installation" "$(count "$prefix/bin/softpmu")" 607
same "softpmu runs through a link" "$(count "$work/link")" 607
same "softpmu runs from PATH" "$(PATH="$prefix/bin:$PATH" softpmu cores | grep -c skylake)" 1
rm -rf "$prefix/share"
"$prefix/bin/softpmu" stat true >out 2>err; code=$?
same "without its data softpmu fails with one line" "$code $(grep -c . err)" "2 1"
exit $failed
