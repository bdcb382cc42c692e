#!/usr/bin/env bash
# Builds the playground, a page that simulates kernels in the browser: target/playground/index.html.
# The file needs no server and no network.
#
# It needs `rustup target add wasm32-unknown-unknown` and wasm-bindgen in the version of Cargo.lock
# (`cargo install wasm-bindgen-cli --version VERSION`).
set -euo pipefail
cd "$(dirname "$0")/.."

target=${CARGO_TARGET_DIR:-target}
wanted=$(sed -n '/^name = "wasm-bindgen"$/{n;s/version = "\(.*\)"/\1/p}' Cargo.lock)
if ! wasm-bindgen --version 2>/dev/null | grep -qF "$wanted"; then
    echo "wasm-bindgen $wanted is needed: cargo install wasm-bindgen-cli --version $wanted" >&2
    exit 1
fi
cargo build --release --target wasm32-unknown-unknown -p warpbound-playground
out=$target/playground
mkdir -p "$out"
wasm-bindgen --target no-modules --no-typescript --out-dir "$out" --out-name warpbound \
    "$target/wasm32-unknown-unknown/release/warpbound_playground.wasm"
python3 - "$out" <<'PYTHON'
import base64, pathlib, sys

out = pathlib.Path(sys.argv[1])
page = pathlib.Path("playground/page.html").read_text()
bindings = (out / "warpbound.js").read_text()
wasm = base64.b64encode((out / "warpbound_bg.wasm").read_bytes()).decode()
page = page.replace("/*BINDINGS*/", bindings).replace("/*WASM*/", wasm)
(out / "index.html").write_text(page)
print(f"{out / 'index.html'}, {len(page) / 1e6:.1f} MB")
PYTHON
