# SPDX-License-Identifier: GPL-2.0-or-later
# Sourced by system tests that wait for another process.  until_ COMMAND...: waits until it succeeds, for two minutes at most: hosts may be busy.
until_() {
	n=0
	until "$@"; do
		n=$((n + 1))
		[ $n -lt 2400 ] || return 1
		sleep 0.05
	done
}
# said WORD FILE: has it been said?
said() { grep -qs -- "$1" "$2"; }
# gone PID
gone() { ! kill -0 "$1" 2>/dev/null; }
