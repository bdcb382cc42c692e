#!/usr/bin/env bash
# Checks formatting, lints, tests, documentation and the book. CI runs the same script.
set -euo pipefail
cd "$(dirname "$0")/.."

# Tests need no optimisation across codegen units, and build faster without it.
export CARGO_PROFILE_RELEASE_LTO=off

step() { echo "== $*"; "$@"; }

step cargo fmt --check
# one profile for all steps: they share build scripts and procedural macros
step cargo clippy --release --all-targets --workspace -- -D warnings
step cargo test --release
RUSTDOCFLAGS="-D warnings" step cargo doc --release --no-deps --document-private-items
# the tests above follow the links of the book and run its examples
if command -v mdbook >/dev/null; then
    step mdbook build docs
else
    echo "== mdbook is not installed: the book is not built"
fi
echo "== all checks passed"
