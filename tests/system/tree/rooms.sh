#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Dependencies between the rooms of the source point one way: the table in docs/tour.md allows every #include of src/
# and include/, and the table has no cycle.  The check is also run on a tree with a forbidden #include.
. "$TOP/tests/lib.sh"

# edges DIR: prints each #include of the tree DIR that its docs/tour.md does not allow.
edges() {
	(cd "$1" && find src include -name '*.[ch]' -o -name '*.def' | sort | xargs awk '
	FILENAME == "docs/tour.md" {
		if ($0 !~ /^\| `(src|include)\//) next
		split($0, cell, "|")
		room = cell[2]; gsub(/[ `]|src\/|include\//, "", room)
		rooms[room] = 1
		n = split(cell[3], names, /[ `]+/)
		for (i = 1; i <= n; i++) if (names[i] != "") {
			allowed[room, names[i]] = 1
			if (!(names[i] in rooms)) print "docs/tour.md: " room " stands above " names[i] \
				", or there is no such room"
		}
		next
	}
	FNR == 1 { split(FILENAME, part, "/"); room = part[2] }
	/^[ \t]*#[ \t]*include[ \t]*[<"]/ {
		match($0, /[<"][^>"]*/); name = substr($0, RSTART + 1, RLENGTH - 1)
		if (name ~ /^pub_tool_/ && room != "valgrind") print FILENAME ": " name
		if (name !~ /\// || name ~ /^\.\.?\//) next		# same folder or same room
		split(name, part, "/"); to = part[1]
		if (to in rooms && to != room && !((room, to) in allowed)) print FILENAME ": " name
	}' docs/tour.md)
}

[ "$(grep -c '^| `\(src\|include\)/' "$TOP/docs/tour.md")" -ge 15 ] && ok "docs/tour.md has the table of rooms" ||
	bad "no table in docs/tour.md"
for room in "$TOP"/src/*/; do
	room=src/$(basename "$room")
	grep -q "^| \`$room\` |" "$TOP/docs/tour.md" || bad "docs/tour.md: no row for $room"
done
same "the table allows every #include" "$(edges "$TOP")" ""
# No #include leaves its room by a relative path: only src/pmu, which can be embedded without the rest, uses "../".
same "no #include bypasses the table by a relative path" \
	"$(cd "$TOP" && grep -rnE '#[ \t]*include[ \t]*"\.\./' src include |
	grep -v '^src/pmu/[a-z]*/')" ""

# The check finds a core that includes the session, and a cycle in the table.
mkdir -p "$work/docs" && cp -R "$TOP/src" "$TOP/include" "$work" && cp "$TOP/docs/tour.md" "$work/docs" || exit 1
echo '#include "session/session.h"' >>"$work/src/core/core.c"
same "a forbidden #include is found" "$(edges "$work")" "src/core/core.c: session/session.h"
sed -i '/^| `src\/util` |/s/.*/| `src\/util` | `core` |/' "$work/docs/tour.md"
edges "$work" | grep -q '^docs/tour.md: util stands above core' && ok "a cycle in the table is found" ||
	bad "a cycle in the table"
exit $failed
