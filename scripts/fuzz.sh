#!/usr/bin/env bash
# Tests the readers of all formats with mutated files for MINUTES minutes:
#
#   scripts/fuzz.sh MINUTES [FORMAT [FIRST]]
#
# Without FORMAT every format of tests/fuzz has an equal share of the time. FIRST is the number of
# the first input; it is random by default. The script prints for each format the number of inputs,
# and how many of them were accepted, refused, or failed. A failing input is written to
# target/fuzz/FORMAT-NUMBER. These commands run one of them again:
#
#   export WARPBOUND_FUZZ=ptx WARPBOUND_FUZZ_FILE=$PWD/target/fuzz/ptx-17
#   cargo test --test fuzz one_file -- --ignored
#
# When the fault is corrected, the file is added to tests/data/fuzz/FORMAT. The variable CARGO is
# the command for cargo, and MEMORY the limit of a process's address space in KiB.
set -euo pipefail
cd "$(dirname "$0")/.."

[ $# -ge 1 ] || { sed -n '2,16s/^# \{0,1\}//p' "$0"; exit 2; }
minutes=$1
first=${3:-$((RANDOM * 32768 * 32768 + RANDOM * 32768 + RANDOM))}

program=$(${CARGO:-cargo} test --test fuzz --no-run --message-format=json |
    sed -n 's/.*"name":"fuzz".*"executable":"\([^"]*\)".*/\1/p')
formats=${2:-$($program --list | sed -n 's/^\([a-z]*\): test$/\1/p' | grep -vx 'campaign\|one_file')}
ulimit -v "${MEMORY:-8388608}" -c 0
out=$PWD/target/fuzz
mkdir -p "$out"
seconds=$((minutes * 60 / $(wc -w <<<"$formats")))

failed_in_all=0
for format in $formats; do
    next=$first
    inputs=0 accepted=0 refused=0 failed=0
    end=$((SECONDS + seconds))
    while left=$((end - SECONDS)) && [ "$left" -gt 0 ]; do
        rm -f "$out/$format.tally"
        code=0
        WARPBOUND_FUZZ=$format WARPBOUND_FUZZ_FROM=$next WARPBOUND_FUZZ_SECONDS=$left WARPBOUND_FUZZ_OUT=$out \
            "$program" --ignored --exact campaign --nocapture >"$out/$format.log" 2>&1 || code=$?
        grep "^$format input " "$out/$format.log" || true
        read -r next i a r f <"$out/$format.tally" || { cat "$out/$format.log"; exit 1; }
        inputs=$((inputs + i)) accepted=$((accepted + a)) refused=$((refused + r)) failed=$((failed + f))
        if [ "$code" -ne 0 ]; then
            # the process ended while it read an input: this input failed, and the next one is tried
            mv "$out/$format.input" "$out/$format-$next"
            echo "$format input $next ($out/$format-$next): the process ended with $code: $(grep -v '^$' "$out/$format.log" | tail -n 1)"
            inputs=$((inputs + 1)) failed=$((failed + 1)) next=$((next + 1))
        fi
    done
    rm -f "$out/$format.input" "$out/$format.tally" "$out/$format.log"
    echo "$format: $inputs inputs from $first, $accepted accepted, $refused refused, $failed failed"
    failed_in_all=$((failed_in_all + failed))
done
[ "$failed_in_all" -eq 0 ]
