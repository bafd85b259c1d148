#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# softpmu calibrate: its options and refusals, that the same code runs natively and under the model, and that
# what it writes is a core. How near it comes to a machine is not tested here: that is the host's matter (make
# accuracy).
. "$TOP/tests/lib.sh"
[ "$(uname -m)" = x86_64 ] || skip "microbenchmarks are for x86-64"

# refused TEXT ARGUMENTS...: exit status 2, one line that has TEXT, nothing written
refused() {
	text=$1; shift
	"$SOFTPMU" calibrate "$@" >out 2>err
	status=$?
	if [ $status = 2 ] && [ ! -s out ] && [ ! -e host.conf ] && grep -qF -- "$text" err &&
		[ "$(grep -c '^softpmu: ' err)" = 1 ]; then
		ok "refused: $*"
	else
		bad "refused: $* (status $status)"
		cat err
	fi
}
refused "--rounds: '0'" --rounds 0
refused "--rounds: '21'" --rounds 21
refused "--rounds: 'x'" --rounds=x
refused "no microbenchmark 'chasing'" chasing
refused 'no-such-core' --core no-such-core
refused '--nonsense' --nonsense
"$SOFTPMU" calibrate --run chase.4K,nothing 2>err && bad "--run of an unknown name" ||
	{ grep -q "no microbenchmark 'nothing'" err && ok "--run of an unknown name is refused" ||
	bad "--run of an unknown name"; }

"$SOFTPMU" calibrate --list >list 2>err && [ ! -s err ] && grep -q '^chase.64K ' list && grep -q '^add ' list &&
	ok "--list" || bad "--list"
[ "$(cut -d' ' -f1 list | sort | uniq -d | wc -l)" = 0 ] && ok "names differ" || bad "names differ"
# Every microbenchmark runs, but for the long ones.
names=$(awk '$1 !~ /[0-9]M$/ { print $1 }' list | paste -sd, -)
"$SOFTPMU" calibrate --run "$names" >out 2>err && [ ! -s out ] && [ ! -s err ] &&
	ok "every short microbenchmark runs" || { bad "every short microbenchmark runs"; cat err; }

case $SOFTPMU in */san/*)
	[ "$failed" = 0 ] || exit 1
	echo "calibrate traces itself, and the tracer does not run sanitized programs: options and microbenchmarks only"
	exit 77 ;;
esac

# cycles NAME: of the table that calibrate prints of names, column: 3 host, 5 model
cycles() { awk -F' *[|] *' -v name="$1" -v c="$2" '$2 == name { print $c }' page; }
"$SOFTPMU" calibrate -q --rounds 1 --core golden-cove imul addps chase.16K chase.192K >page 2>err && [ ! -s err ] &&
	ok "names are compared only" || { bad "names are compared only"; cat err; }
[ ! -e host.conf ] && ok "and nothing is fitted" || bad "and nothing is fitted"
for want in 'imul 3' 'addps 2' 'chase.16K 5' 'chase.192K 16'; do	# golden-cove's file and table
	name=${want% *}
	awk -v is="$(cycles "$name" 5)" -v should="${want#* }" \
		'BEGIN { exit !(is > 0.97 * should && is < 1.03 * should) }' && ok "$name under the model" ||
		bad "$name under the model: $(cycles "$name" 5), not ${want#* }"
done
# Natively: an IMUL takes three or four ADDs on every x86-64 processor since Nehalem and Zen. The machine may be
# busy: three tries.
for _ in 1 2 3; do
	awk -v is="$(cycles imul 3)" 'BEGIN { exit !(is > 2.8 && is < 4.2) }' && break
	"$SOFTPMU" calibrate -q --rounds 1 --core golden-cove imul >page
done
awk -v is="$(cycles imul 3)" 'BEGIN { exit !(is > 2.8 && is < 4.2) }' && ok "natively IMUL takes 3 or 4 ADDs" ||
	bad "natively IMUL takes $(cycles imul 3)"
"$SOFTPMU" calibrate -q --rounds 1 --core golden-cove --set l1d.latency=9 chase.16K >page 2>err
awk -v is="$(cycles chase.16K 5)" 'BEGIN { exit !(is > 8.7 && is < 9.3) }' && ok "--set changes the core" ||
	bad "--set changes the core: $(cycles chase.16K 5)"
"$SOFTPMU" calibrate -q --rounds 1 --page page.md imul >out 2>err && [ ! -s out ] && grep -q '^| imul |' page.md &&
	ok "--page" || { bad "--page"; cat err; }
"$SOFTPMU" calibrate -q --rounds 1 --page /no/such/place/page.md imul >out 2>err &&
	bad "a page that cannot be written" || { grep -q 'cannot write /no/such' err &&
	ok "a page that cannot be written" || bad "a page that cannot be written"; }
# Without the model: only the host's cycles, of which --from makes the same
"$SOFTPMU" calibrate -q --native --rounds 1 --page native.md imul chase.2M >out 2>err && [ ! -s out ] && [ ! -s err ] &&
	grep -q '^| imul | [0-9.]* | [^|]* | | | IMUL' native.md &&
	grep -q '^| chase.2M | [^|]* | [^|]* | | | .* | age [0-9.]* ms, [0-9]* on |$' native.md &&
	! grep -q 'Mean absolute' native.md && [ ! -e host.conf ] && ok "--native" ||
	{ bad "--native"; cat native.md err; }
"$SOFTPMU" calibrate -q --from native.md imul >out 2>err && [ ! -s err ] &&
	[ "$(cut -d'|' -f2-4 out | grep '^ imul ')" = "$(cut -d'|' -f2-4 native.md | grep '^ imul ')" ] &&
	ok "--from what --native wrote" || { bad "--from what --native wrote"; cat out err; }
# From a page: the host's cycles are those of the page, and what is none is refused
sed -i 's/^| imul | [^|]*| [^|]*|/| imul | 3.25 | 3.00 to 3.50 |/' page.md
"$SOFTPMU" calibrate -q --from page.md imul addps >out 2>err && [ ! -s err ] &&
	grep -q '^| imul | 3.25 | 3.00 to 3.50 |' out && ! grep -q '^| addps ' out && ok "--from" ||
	{ bad "--from"; cat out err; }
"$SOFTPMU" calibrate -q --from /dev/null imul >out 2>err && bad "--from what is no page" ||
	{ grep -q 'not a page of softpmu calibrate' err && [ ! -s out ] && ok "--from what is no page" ||
	bad "--from what is no page"; }
# The whole, but for what takes long: a core's file that says of each field where it is from.
"$SOFTPMU" calibrate -q --near --rounds 1 -o near.conf --page near.md >out 2>err && [ ! -s err ] &&
	grep -q 'near.conf: .* fields fitted' out && ok "a host is fitted" || { bad "a host is fitted"; cat out err; }
"$SOFTPMU" stat -x, -e cycles --core ./near.conf -o stat true && grep -q cycles stat && ok "--core takes the file" ||
	bad "--core takes the file"
grep -q '^include ' near.conf && grep -q 'core.frequency_ghz' near.conf &&
	grep -q 'dram.latency_ns = .*: .* did not run' near.conf && ok "the file says what was not seen" ||
	{ bad "the file says what was not seen"; cat near.conf; }
"$SOFTPMU" cores ./near.conf >cores && grep -q '^l1d.size' cores && ok "cores prints it" || bad "cores prints it"
grep -q '^## Fields' near.md && grep -q '^| chase.16K |' near.md && ! grep -q '^| chase.64M |' near.md &&
	ok "the page has before and after" || bad "the page has before and after"
[ $failed = 0 ]
