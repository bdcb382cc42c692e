#!/usr/bin/env bash
# The jobs that submit.sh submits run this script:
#   job.sh shard BINARY PLAN OUT SHARDS    one shard: a task of the array
#   job.sh merge BINARY OUT SHARDS         the job after it
#
# A job exits with 0 if it has a result for every point. Violated bounds and failed points are
# results, and not failures of the job.
set -uo pipefail

# How often a shard whose process is killed is restarted. Without a limit, a shard for which memory
# is too small would be restarted for ever.
most_restarts=3

say() { echo "$(date +%FT%T) $name: $*"; }

give_up() {
    say "$1"
    exit 1
}

# Runs warpbound with these arguments and sets `code` to its exit code. Gives up unless all results
# exist or a signal ended the command. Quotes in texts of the report are escaped, so that the
# pattern does not match them.
run() {
    local file=$out/slurm/$name.json report
    # the report of an earlier run must not be mistaken for that of this run
    rm -f -- "$file" || give_up "cannot write $file"
    "$binary" "$@" --format json >"$file"
    code=$?
    [ "$code" -le 128 ] || return 0
    report=$(cat "$file")
    local results='"wanted":([0-9]+),"points":([0-9]+),"failed":([0-9]+),"holds":[0-9]+,"violated":([0-9]+),'
    if ! [[ $report =~ $results ]]; then
        echo "$report"
        give_up "failed (exit code $code)"
    fi
    local wanted=${BASH_REMATCH[1]} points=${BASH_REMATCH[2]}
    say "$points of $wanted points, ${BASH_REMATCH[4]} violated, ${BASH_REMATCH[3]} failed (exit code $code)"
    [ "$points" = "$wanted" ] || give_up 'points are missing; submit again to resume'
    case $code in
    0 | 3) ;; # 3: bounds are violated
    *) give_up 'could not write all results; see above' ;;
    esac
}

shard() {
    local plan=$2 shards=$4
    local index=$SLURM_ARRAY_TASK_ID cores=${SLURM_CPUS_PER_TASK:-${SLURM_CPUS_ON_NODE:-1}}
    binary=$1 out=$3 name=shard-$index-of-$shards
    say "job ${SLURM_ARRAY_JOB_ID}_$index on $(hostname), cores: $cores, restarts: ${SLURM_RESTART_COUNT:-0}"
    run sweep "$plan" --out "$out/shards/$index-of-$shards" --shard "$index/$shards" --resume --jobs "$cores"
    if [ "$code" -gt 128 ]; then
        say "warpbound was ended by signal $((code - 128))"
        if [ "${SLURM_RESTART_COUNT:-0}" -lt "$most_restarts" ]; then
            # not SLURM_JOB_ID: for one of the tasks it is the id of the whole array
            scontrol requeue "${SLURM_ARRAY_JOB_ID}_$index" && say 'resumes when Slurm restarts it'
        fi
        exit "$code"
    fi
}

merge() {
    local shards=$3 folders=() index
    binary=$1 out=$2 name=merge
    for ((index = 1; index <= shards; index++)); do folders+=("$out/shards/$index-of-$shards"); done
    # an older file would hide that this merge could not write it
    rm -f -- "$out/results.csv"
    run merge "${folders[@]}" --out "$out"
    [ "$code" -le 128 ] || give_up "warpbound was ended by signal $((code - 128))"
    [ -f "$out/results.csv" ] || give_up 'there is no results.csv; see above'
    say "$out/results.csv, $out/results.jsonl"
}

case ${1-} in
shard | merge) "$@" ;;
*)
    echo "job.sh: submitted by submit.sh, not run by hand" >&2
    exit 2
    ;;
esac
