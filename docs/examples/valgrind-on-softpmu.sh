#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Stands for valgrind where a harness lets one choose it, or first in PATH under the name valgrind: Callgrind's command
# lines go to softpmu, all others to Valgrind.  SOFTPMU and VALGRIND name the two programs.
for word; do
	case $word in
	--tool=callgrind) exec "${SOFTPMU:-softpmu}" callgrind --no-cycles "$@" ;;
	-*) ;;
	*) break ;;
	esac
done
exec "${VALGRIND:-/usr/bin/valgrind}" "$@"
