# SPDX-License-Identifier: GPL-2.0-or-later
# Sourced by system tests: a folder to work in, entered, which goes at the end; ok CLAIM CONDITION... says whether a claim holds; exit $failed.
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT INT TERM
cd "$work" || exit 1
failed=0
ok() {
	claim=$1; shift
	if "$@"; then echo "ok $claim"; else echo "FAILED $claim"; failed=1; return 1; fi
}
