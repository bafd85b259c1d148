#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# tune --launch: replays that a command starts give what they give without it, bit for bit: in full detail, in windows,
# and on live points.  A launcher that dies is started again; one that answers nothing or rubbish is refused.
. "$TOP/tests/lib.sh"
SOFTPMU_STORE=$work/store TMPDIR=$work		# what it finds goes into a store of its own
export SOFTPMU_STORE TMPDIR
plan=16K,2K,2K
bare_stream "a stream" /usr/bin/awk 'BEGIN { for (i = 0; i < 250; i++) { k = i * 7919 % 3001; n[k] += length(i k) }
	for (k in n) s += n[k]; print s }' >said
"$SOFTPMU" trace -q --live-points live --sample=$plan --replay "a stream" || bad "live points"
search() {	# NAME STREAM OPTION...
	name=$1 stream=$2; shift 2
	timeout 100 "$SOFTPMU" tune --fresh --state "$name.state" --core skylake --set l2.latency=13 \
		--features dsb.size,prefetch.l1d_ip,l1d.size --no-prune --all --replay "$stream" -o "$name" "$@" ||
		bad "the search $name"
	sort -o "$name.state" "$name.state"
}
equal() {	# CLAIM NAME NAME
	same_files "$1: the same output" "$2" "$3"
	same_files "$1: the same state" "$2.state" "$3.state"
}

search full "a stream"
search full-env "a stream" --launch env --jobs 2
equal "in full detail, two at a time" full full-env
search full-timeout "a stream" --launch "timeout 100"
equal "in full detail, by a command with words" full full-timeout
search sampled "a stream" --sample=$plan
has "the windows give intervals" "^ dsb.size  *1/2 .* +- [0-9.]*%$" sampled
search sampled-env "a stream" --sample=$plan --launch env --jobs 2
equal "in windows, two at a time" sampled sampled-env
search sampled-timeout "a stream" --sample=$plan --launch "timeout 100" --jobs 1
equal "in windows, one at a time" sampled sampled-timeout
search points live
has "live points give intervals" "^ dsb.size  *1/2 .* +- [0-9.]*%$" points
search points-env live --launch env --jobs 2
equal "on live points, two at a time" points points-env

# Every first start of each request dies: before it reads anything, behind half an answer, or behind a whole one without
# its end.
mkdir once
cat >dies <<'END'
#!/bin/sh
cat >request.$$
name=once/$(cksum <request.$$ | tr ' ' -)
if mkdir "$name" 2>/dev/null; then
	case $DIES in
	early) kill -9 $$ ;;
	half) "$@" <request.$$ | head -c 100; kill -9 $$ ;;
	end) "$@" <request.$$ | grep -v '^end'; exit ;;
	esac
fi
"$@" <request.$$
END
chmod +x dies
for DIES in early half end; do
	export DIES
	rm -rf once/*
	search "dies-$DIES" "a stream" --sample=$plan --launch ./dies --jobs 3
	equal "a launcher that dies ($DIES)" sampled "dies-$DIES"
	nonzero "it was started twice" "$(find once -mindepth 1 | wc -l)"
done
rm -rf once/*
search dies-full "a stream" --launch ./dies --jobs 3
equal "a launcher that dies, in full detail" full dies-full

# Another folder, as ssh has it.
search away "a stream" --launch "sh -c 'cd /; exec \"\$@\"' -"
equal "from another folder" full away

# What a launcher may do wrong.
wrong() {	# WHAT PATTERN COMMAND
	refuse "$1" "$2" "$SOFTPMU" tune --fresh --state wrong.state --core skylake --features dsb.size --no-prune \
		--replay live -o wrong.out --launch "$3"
	touch wrong.state
	same "nothing is kept of it" "$(cat wrong.state)" ""
}
wrong "no command" 'names no command' ' # none'
refuse "a quotation without an end" 'quotation' "$SOFTPMU" tune --launch "env 'a" --replay live
wrong "a command that does not exist" 'no results 3 times; .*cannot run ./nothing: No such file' ./nothing
wrong "a command that fails" 'no results 3 times; .*ended with status 1 and no message' false
wrong "a command that says why it fails" "it said 'sh: no node is free'" 'sh -c "echo sh: no node is free >&2; exit 3"'
wrong "a command that prints rubbish" "it printed 'rubbish', which is no result" 'sh -c "echo rubbish"'
wrong "endless rubbish" "ended in the middle of a line, '0000" 'sh -c "head -c 20000000 /dev/zero | tr -c 0 0"'
wrong "a short answer" 'ended without all results' 'sh -c "echo end"'
answer=$(awk 'BEGIN { printf "measured 0"; for (i = 0; i < 34; i++) printf " 1"; print " 0x0p+0" }')
rubbish() {	# WHAT TEXT: the command prints it
	printf '%b' "$2" >rubbish
	wrong "$1" "${3:-which is no result}" 'sh -c "cat rubbish"'
}
rubbish "a result of nothing that was asked for" "measured 7${answer#measured 0}\nend\n"
rubbish "a result twice" "$answer\n$answer\nend\n"
rubbish "a negative count" "measured 0 -1${answer#measured 0 1}\nend\n"
rubbish "a count beyond 64 bits" "measured 0 99999999999999999999${answer#measured 0 1}\nend\n"
rubbish "a count too many" "measured 0 1${answer#measured 0}\nend\n"
rubbish "lines behind the end" "$answer\nend\nend\n"
rubbish "a NUL" "$answer\0000\nend\n"
rubbish "an error of no known kind" "failed 0 99 why\nend\n"
rubbish "an answer without its end" "$answer\n" 'ended without all results'
rubbish "an error of the replay" "failed 0 2 the reason\nend\n" 'with .*: the reason'
# A node that has another machine by this name, or another softpmu.
changes() { wrong "$1" "$2" "sh -c 'sed -z s/^$3=.*/$3=other/ | \"\$@\"' -"; }
changes "another machine" 'the core skylake differs on this node' machine
changes "another softpmu" 'the search runs other, but this node has softpmu' model
changes "a stream that is not there" 'other' stream
refuse "a request that is none" 'does not say what to do' "$SOFTPMU" tune work
refuse "words" 'takes no words' "$SOFTPMU" tune work live

# An interrupted search ends what it started, also what its launcher would leave behind.
cat >stays <<'END'
#!/bin/sh
trap '' TERM
cat >request.$$
"$@" <request.$$ &
echo $! >>started
wait
END
chmod +x stays
: >started
"$SOFTPMU" tune --fresh --state long.state --core skylake --exhaustive 100000 --features 'l?.size,l1?.size,dsb.size' \
	--no-prune --no-profile --replay "a stream" --launch ./stays --jobs 2 -o long 2>said &
job=$!
some() { [ "$(wc -l <started)" -ge 2 ]; }
wait_until some
kill -TERM $job
wait $job
same "an interrupted search fails" $? 1
has "it says what is kept" "interrupted; .* kept in long.state" said
all_gone() { while read -r pid; do gone "$pid" || return 1; done <started; }
wait_until all_gone && ok "the replays have ended" || bad "replays go on"
exit $failed
