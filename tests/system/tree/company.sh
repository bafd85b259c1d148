#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# The count of an event does not depend on the other events that are counted. It could: cores leave out the records and
# signals that no event needs.
. "$TOP/tests/lib.sh"
seq 1 300 >"$work/numbers"
export LC_ALL=C
for core in golden-cove skylake; do
	"$SOFTPMU" stat --core $core --assists --save-stream "$work/stream" -o /dev/null -- bzip2 -c "$work/numbers" \
		>/dev/null || exit 1
	"$SOFTPMU" list --core $core -j | sed -n 's/^{"name": "\([^"]*\)".*"modelled": true.*/\1/p' >"$work/events"
	"$SOFTPMU" stat -x, --core $core -e "$(paste -sd, "$work/events")" --replay "$work/stream" -o "$work/all" ||
		exit 1
	n=0
	while read -r event; do
		n=$((n + 1))
		[ $((n % 4)) = 0 ] || continue		# every fourth event, because each takes a second
		"$SOFTPMU" stat -x, --core $core -e "$event" --replay "$work/stream" -o "$work/one" || failed=1
		alone=$(cut -d, -f1 "$work/one") together=$(awk -F, -v e="$event" '$3 == e ":u" || $3 == e {
			print $1 }' "$work/all")
		[ -n "$alone" ] && [ "$alone" = "$together" ] ||
			bad "$core $event: alone $alone, with all others $together"
	done <"$work/events"
	[ $n -ge 150 ] && ok "$core: every fourth of $n events counts the same alone as with all others" ||
		bad "$core: $n events listed"
done
exit $failed
