#!/usr/bin/env bash
# Builds the wheel of the Python package, installs it beside the packages of its tests, and runs the
# tests, the type checker and the notebooks. `--fetch` only installs the packages, which CI does while
# the compiler works. `--build` only builds and installs the wheel, and `--test` runs the tests with
# the wheel that is installed.
set -euo pipefail
cd "$(dirname "$0")/.."

step() { echo "== $*"; "$@"; }

env=target/python
if [ "${1:-}" != --test ]; then
    if [ ! -x $env/bin/pip ]; then
        python3 -m venv $env
    fi
    $env/bin/pip install -q --disable-pip-version-check -r python/tests/requirements.txt
    if [ "${1:-}" = --fetch ]; then
        exit
    fi
    rm -rf python/dist
    (cd python && step ../$env/bin/maturin build -q --profile ci --features as-tested --out dist)
    $env/bin/pip install -q --disable-pip-version-check --force-reinstall --no-deps python/dist/*.whl
    if [ "${1:-}" = --build ]; then
        exit
    fi
fi
# the tests use the package that was installed, and the program that was built
cd python/tests
python=../../$env/bin/python
WARPBOUND=../../target/ci/warpbound step $python -m pytest -q -p no:cacheprovider
echo "== the Python package is as it must be"
