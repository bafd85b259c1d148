#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# softpmu calibrate: options and refusals; the same code runs natively and under the model; the output is a core file.
# How well a calibrated core fits depends on the host and is not tested here (make accuracy).
. "$TOP/tests/lib.sh"
[ "$(uname -m)" = x86_64 ] || skip "microbenchmarks are for x86-64"

# refused TEXT ARGUMENT...: the exit status is 2, one line contains TEXT, and nothing is written
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
	ok "--list has the microbenchmarks" || bad "--list"
[ "$(cut -d' ' -f1 list | sort | uniq -d | wc -l)" = 0 ] && ok "the names of the microbenchmarks are unique" ||
	bad "names are not unique"
# Every microbenchmark runs, except the long ones.
names=$(awk '$1 !~ /[0-9]M$/ { print $1 }' list | paste -sd, -)
"$SOFTPMU" calibrate --run "$names" >out 2>err && [ ! -s out ] && [ ! -s err ] &&
	ok "every short microbenchmark runs" || { bad "every short microbenchmark runs"; cat err; }

case $SOFTPMU in */san/*)
	[ "$failed" = 0 ] || exit 1
	echo "calibrate traces itself, and the tracer does not run sanitized programs: options and microbenchmarks only"
	exit 77 ;;
esac

# cycles NAME COLUMN: cycles from calibrate's table in the file page; column 3 is the host, 5 the model
cycles() { awk -F' *[|] *' -v name="$1" -v c="$2" '$2 == name { print $c }' page; }
"$SOFTPMU" calibrate -q --rounds 1 --core golden-cove imul addps chase.16K chase.192K >page 2>err && [ ! -s err ] &&
	ok "calibrate with names prints their comparison" || { bad "calibrate with names"; cat err; }
[ ! -e host.conf ] && ok "calibrate with names writes no core file" || bad "calibrate with names writes a core file"
for want in 'imul 3' 'addps 2' 'chase.16K 5' 'chase.192K 16'; do	# from golden-cove's core file and uop table
	name=${want% *}
	awk -v is="$(cycles "$name" 5)" -v should="${want#* }" \
		'BEGIN { exit !(is > 0.97 * should && is < 1.03 * should) }' &&
		ok "$name takes ${want#* } cycles under the model" ||
		bad "$name under the model: $(cycles "$name" 5), not ${want#* }"
done
# Natively an IMUL takes as long as three or four ADDs on every x86-64 processor since Nehalem and Zen. Three tries,
# because the machine may be busy.
for _ in 1 2 3; do
	awk -v is="$(cycles imul 3)" 'BEGIN { exit !(is > 2.8 && is < 4.2) }' && break
	"$SOFTPMU" calibrate -q --rounds 1 --core golden-cove imul >page
done
awk -v is="$(cycles imul 3)" 'BEGIN { exit !(is > 2.8 && is < 4.2) }' &&
	ok "natively an IMUL takes as long as 3 or 4 ADDs" ||
	bad "natively IMUL takes $(cycles imul 3)"
"$SOFTPMU" calibrate -q --rounds 1 --core golden-cove --set l1d.latency=9 chase.16K >page 2>err
awk -v is="$(cycles chase.16K 5)" 'BEGIN { exit !(is > 8.7 && is < 9.3) }' && ok "--set changes the modelled core" ||
	bad "--set changes the core: $(cycles chase.16K 5)"
"$SOFTPMU" calibrate -q --rounds 1 --page page.md imul >out 2>err && [ ! -s out ] && grep -q '^| imul |' page.md &&
	ok "--page writes the table to a file" || { bad "--page"; cat err; }
"$SOFTPMU" calibrate -q --rounds 1 --page /no/such/place/page.md imul >out 2>err &&
	bad "a page that cannot be written" || { grep -q 'cannot write /no/such' err &&
	ok "a page that cannot be written is refused" || bad "a page that cannot be written"; }
# --native: the table has only the host's cycles; --from reads this page.
"$SOFTPMU" calibrate -q --native --rounds 1 --page native.md imul chase.2M >out 2>err && [ ! -s out ] && [ ! -s err ] &&
	grep -q '^| imul | [0-9.]* | [^|]* | | | IMUL' native.md &&
	grep -q '^| chase.2M | [^|]* | [^|]* | | | .* | age [0-9.]* ms, [0-9]* on |$' native.md &&
	! grep -q 'Mean absolute' native.md && [ ! -e host.conf ] && ok "--native measures the host alone" ||
	{ bad "--native"; cat native.md err; }
"$SOFTPMU" calibrate -q --from native.md imul >out 2>err && [ ! -s err ] &&
	[ "$(cut -d'|' -f2-4 out | grep '^ imul ')" = "$(cut -d'|' -f2-4 native.md | grep '^ imul ')" ] &&
	ok "--from reads a page of --native" || { bad "--from what --native wrote"; cat out err; }
# --from: the host's cycles come from the page; another file is refused.
sed -i 's/^| imul | [^|]*| [^|]*|/| imul | 3.25 | 3.00 to 3.50 |/' page.md
"$SOFTPMU" calibrate -q --from page.md imul addps >out 2>err && [ ! -s err ] &&
	grep -q '^| imul | 3.25 | 3.00 to 3.50 |' out && ! grep -q '^| addps ' out &&
	ok "--from takes the host's cycles from the page" ||
	{ bad "--from"; cat out err; }
"$SOFTPMU" calibrate -q --from /dev/null imul >out 2>err && bad "--from what is no page" ||
	{ grep -q 'not a page of softpmu calibrate' err && [ ! -s out ] && ok "--from refuses a file that is no page" ||
	bad "--from what is no page"; }
# A whole calibration without the long measurements (--near): the core file says where the value of each field is from.
"$SOFTPMU" calibrate -q --near --rounds 1 -o near.conf --page near.md >out 2>err && [ ! -s err ] &&
	grep -q 'near.conf: .* fields fitted' out && ok "a calibration fits fields to the host" ||
	{ bad "a host is fitted"; cat out err; }
"$SOFTPMU" stat -x, -e cycles --core ./near.conf -o stat true && grep -q cycles stat &&
	ok "--core accepts the core file" ||
	bad "--core takes the file"
grep -q '^include ' near.conf && grep -q 'core.frequency_ghz' near.conf &&
	grep -q 'dram.latency_ns = .*: .* did not run' near.conf &&
	ok "the core file says which fields were not measured" ||
	{ bad "the file says what was not seen"; cat near.conf; }
"$SOFTPMU" cores ./near.conf >cores && grep -q '^l1d.size' cores && ok "softpmu cores reads the core file" ||
	bad "cores prints it"
grep -q '^## Fields' near.md && grep -q '^| chase.16K |' near.md && ! grep -q '^| chase.64M |' near.md &&
	ok "the page has the fields and the comparison" || bad "the page has before and after"
[ $failed = 0 ]
