#!/usr/bin/env bash
# Tests submit.sh on a real Slurm, which this script starts on this machine and ends: its own
# slurmctld, slurmd and munged, with separate ports, keys and folders. Needs root, and slurm-wlm and
# munge of Debian or Ubuntu.
#
# A sweep in shards, of which one is killed by SIGKILL and one requeued in the middle, must give the
# bytes of a sweep in one process. Incomplete shards must not be merged. Shards with violated bounds
# or failed points must be merged.
#
# usage: [WARPBOUND=/path/to/warpbound] test.sh [--keep]    exits with 0 if every check succeeds
set -euo pipefail
here=$(cd -- "$(dirname -- "${BASH_SOURCE[0]}")" && pwd)
keep=${1-}
shards=4
# the time limit of each step in seconds
patience=600

indented() { sed 's/^/         /'; }
log() { echo "$(date +%T) $*"; }
fail() {
    log "FAILED: $*"
    exit 1
}

[ "$(id -u)" = 0 ] || fail 'this needs root: Slurm starts jobs as their owner'
PATH=$PATH:/usr/sbin
for tool in slurmctld slurmd munged sbatch scontrol squeue; do
    command -v "$tool" >/dev/null || fail "no \`$tool\`: apt-get install slurm-wlm munge"
done
export WARPBOUND=${WARPBOUND:-$here/../../target/release/warpbound}
command -v "$WARPBOUND" >/dev/null || fail "no \`$WARPBOUND\`: cargo build --release, or set WARPBOUND"

# only the settings and the Slurm of this script are used
unset "${!SLURM_@}" "${!SBATCH_@}" "${!SCANCEL_@}" "${!SQUEUE_@}" "${!SINFO_@}"
work=$(mktemp -d "${TMPDIR:-/tmp}/warpbound-slurm.XXXXXX")
export SLURM_CONF=$work/slurm.conf
daemons=()
stop() {
    local code=$? pid
    trap - EXIT INT TERM
    # jobs end first, and with them the processes that they started
    [ "${#daemons[@]}" -eq 0 ] || scancel --user=root 2>/dev/null || true
    for ((wait = 0; wait < 20; wait++)); do
        [[ ${#daemons[@]} -gt 0 && -n $(squeue --noheader 2>/dev/null) ]] || break
        sleep 0.5
    done
    for pid in "${daemons[@]}"; do kill "$pid" 2>/dev/null || true; done
    for pid in "${daemons[@]}"; do
        for ((wait = 0; wait < 50; wait++)); do
            kill -0 "$pid" 2>/dev/null || break
            sleep 0.1
        done
        kill -KILL "$pid" 2>/dev/null || true
    done
    if [ "$keep" = --keep ] || [ "$code" -ne 0 ]; then
        log "everything is in $work"
    else
        rm -rf -- "$work"
    fi
    exit "$code"
}
trap stop EXIT
trap 'exit 130' INT
trap 'exit 143' TERM

# waits until COMMAND... succeeds
await() {
    local what=$1 begin=$SECONDS
    shift
    until "$@"; do
        [ $((SECONDS - begin)) -lt "$patience" ] || fail "waited $patience seconds for $what"
        sleep 0.05
    done
}

start_slurm() {
    mkdir -m 755 "$work"/{run,state,spool}
    dd if=/dev/urandom of="$work/munge.key" bs=128 count=1 status=none
    chmod 400 "$work/munge.key"
    chmod 755 "$work"
    munged --foreground --socket="$work/run/munge.socket" --key-file="$work/munge.key" \
        --pid-file="$work/run/munged.pid" --log-file="$work/run/munged.log" --seed-file="$work/run/munged.seed" \
        --num-threads=2 2>"$work/run/munged.err" &
    daemons+=($!)
    # two free ports
    local ports=() port
    for ((port = 26817; port < 27817 && ${#ports[@]} < 2; port++)); do
        (exec 3<>"/dev/tcp/127.0.0.1/$port") 2>/dev/null || ports+=("$port")
    done
    # the only node, `here`, has as many cores as there are shards, whatever the machine has
    cat >"$SLURM_CONF" <<END
ClusterName=warpbound-test
SlurmctldHost=$(hostname)(127.0.0.1)
SlurmUser=root
SlurmdUser=root
AuthType=auth/munge
AuthInfo=socket=$work/run/munge.socket,cred_expire=5
CredType=cred/munge
SlurmctldPort=${ports[0]}
SlurmdPort=${ports[1]}
StateSaveLocation=$work/state
SlurmdSpoolDir=$work/spool
SlurmctldPidFile=$work/run/slurmctld.pid
SlurmdPidFile=$work/run/slurmd.pid
SlurmctldLogFile=$work/run/slurmctld.log
SlurmdLogFile=$work/run/slurmd.log
SlurmdParameters=config_overrides
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
JobAcctGatherType=jobacct_gather/none
AccountingStorageType=accounting_storage/none
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
MpiDefault=none
ReturnToService=2
KillWait=5
MinJobAge=3600
SchedulerParameters=sched_min_interval=0,batch_sched_delay=0,sched_interval=1,bf_interval=1
NodeName=here NodeHostname=$(hostname) NodeAddr=127.0.0.1 CPUs=$shards State=UNKNOWN
PartitionName=all Nodes=here Default=YES MaxTime=INFINITE State=UP
END
    await 'munge' test -S "$work/run/munge.socket"
    slurmctld -D -i >"$work/run/slurmctld.out" 2>&1 &
    daemons+=($!)
    slurmd -D -N here >"$work/run/slurmd.out" 2>&1 &
    daemons+=($!)
    await 'the node' node_is_idle
    log "$(slurmctld -V) runs in $work"
}
node_is_idle() { [ "$(sinfo --noheader --format=%T 2>/dev/null)" = idle ]; }

# submit PLAN OUT SHARDS; sets `array` and `merge`
submit() {
    local output
    output=$("$here/submit.sh" "$@") || fail "submit.sh $*"
    indented <<<"$output"
    { read -r array && read -r merge; } < <(sed -n 's/^job \([0-9]*\) .*/\1/p' <<<"$output") || fail 'submit.sh named no jobs'
}
field() { scontrol show job --oneliner "$1" | tr ' ' '\n' | sed -n "s/^$2=//p" | head -n 1; }
ended() { [[ $(field "$1" JobState) =~ ^(COMPLETED|FAILED|CANCELLED|TIMEOUT|NODE_FAIL|BOOT_FAIL|OUT_OF_MEMORY|DEADLINE)$ ]]; }
await_end() {
    await "job $1" ended "$1"
    log "job $1 is $(field "$1" JobState)"
}
lines() { if [ -f "$1" ]; then wc -l <"$1"; else echo 0; fi; }
has_lines() { [ "$(lines "$1")" -gt 0 ]; }

# Prints the id of the process that sweeps into this folder.
sweeping() {
    local process
    for process in /proc/[0-9]*; do
        if tr '\0' '\n' <"$process/cmdline" 2>/dev/null | grep -qxF -- "$1" && [ "$(readlink "$process/exe")" = "$real" ]; then
            basename "$process"
            return
        fi
    done
    return 1
}
real=$(readlink -f "$(command -v "$WARPBOUND")")

same() {
    local file
    for file in results.jsonl results.csv manifest.json; do
        cmp -- "$1/$file" "$2/$file" || fail "$2/$file has other bytes than $1/$file"
    done
    log "the same bytes as of one process: results.jsonl ($(lines "$1/results.jsonl") lines), results.csv, manifest.json"
}

# disturbed LATENCIES: sweeps the suite with LATENCIES latencies, and kills and requeues shards in
# the middle. Returns 1 if a shard was already complete by then. It is called where `set -e` has no
# effect, so that errors are handled explicitly.
disturbed() {
    local latencies=$1 folder="$work/a plan of $1"
    local plan=$folder/plan.ron alone=$folder/alone out="$folder/100% out" index before
    mkdir "$folder"
    cat >"$plan" <<END
Sweep(kernels: [Suite], seeds: [0, 1, 2, 3], settings: { "mem_latency": [$(seq -s, 400 -3 $((403 - 3 * latencies)))] })
END
    "$WARPBOUND" sweep "$plan" --out "$alone" --quiet >/dev/null || fail "the sweep in one process: exit code $?"
    log "one process: $(lines "$alone/results.jsonl") points"
    submit "$plan" "$out" "$shards"

    local killed="$out/shards/2-of-$shards/results.jsonl" requeued="$out/shards/3-of-$shards/results.jsonl" pid
    await 'the first lines of shard 2' has_lines "$killed"
    if ! pid=$(sweeping "$out/shards/2-of-$shards"); then
        log 'shard 2 ended before it could be killed'
        return 1
    fi
    if ! kill -KILL "$pid"; then return 1; fi
    await "the end of process $pid" test ! -e "/proc/$pid"
    local at_kill at_requeue
    at_kill=$(lines "$killed")
    log "shard 2: process $pid killed after $at_kill lines"
    await 'the first lines of shard 3' has_lines "$requeued"
    if ! pid=$(sweeping "$out/shards/3-of-$shards"); then
        log 'shard 3 ended before it could be requeued'
        return 1
    fi
    scontrol requeue "${array}_3" || return 1
    await "the end of process $pid" test ! -e "/proc/$pid"
    at_requeue=$(lines "$requeued")
    log "shard 3: requeued after $at_requeue lines"

    await_end "$merge"
    for index in $(seq "$shards"); do
        log "shard $index: $(lines "$out/shards/$index-of-$shards/results.jsonl") lines, $(field "${array}_$index" JobState), restarts: $(field "${array}_$index" Restarts)"
    done
    if [ "$at_kill" -ge "$(lines "$killed")" ] || [ "$at_requeue" -ge "$(lines "$requeued")" ]; then
        log 'a shard had all its lines when it was disturbed'
        return 1
    fi
    cat "$out/slurm/shard-2-of-$shards.log" "$out/slurm/shard-3-of-$shards.log" "$out/slurm/merge.log" | indented
    [ "$(field "${array}_2" Restarts)" = 1 ] || fail 'shard 2 was not started again'
    [ "$(field "${array}_3" Restarts)" = 1 ] || fail 'shard 3 was not started again'
    [ "$(field "$merge" JobState)" = COMPLETED ] || fail 'the merge failed'
    same "$alone" "$out"

    log '== a cancelled shard: nothing is merged; submitted again, it resumes'
    out="$folder/cancelled"
    submit "$plan" "$out" "$shards"
    await 'the first lines of shard 4' has_lines "$out/shards/4-of-$shards/results.jsonl"
    scancel "${array}_4" || fail 'scancel'
    await_end "$merge"
    before=$(lines "$out/shards/4-of-$shards/results.jsonl")
    [ "$(field "$merge" JobState)" = CANCELLED ] || fail 'the merge was not cancelled'
    [[ ! -e $out/results.jsonl && ! -e $out/results.csv ]] || fail 'there are merged results'
    # the other shards end before the same folders are used again
    for index in 1 2 3; do await_end "${array}_$index"; done
    submit "$plan" "$out" "$shards"
    await_end "$merge"
    same "$alone" "$out"
    log "shard 4 had $before of $(lines "$out/shards/4-of-$shards/results.jsonl") lines when it was cancelled"
    if [ "$before" -ge "$(lines "$out/shards/4-of-$shards/results.jsonl")" ]; then return 1; fi

    log '== a shard without its last line is incomplete'
    rm "$out"/{manifest.json,results.*}
    sed -i '$d' "$out/shards/1-of-$shards/results.jsonl"
    if "$here/job.sh" merge "$WARPBOUND" "$out" "$shards"; then fail 'it was merged as if it were complete'; fi
}

# Tests that violated bounds and failed points are results.
results_of_all_kinds() {
    local folder=$work/verdicts
    mkdir "$folder"
    cat >"$folder/plan.ron" <<'END'
Sweep(kernels: [Kernel("lrr-witness"), Vary("coalesce_stride_1", { "block": [32, 4096] })], machines: ["lrr-witness", "ecrts25-orin"])
END
    local code=0
    "$WARPBOUND" sweep "$folder/plan.ron" --out "$folder/alone" || code=$?
    [ "$code" = 3 ] || fail "the plan was to violate a bound (exit code 3), and gave $code"
    # more shards than there are jobs in the plan: some are empty
    submit "$folder/plan.ron" "$folder/out" 5
    await_end "$merge"
    cat "$folder"/out/slurm/*.log | indented
    [ "$(field "$merge" JobState)" = COMPLETED ] || fail 'the merge failed'
    same "$folder/alone" "$folder/out"
}

refused() {
    local output wanted=$1
    shift
    if output=$("$here/submit.sh" "$@" 2>&1); then fail "submit.sh accepted $*"; fi
    [[ $output == *"$wanted"* ]] || fail "submit.sh $*: printed $output instead of $wanted"
    log "refused: $(tr '\n' ' ' <<<"$output")"
}

log '== Slurm'
start_slurm
log '== invalid arguments are refused before anything is submitted'
echo 'Sweep(machines: ["none"])' >"$work/wrong.ron"
echo 'Sweep(kernels: [Kernel("saxpy")])' >"$work/right.ron"
refused 'no plan' "$work/no such.ron" "$work/o" 4
refused 'is no number of shards' "$work/right.ron" "$work/o" four
refused 'is no number of shards' "$work/right.ron" "$work/o" 0
refused 'cannot be chosen' "$work/right.ron" "$work/o" 4 --array=1-2
refused 'cannot be swept' "$work/wrong.ron" "$work/o" 4
refused 'sbatch rejected the shards' "$work/right.ron" "$work/o" 4 --partition=none
WARPBOUND=$work/none refused 'no program' "$work/right.ron" "$work/o" 4
[ -z "$(squeue --noheader)" ] || fail 'something was submitted'

log '== a sweep with a shard killed and one requeued in the middle'
latencies=28
until disturbed "$latencies"; do
    latencies=$((latencies * 2))
    [ "$latencies" -le 112 ] || fail 'never in the middle of a shard'
    scancel --user=root
    log "again, with $latencies latencies"
done
log '== violated bounds and failed points are merged'
results_of_all_kinds
log 'every check succeeded'
