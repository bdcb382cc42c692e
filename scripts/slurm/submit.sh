#!/usr/bin/env bash
# Submits a sweep as a Slurm job array, one task per shard, and a job that merges the results. See
# README.md.
set -euo pipefail

usage='usage: submit.sh PLAN.ron OUT SHARDS [sbatch options...]
  WARPBOUND  the binary, if it is not warpbound in PATH; every node must see it, PLAN and OUT under the same paths'

fail() {
    echo "submit.sh: $1" >&2
    if [ $# -gt 1 ]; then echo "  hint: $2" >&2; fi
    exit 1
}

# Prints the absolute path of a file. Links are kept, since files that a plan names are relative to
# the plan.
absolute() {
    local folder
    folder=$(cd -- "$(dirname -- "$1")" && pwd) && printf '%s/%s\n' "${folder%/}" "$(basename -- "$1")"
}

# Prints a field of a manifest. The plan, which is in the manifest too, is one line that begins with
# another name.
field() { sed -n "s/^  \"$2\": \"\\{0,1\\}\\([0-9a-f]*\\)\"\\{0,1\\},\$/\\1/p" "$1"; }

if [ $# -lt 3 ]; then
    echo "$usage" >&2
    exit 2
fi
plan=$1 out=$2 shards=$3
shift 3
options=("$@")
[ "$plan" != - ] || fail 'the plan cannot come from stdin: every task reads it' 'write it to a file'
[[ -f $plan && -r $plan ]] || fail "no plan \`$plan\`" 'a .ron file; warpbound sweep --help shows what is in one'
[[ $shards =~ ^[1-9][0-9]{0,6}$ ]] || fail "\`$shards\` is no number of shards" 'a whole number from 1, for example 16'
for option in "${options[@]}"; do
    case $option in
    # the options apply to both jobs, but these make no sense for the merge
    -a* | --array | --array=* | --wrap | --wrap=*) fail "\`$option\` cannot be chosen here" \
        'SHARDS makes the array; scontrol update jobid=JOB ArrayTaskThrottle=N limits how many run at once' ;;
    esac
done
for tool in sbatch scancel; do
    command -v "$tool" >/dev/null || fail "no \`$tool\` in PATH" 'run this where jobs are submitted, or see README.md for other ways'
done
binary=$(command -v -- "${WARPBOUND:-warpbound}") ||
    fail "no program \`${WARPBOUND:-warpbound}\`" 'WARPBOUND=/path/to/warpbound, which every node must see'
binary=$(absolute "$binary")
plan=$(absolute "$plan")
here=$(cd -- "$(dirname -- "${BASH_SOURCE[0]}")" && pwd)

# Errors in the plan are reported now, and not by every task when it starts.
probe=$(mktemp -d)
trap 'rm -rf -- "$probe"' EXIT
"$binary" sweep "$plan" --out "$probe/plan" --time-limit 0 >/dev/null 2>"$probe/errors" || true
if [ ! -f "$probe/plan/manifest.json" ]; then
    cat "$probe/errors" >&2
    fail 'the plan cannot be swept' 'see above'
fi
points=$(field "$probe/plan/manifest.json" points)
digest=$(field "$probe/plan/manifest.json" plan_digest)
[[ -n $points && -n $digest ]] || fail "\`$binary\` wrote a manifest that this script does not understand"
mkdir -p -- "$out/slurm" "$out/shards" || fail "cannot create folders in \`$out\`"
out=$(cd -- "$out" && pwd)
for manifest in "$out/manifest.json" "$out"/shards/*-of-"$shards"/manifest.json; do
    [ ! -f "$manifest" ] || [ "$(field "$manifest" plan_digest)" = "$digest" ] ||
        fail "$(dirname "$manifest") has results of another plan, or of other kernels or machines" 'choose another OUT'
done

# The options after those of the user cannot be changed by the user.
submit() { sbatch --parsable --nodes=1 --ntasks=1 "$@"; }
ours=(--chdir="$out/slurm" --open-mode=append)
array=$(submit --job-name=warpbound-sweep "${options[@]}" "${ours[@]}" --requeue --array="1-$shards" \
    --output="shard-%a-of-$shards.log" "$here/job.sh" shard "$binary" "$plan" "$out" "$shards") ||
    fail 'sbatch rejected the shards' 'see above'
merge=$(submit --job-name=warpbound-merge "${options[@]}" "${ours[@]}" --requeue --dependency="afterok:${array%%;*}" \
    --kill-on-invalid-dep=yes --output=merge.log "$here/job.sh" merge "$binary" "$out" "$shards") || {
    scancel "${array%%;*}"
    fail "sbatch rejected the merge; the shards, job ${array%%;*}, are cancelled" 'see above'
}
array=${array%%;*} merge=${merge%%;*}
cat <<END
$points points in $shards shards
job $array   the shards: $out/shards/I-of-$shards, $out/slurm/shard-I-of-$shards.log
job $merge   merges them when all are done: $out/results.csv, $out/slurm/merge.log
follow    squeue --jobs=$array,$merge
          tail -F $(printf %q "$out/slurm/merge.log")
stop      scancel $array $merge; the same submit.sh command resumes from the existing results
END
