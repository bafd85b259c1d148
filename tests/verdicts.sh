# SPDX-License-Identifier: GPL-2.0-or-later
# Sourced by system tests whose claims are commands of their own: a folder $work, which goes at the end; COMMAND && ok CLAIM || bad CLAIM;
# same CLAIM IS SHALL; yes CLAIM NUMBER: not 0; exit $failed.  Scripts of one condition a claim source claims.sh.
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT INT TERM
failed=0
ok() { echo "ok $1"; }
bad() { echo "FAILED $1"; failed=1; }
same() { [ "$2" = "$3" ] && ok "$1" || bad "$1: '$2', expected '$3'"; }
yes() { [ "$2" ] && [ "$2" != 0 ] && ok "$1" || bad "$1"; }
