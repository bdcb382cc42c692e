#!/usr/bin/env bash
# Checks formatting, lints, documentation, the book and tests. CI runs the same script in two parts:
# `--compile` does what needs the compiler, `--test` runs the tests that were compiled.
set -euo pipefail
cd "$(dirname "$0")/.."

step() { echo "== $*"; "$@"; }

# one profile for all steps: they share build scripts and procedural macros
if [ "${1:-}" != --test ]; then
    step cargo fmt --check
    step cargo clippy --profile ci --all-targets --workspace -- -D warnings
    RUSTDOCFLAGS="-D warnings" step cargo doc --profile ci --no-deps --document-private-items
    # the tests follow the links of the book and run its examples
    if command -v mdbook >/dev/null; then
        step mdbook build docs
    else
        echo "== mdbook is not installed: the book is not built"
    fi
    step cargo test --profile ci --no-run
fi
if [ "${1:-}" != --compile ]; then
    step cargo test --profile ci
    echo "== all checks passed"
fi
