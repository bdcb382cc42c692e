#!/usr/bin/env bash
# Builds the wheels of the Python package that are published:
#
#   scripts/wheels.sh [TARGET ...]
#
# One wheel is built for each target, and written to target/wheels. Without TARGET they are
# x86_64-unknown-linux-gnu and aarch64-unknown-linux-gnu. The compiler links with Zig's copies of the
# C library, so that the wheels work on every Linux with glibc 2.28 or later (manylinux_2_28),
# whatever machine builds them. Maturin and Zig come from PyPI into an environment of their own.
set -euo pipefail
cd "$(dirname "$0")/.."

case "${1:-}" in -*) sed -n '2,9s/^# \{0,1\}//p' "$0"; exit 2 ;; esac

env=target/wheels-env
out=$PWD/target/wheels
targets=("$@")
[ $# -gt 0 ] || targets=(x86_64-unknown-linux-gnu aarch64-unknown-linux-gnu)

for target in "${targets[@]}"; do
    if [ ! -d "$(rustc --print sysroot)/lib/rustlib/$target/lib" ]; then
        echo "wheels: $target is not installed; install it with: rustup target add $target" >&2
        exit 1
    fi
done

[ -x $env/bin/pip ] || python3 -m venv $env
$env/bin/pip install -q --disable-pip-version-check 'maturin>=1.9,<2' ziglang
# maturin looks for `python-zig`
export PATH=$PWD/$env/bin:$PATH

rm -rf "$out"
for target in "${targets[@]}"; do
    (cd python && maturin build -q --release --locked --zig --target "$target" \
        --compatibility manylinux_2_28 --out "$out")
done
ls -l "$out"
