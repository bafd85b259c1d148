#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# A sweep on a real Slurm with four nodes on this host (tests/slurm-cluster.sh): 4 programs on 8 machines give the same
# database as a sweep without Slurm, also if a node is killed in mid-sweep, or Slurm's controller, or the sweep itself.
. "$TOP/tests/lib.sh"
cluster=$work/cluster
trap '"$TOP/tests/slurm-cluster.sh" down "$cluster" >/dev/null 2>&1; rm -rf "$work"' EXIT
"$TOP/tests/slurm-cluster.sh" up "$cluster" 4 >up.out 2>&1 || skip "$(tail -n 1 up.out)"
SLURM_CONF=$cluster/slurm.conf
export SLURM_CONF

bare_stream true.trace /bin/true
bare_stream echo.trace /bin/echo a >/dev/null
bare_stream basename.trace /usr/bin/basename /a/b >/dev/null
# long enough for a sweep to have a middle
bare_stream loop.trace /bin/sh -c 'i=0; while [ $i -lt 1000 ]; do i=$((i + 1)); done'
for p in loop true echo basename; do echo "stream $p $p.trace"; done >plan
cat >>plan <<-EOF
	core golden-cove skylake
	set rob.size 224 128
	feature tage.size full 1/2
	events branch-misses
	energy
	detail
EOF
content() { sqlite3 "$1/results.db" 'SELECT * FROM result ORDER BY program, machine, event'; }
check "a sweep runs here" "$SOFTPMU" sweep -q -j 2 --dir local plan
content local >local.rows
same "it has 4 programs on 8 machines" "$(wc -l <local.rows)" 160

sweep() { "$SOFTPMU" sweep --slurm --poll 0.2 "$@"; }

check "a sweep runs on Slurm" sweep -q --dir slurm plan
content slurm | same_files "and ends in the same database" local.rows /dev/stdin
hosts=$(sqlite3 slurm/results.db 'SELECT count(*) FROM cost')
same "every point has its cost" "$hosts" 32
same "no job, task, result or log is left over" "$(squeue -h | wc -l) $(ls slurm/tasks slurm/results slurm/logs | \
	grep -c '^[0-9a-f]')" "0 0"
check "the same sweep again submits nothing" sweep -q --dir slurm plan
same "so Slurm has no new job" "$(squeue -h | wc -l)" 0

# a node loses its power: what ran there is run elsewhere
running() { [ "$(squeue -h -r -t RUNNING -o %N | grep -c "$1")" -gt 0 ] || gone "$pid"; }
sweep -q --dir node plan &
pid=$!
wait_until running n2
check "a node is killed" "$TOP/tests/slurm-cluster.sh" kill-node "$cluster" 2
wait $pid
same "the sweep ends well" $? 0
content node | same_files "and ends in the same database" local.rows /dev/stdin
"$TOP/tests/slurm-cluster.sh" start-node "$cluster" 2

# Slurm's controller is killed and comes back
sweep -q --dir control plan 2>control.err &
pid=$!
wait_until running n
check "slurmctld is killed and started again" "$TOP/tests/slurm-cluster.sh" restart-controller "$cluster"
wait $pid
same "the sweep ends well" $? 0
content control | same_files "and ends in the same database" local.rows /dev/stdin
[ $failed = 0 ] || cat control.err

# the sweep is killed: its jobs go on, and the next one neither loses nor repeats them
"$SOFTPMU" sweep -q --slurm --poll 0.2 --dir killed plan 2>killed.err &
pid=$!
wait_until running n
kill -KILL $pid
wait $pid 2>/dev/null
check "a sweep that was killed goes on" sweep --dir killed plan
content killed | same_files "and ends in the same database" local.rows /dev/stdin

# a message to the controller gets lost, which can happen in the restart above, too
mkdir bin
cat >bin/squeue <<EOF
#!/bin/sh
[ -e $work/squeue.failed ] && exec $(command -v squeue) "\$@"
touch $work/squeue.failed
echo 'squeue: error: slurm_msg_sendto: address:port=127.0.0.1:1 msg_type=2003: Unexpected missing socket error' >&2
exit 1
EOF
chmod +x bin/squeue
check "a lost message is sent again" env PATH="$PWD/bin:$PATH" "$SOFTPMU" sweep -q --slurm --poll 0.2 --dir lost plan
check "one was lost" [ -e "$work/squeue.failed" ]
content lost | same_files "and it ends in the same database" local.rows /dev/stdin

# Slurm refuses: one line
refuse "options that sbatch refuses" 'sbatch: ' \
	"$SOFTPMU" sweep -q --slurm --dir refused --sbatch=--partition=nosuch plan
exit $failed
