#!/usr/bin/env bash
# Builds warpbound for release, and packs it with its manual pages and shell completions:
#
#   scripts/release.sh [TARGET ...]
#
# For each target the script writes warpbound-VERSION-TARGET.tar.gz to target/dist, and then
# SHA256SUMS for all of them. Files of an earlier run are removed first. Without TARGET it packs
# x86_64-unknown-linux-gnu, x86_64-unknown-linux-musl and aarch64-unknown-linux-gnu, and skips those
# that this machine cannot build, with a message. A TARGET that is named must work.
#
# A program for a gnu target needs the C library of the machine that built it, or a later one. A
# program for a musl target is linked statically.
#
# The same program always gives the same archive: times are those of the commit, or
# SOURCE_DATE_EPOCH, and files belong to user 0. The variable BINARY names a program for the one
# TARGET (default: this machine) that is packed as it is, and nothing is built. CARGO is the command
# for cargo.
set -euo pipefail
export LC_ALL=C
binary=${BINARY:+$(realpath -- "$BINARY")}
cd "$(dirname "$0")/.."

case "${1:-}" in -*) sed -n '2,18s/^# \{0,1\}//p' "$0"; exit 2 ;; esac

cargo=${CARGO:-cargo}
host=$(rustc -vV | sed -n 's/^host: //p')
version=$(sed -n '/^\[workspace.package\]/,/^$/s/^version = "\(.*\)"/\1/p' Cargo.toml)
epoch=${SOURCE_DATE_EPOCH:-$(git log -1 --format=%ct)}
build=${CARGO_TARGET_DIR:-target}
out=$PWD/target/dist
cross=cc
[ "$host" = aarch64-unknown-linux-gnu ] || cross=aarch64-linux-gnu-gcc
arm_linker=${CARGO_TARGET_AARCH64_UNKNOWN_LINUX_GNU_LINKER:-$cross}

fail() { echo "release: $*" >&2; exit 1; }

# Prints why this machine cannot build for a target, or nothing.
obstacle() {
    if [ ! -d "$(rustc --print sysroot)/lib/rustlib/$1/lib" ]; then
        echo "the target is not installed; install it with: rustup target add $1"
    elif [ "$1" = aarch64-unknown-linux-gnu ] && ! command -v "$arm_linker" >/dev/null; then
        echo "its linker is missing; Debian and Ubuntu: apt-get install gcc-aarch64-linux-gnu"
    fi
}

# Builds the program for a target and prints its path.
program() {
    # messages of panics name sources of dependencies, whose paths differ between machines
    local flags=--remap-path-prefix=${CARGO_HOME:-$HOME/.cargo}=cargo
    CARGO_TARGET_AARCH64_UNKNOWN_LINUX_GNU_LINKER=$arm_linker CARGO_ENCODED_RUSTFLAGS=$flags \
        CARGO_PROFILE_RELEASE_STRIP=symbols WARPBOUND_COMMIT=$(git rev-parse HEAD) \
        "$cargo" build --release --locked --bin warpbound --target "$1" >&2
    echo "$build/$1/release/warpbound"
}

# Packs the program $2 for the target $1. The program $3, which may be the same, runs on this machine
# and writes the manual pages and completions.
pack() {
    local name=warpbound-$version-$1 dir
    dir=$stage/$name
    mkdir -p "$dir/completions" "$dir/man/man1"
    install -m 755 "$2" "$dir/warpbound"
    install -m 644 README.md LICENSE CHANGELOG.md "$dir"
    "$3" man --force "$dir/man/man1" >/dev/null
    "$3" completions bash >"$dir/completions/warpbound.bash"
    "$3" completions zsh >"$dir/completions/_warpbound"
    "$3" completions fish >"$dir/completions/warpbound.fish"
    "$3" completions elvish >"$dir/completions/warpbound.elv"
    "$3" completions powershell >"$dir/completions/_warpbound.ps1"
    tar --create --format=ustar --sort=name --mtime="@$epoch" --owner=0 --group=0 --numeric-owner \
        --mode='u=rwX,go=rX' --directory="$stage" "$name" | gzip --no-name --best >"$out/$name.tar.gz"
    echo "release: packed $name.tar.gz"
}

if [ -n "$binary" ] && [ $# -gt 1 ]; then
    fail "BINARY is one program, so name one target instead of $#"
fi
targets=("$@")
if [ $# -eq 0 ] && [ -n "$binary" ]; then
    targets=("$host")
elif [ $# -eq 0 ]; then
    targets=(x86_64-unknown-linux-gnu x86_64-unknown-linux-musl aarch64-unknown-linux-gnu)
fi

stage=$(mktemp -d)
trap 'rm -rf "$stage"' EXIT

runs=${binary:-$(program "$host")}
made=$("$runs" --version | head -n 1) ||
    fail "$runs does not run on this machine, so it cannot write its manual pages"
[ "$made" = "warpbound $version" ] || fail "$runs is $made, but Cargo.toml has version $version"

rm -rf "$out"
mkdir -p "$out"
for target in "${targets[@]}"; do
    if [ -n "$binary" ]; then
        pack "$target" "$binary" "$runs"
        continue
    fi
    reason=$(obstacle "$target")
    if [ -z "$reason" ]; then
        built=$(program "$target")
        pack "$target" "$built" "$runs"
    elif [ $# -eq 0 ]; then
        echo "release: skipped $target: $reason"
    else
        fail "$target cannot be built: $reason"
    fi
done

cd "$out"
ls ./*.tar.gz >/dev/null 2>&1 || fail "no target could be built"
sha256sum -- *.tar.gz >SHA256SUMS
cat SHA256SUMS
