#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# What `softpmu gate` prints in a repository with three commits behind the one that its baseline is of: the same program
# built anew, 1 % more work in one function, and a library that was updated.  Each commit is checked out into a folder
# of its own, built and counted twice; the two must print the same bytes.  Prints what docs/measured/gate.md shows.
#   experiments/gate-commits.sh [FOLDER]	keeps the repository there
# shellcheck disable=SC2016	# dollars in the page's text
set -eu
softpmu=${SOFTPMU:-$(cd "$(dirname "$0")/.." && pwd)/build/softpmu}
top=$(cd "$(dirname "$0")/.." && pwd)
if [ $# = 1 ]; then work=$1; mkdir -p "$work"
else work=$(mktemp -d); trap 'rm -rf "$work"' EXIT; fi
cd "$work"

commit() { # SUBJECT
	git -C repo add -A
	git -C repo -c user.name=gate -c user.email=gate@example.org commit -q --allow-empty -m "$1"
}
git init -q -b main repo
cp "$top/docs/examples/gate/"* repo
commit "words: a sorted list of words"
git clone -q repo first
make -s -C first
(cd first && "$softpmu" gate -f bench.list --update >/dev/null)
cp first/softpmu-gate.json repo
commit "baseline"
commit "no change"
sed -i 's/ROUNDS = 100 /ROUNDS = 101 /' repo/words.c
commit "words: hash has one round more in a hundred"
git -C repo revert -n HEAD
sed -i 's/gap \/= 2/gap = gap * 2 \/ 3/' repo/shell_sort.c
commit "order: smaller steps"

failed=0
for number in 2 1 0; do
	subject=$(git -C repo log -1 --format=%s "HEAD~$number")
	for run in 1 2; do
		folder=$run/$(echo "$subject" | tr -c 'a-z\n' -)
		git clone -q repo "$folder"
		git -C "$folder" checkout -q "HEAD~$number"
		make -s -C "$folder"
		status=0
		(cd "$folder" && "$softpmu" gate -f bench.list) >"out$run" || status=$?
		echo "exit status $status" >>"out$run"
	done
	printf '%s\n\n' "Commit \"$subject\":"
	sed 's/^/    /' out1
	if cmp -s out1 out2; then printf '\nThe second checkout, built and counted anew, printed the same bytes.\n\n'
	else failed=1; fi
done
exit $failed
