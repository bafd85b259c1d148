#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# The last test of a run: the tests have not changed the checkout.
#   clean-checkout.sh BEFORE    BEFORE: a file with the output of `git status --porcelain` before the first test
[ -e "${1:-}" ] || { echo "this is not a git checkout"; exit 77; }
now=$(mktemp) || exit 1
trap 'rm -f "$now"' EXIT
git status --porcelain >"$now" || exit 1
diff "$1" "$now" >"$now.diff"
same=$?
[ $same = 0 ] || { echo "FAILED the tests changed the checkout (> is new, < is gone):"; cat "$now.diff"; }
rm -f "$now.diff"
exit $same
