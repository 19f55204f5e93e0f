# bench --shard: shares that are merged are the whole; and the same as an
# array job on a Slurm of one node, started here, with the double of CUDA and
# cuDNN.
. "$abs_top_srcdir/tests/lib.sh"

double_present || skip_all "built without CUDA and cuDNN headers"
unset $(env | sed -n 's/^\(SLURM_[A-Z_]*\)=.*/\1/p') SLURM_NONE

cat >tiny.json <<'END'
{ "name": "tiny", "batch": 4, "dtype": "fp32", "math": "fma",
  "layout": "nchw", "defaults": { "filter": 3, "pad": 1 },
  "layers": { "conv1": { "in": [9, 9], "c": 3, "k": 4 },
              "conv2": { "in": [7, 7], "c": 4, "k": 6, "repeat": 2 } } }
END

# keys PROFILE: what was measured, without times.
keys()
{
    ucudnn-plan dump "$1" | grep ^measurement | cut -f 2-5 | sort
}

expect 0 "the whole is measured" \
    with_double ucudnn-plan bench tiny.json -q -p whole.profile
keys whole.profile >whole

for i in 1 2 3; do
    expect 0 "share $i of 3" with_double \
        ucudnn-plan bench tiny.json -p part.$i.profile --shard $i/3
    ok "is told" grep -q "^share $i of 3: [0-9]* of 6 problems" err
    keys part.$i.profile >part.$i
done
expect 0 "they are merged" \
    ucudnn-plan merge -q -o merged.profile part.1.profile part.2.profile \
    part.3.profile
keys merged.profile >merged
ok "and are the whole" same whole merged
ok "none has what another has" \
    [ -z "$(sort part.1 part.2 part.3 | uniq -d)" ]
expect 0 "the merged profile has nothing left to measure" \
    with_double ucudnn-plan bench tiny.json -p merged.profile
measured_nothing " in "
expect 1 "a share out of range" \
    ucudnn-plan bench tiny.json -p none.profile --shard 4/3
err_has '--shard: "4/3" is no share such as 2/8'
expect 0 "a dry run says what the share holds" env SLURM_ARRAY_TASK_ID=0 \
    SLURM_ARRAY_TASK_MIN=0 SLURM_ARRAY_TASK_MAX=1 SLURM_ARRAY_TASK_STEP=1 \
    SLURM_ARRAY_TASK_COUNT=2 ucudnn-plan bench tiny.json -p none.profile -n
err_has "share 1 of 2 (from Slurm): 3 of 6 problems"
expect 0 "--shard goes before Slurm's environment" env SLURM_ARRAY_TASK_ID=0 \
    SLURM_ARRAY_TASK_MIN=0 SLURM_ARRAY_TASK_MAX=1 SLURM_ARRAY_TASK_STEP=1 \
    SLURM_ARRAY_TASK_COUNT=2 ucudnn-plan bench tiny.json -p none.profile -n \
    --shard 1/1
ok "and the whole is no share" [ ! -s err ]

# ------------------------------------------------------------------- Slurm

# slurm_missing: why Slurm cannot be started here, or nothing.
slurm_missing()
{
    PATH=$PATH:/usr/sbin:/sbin
    for program in munged slurmctld slurmd sbatch srun sinfo; do
        command -v $program >/dev/null || { echo "no $program"; return; }
    done
    [ "$(id -u)" -eq 0 ] || echo "its daemons are started as root only"
}

# free_port: one that nobody listens on.
free_port()
{
    port=$((20000 + ($$ + $1) % 20000))
    while grep -qi ":$(printf %04X $port) " /proc/net/tcp; do
        port=$((port + 1))
    done
    echo $port
}

write_configuration()
{
    host=$(hostname -s)
    mkdir -p slurm/munge slurm/state slurm/spool
    chmod 700 slurm/munge
    head -c 1024 /dev/urandom >slurm/munge/key
    chmod 400 slurm/munge/key
    cat >slurm/slurm.conf <<END
ClusterName=test
SlurmctldHost=$host(127.0.0.1)
SlurmctldPort=$(free_port 0)
SlurmdPort=$(free_port 7000)
AuthType=auth/munge
AuthInfo=socket=$scratch/slurm/munge/socket
CredType=cred/munge
SlurmUser=root
SlurmdUser=root
StateSaveLocation=$scratch/slurm/state
SlurmdSpoolDir=$scratch/slurm/spool
SlurmctldPidFile=$scratch/slurm/slurmctld.pid
SlurmdPidFile=$scratch/slurm/slurmd.pid
SlurmctldLogFile=$scratch/slurm/slurmctld.log
SlurmdLogFile=$scratch/slurm/slurmd.log
SlurmdParameters=config_overrides
ProctrackType=proctrack/pgid
TaskPlugin=task/none
JobAcctGatherType=jobacct_gather/none
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
MpiDefault=none
ReturnToService=2
SchedulerParameters=sched_min_interval=100000
NodeName=$host NodeAddr=127.0.0.1 CPUs=8 State=UNKNOWN
PartitionName=test Nodes=$host Default=YES MaxTime=5 State=UP
END
    SLURM_CONF=$scratch/slurm/slurm.conf
    export SLURM_CONF
}

stop_slurm()
{
    for stop_file in slurm/slurmctld.pid slurm/slurmd.pid slurm/munge/pid; do
        [ -s $stop_file ] && kill "$(cat $stop_file)" 2>/dev/null
    done
    # Its files are removed behind it.
    for stop_try in $(seq 100); do
        [ -e slurm/slurmctld.pid ] || [ -e slurm/slurmd.pid ] || return 0
        sleep 0.1
    done
    echo "# Slurm has not ended: try $stop_try was the last"
}

start_slurm()
{
    write_configuration
    munged --force --socket="$scratch/slurm/munge/socket" \
        --key-file="$scratch/slurm/munge/key" \
        --pid-file="$scratch/slurm/munge/pid" \
        --log-file="$scratch/slurm/munge/log" \
        --seed-file="$scratch/slurm/munge/seed" || return 1
    slurmctld -f "$SLURM_CONF" || return 1
    slurmd -f "$SLURM_CONF" -N "$host" || return 1
    for start_try in $(seq 100); do
        if timeout 10 sinfo -h -o %T | grep -q idle; then
            return 0
        fi
        sleep 0.2
    done
    echo "# no idle node: try $start_try was the last"
    return 1
}

# The job script of ucudnn-plan(1), but for its network and the double.
job_script()
{
    awk '/^\.\\" slurm job/ { found = 1; next }
        found && /^\.Ed/ { exit }
        inside { gsub(/\\-/, "-"); gsub(/\\e/, "\\"); print }
        found && /^\.Bd/ { inside = 1 }' "$abs_top_srcdir/man/ucudnn-plan.1" |
        sed "s/resnet50/tiny.json/; s/0-15/$1/"
}

reason=$(slurm_missing)
PATH=$PATH:/usr/sbin:/sbin
if [ -z "$reason" ] && ! start_slurm >slurm.out 2>&1 </dev/null; then
    show_file slurm.out
    for log in slurm/*.log slurm/munge/log; do
        [ -e "$log" ] && show_file "$log"
    done
    reason="Slurm does not start here"
    stop_slurm
fi
if [ -n "$reason" ]; then
    skip "an array job measures the whole" "$reason"
    skip "tasks of srun share what a job measures" "$reason"
    finish
    exit
fi
trap 'stop_slurm; chmod -R u+w "$scratch"; rm -rf "$scratch"' EXIT

LD_LIBRARY_PATH=$abs_top_builddir/tests/double
export LD_LIBRARY_PATH
job_script 2-6:2 >array.sh
ok "the manual's job script is there" grep -q "^#SBATCH --array=2-6:2" array.sh
expect 0 "an array job of three tasks" timeout 120 sbatch --wait array.sh
ok "made three profiles" [ "$(ls part-*.profile | wc -l)" -eq 3 ] ||
    cat slurm-*.out
ok "each told its share" [ "$(cat slurm-*.out | grep -c 'from Slurm')" -eq 3 ]
expect 0 "which are merged" ucudnn-plan merge -q -o all.profile part-*.profile
keys all.profile >all
ok "an array job measures the whole" same whole all

cat >step.sh <<'END'
#!/bin/sh
srun -n 4 sh -c 'ucudnn-plan bench tiny.json -p "step-$SLURM_PROCID.profile"'
END
expect 0 "a job of four tasks" timeout 120 sbatch --wait -n 4 -o step.out step.sh
expect 0 "whose profiles are merged" \
    ucudnn-plan merge -q -o steps.profile step-0.profile step-1.profile \
    step-2.profile step-3.profile
keys steps.profile >steps
ok "tasks of srun share what a job measures" same whole steps
ok "and measure nothing twice" [ "$(for i in 0 1 2 3; do
    keys step-$i.profile; done | wc -l)" -eq "$(wc -l <whole)" ]

finish
