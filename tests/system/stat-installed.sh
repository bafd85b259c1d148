#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# softpmu finds its files from the place of its binary: installed anywhere, through a link, from any directory.
set -u
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
failed=0
ok() { [ "$2" = "$3" ] && echo "ok $1" || { echo "FAILED $1: '$2', expected '$3'"; failed=1; }; }
prefix="$work/a prefix"
mkdir -p "$prefix/bin" "$prefix/libexec/softpmu" "$prefix/share/softpmu" "$work/elsewhere" || exit 1
cp "$SOFTPMU" "$prefix/bin/" && cp "$(dirname "$SOFTPMU")"/libexec/* "$prefix/libexec/softpmu/" && cp -r "$TOP"/data/* "$prefix/share/softpmu/" || exit 1
ln -s "$prefix/bin/softpmu" "$work/link"
cd "$work/elsewhere" || exit 1
count() { "$@" stat -x, -e instructions "$PROGRAMS/reps" 2>&1 | cut -d, -f1; }
ok "in the build tree" "$(count "$SOFTPMU")" 607
ok "installed" "$(count "$prefix/bin/softpmu")" 607
ok "through a link" "$(count "$work/link")" 607
ok "found in PATH" "$(PATH="$prefix/bin:$PATH" softpmu cores | grep -c skylake)" 1
rm -rf "$prefix/share"
"$prefix/bin/softpmu" stat true >out 2>err; code=$?
ok "without its data: status and one line" "$code $(grep -c . err)" "2 1"
exit $failed
