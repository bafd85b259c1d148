#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Writes what is made from the commands' tables of options: the lists in docs/softpmu.1, between the comments
# "options of NAME" and "end of options", and completions/softpmu.  SOFTPMU is the program whose tables they are;
# with --print PAGE the new page goes to standard output, and nothing is written.
set -eu
cd "$(dirname "$0")/../.."
SOFTPMU=${SOFTPMU:-build/softpmu}
page() { # PAGE
	skip=
	while IFS= read -r line; do
		case $line in
		'.\" end of options') skip= ;;
		esac
		[ "$skip" ] || printf '%s\n' "$line"
		case $line in
		'.\" options of '*)
			# shellcheck disable=SC2086
			"$SOFTPMU" help --mdoc ${line#'.\" options of '}
			skip=1 ;;
		esac
	done <"$1"
}
if [ "${1:-}" = --print ]; then
	page "$2"
	exit
fi
page docs/softpmu.1 >docs/softpmu.1.new && mv docs/softpmu.1.new docs/softpmu.1
mkdir -p completions
"$SOFTPMU" help --completion bash >completions/softpmu
