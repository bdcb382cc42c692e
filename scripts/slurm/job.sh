#!/usr/bin/env bash
# What the jobs run that submit.sh submits:
#   job.sh shard BINARY PLAN OUT SHARDS    one shard: a task of the array
#   job.sh merge BINARY OUT SHARDS         the job after it
#
# `shard` exits 0 if nothing says that the shard is incomplete, `merge` if every point of the plan is there. That bounds
# are violated or that points failed are results and no failures of a job.
set -uo pipefail

# How often a shard whose process is killed goes on by itself; where memory is too small it would be for ever.
most_restarts=3

say() { echo "$(date +%FT%T) $name: $*"; }

give_up() {
    say "$1"
    exit 1
}

# Runs warpbound with these arguments, and reads its report. Sets `code`, and what the report says of the results:
# `plan_points`, `points`, `complete`, `failed`, `violated`. Text in the report has its quotes escaped, so that the
# pattern finds nothing in it.
run() {
    local file=$out/slurm/$name.json report
    # one of an earlier run is not taken for that of this one
    rm -f -- "$file" || give_up "cannot write $file"
    "$binary" "$@" --format json >"$file"
    code=$?
    [ "$code" -le 128 ] || return 0
    report=$(cat "$file")
    local results='"plan_points":([0-9]+),("shard":"[0-9/]+",)?"points":([0-9]+),"complete":(true|false),"failed":([0-9]+),"holds":[0-9]+,"violated":([0-9]+),'
    if ! [[ $report =~ $results ]]; then
        echo "$report"
        give_up "failed (exit code $code)"
    fi
    plan_points=${BASH_REMATCH[1]} points=${BASH_REMATCH[3]} complete=${BASH_REMATCH[4]}
    failed=${BASH_REMATCH[5]} violated=${BASH_REMATCH[6]}
    say "$points of $plan_points points, $violated violated, $failed failed (exit code $code)"
    [[ $report != *'"stopped":"'* ]] || give_up 'was stopped before it was through; submit again to go on'
}

# Gives up unless all results are written that there are.
all_written() {
    case $code in
    0 | 3) ;; # 3: bounds are violated
    1) [ "$failed" -gt 0 ] || give_up 'could not write all results; see above' ;;
    *) give_up "failed (exit code $code)" ;;
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
            # not SLURM_JOB_ID: that of one of the tasks means all of them
            scontrol requeue "${SLURM_ARRAY_JOB_ID}_$index" && say 'goes on when Slurm starts it again'
        fi
        exit "$code"
    fi
    all_written
}

merge() {
    local shards=$3 folders=() index
    binary=$1 out=$2 name=merge
    for ((index = 1; index <= shards; index++)); do folders+=("$out/shards/$index-of-$shards"); done
    # an older one would hide that this merge could not write it
    rm -f -- "$out/results.csv"
    run merge "${folders[@]}" --out "$out"
    [ "$code" -le 128 ] || give_up "warpbound was ended by signal $((code - 128))"
    [ "$complete" = true ] || give_up 'points are missing; submit again to go on'
    all_written
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
