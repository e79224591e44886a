#!/bin/sh
# Puts llama.cpp's shared libraries for this machine into a folder:
#
#     engine/lib/install.sh bin/lib
#
# npm fetches them, pinned and checked by package-lock.json. When they are
# there already nothing is done. Needs npm, the network once, and glibc 2.34
# or newer on Linux.
set -eu

[ $# -eq 1 ] || { echo "usage: $0 FOLDER" >&2; exit 2; }
fail() { echo "engine/lib/install.sh: $*" >&2; exit 1; }

mkdir -p "$(dirname "$1")"
dest=$(cd "$(dirname "$1")" && pwd)/$(basename "$1")
cd "$(dirname "$0")"

case "$(uname -s)/$(uname -m)" in
    Linux/x86_64)                platform=linux-x64 ;;
    Linux/aarch64 | Linux/arm64) platform=linux-arm64 ;;
    Darwin/arm64)                platform=mac-arm64-metal ;;
    Darwin/x86_64)               platform=mac-x64 ;;
    MINGW*/x86_64 | MSYS*/x86_64 | CYGWIN*/x86_64)    platform=win-x64 ;;
    MINGW*/aarch64 | MSYS*/aarch64 | CYGWIN*/aarch64) platform=win-arm64 ;;
    *) fail "there are no prebuilt libraries for $(uname -s) on $(uname -m); build llama.cpp and point DRAGOMAN_LLAMA_LIB at it" ;;
esac

stamp="$platform $(cksum < package-lock.json) $(cksum < install.sh)"
if [ "$(cat "$dest/.installed" 2>/dev/null || true)" = "$stamp" ]; then
    exit 0
fi

command -v npm > /dev/null || fail "npm is needed to fetch the llama.cpp libraries (the gateway alone builds without: make build-gateway)"
npm ci --no-audit --no-fund --ignore-scripts --loglevel=error > /dev/null || fail "npm could not fetch the llama.cpp libraries"
from=node_modules/@node-llama-cpp/$platform
# npm passes over optional packages that it cannot get, without an error.
[ -d "$from/bins/$platform" ] || fail "npm did not deliver @node-llama-cpp/$platform (on Linux it is for glibc only, not for musl)"

new=$dest.new
rm -rf "$new"
mkdir -p "$new"
cp "$from/LICENSE" "$from/bins/$platform/_nlcBuildMetadata.json" "$new/"
find "$from/bins/$platform" \( -name '*.so' -o -name '*.dylib' -o -name '*.dll' \) ! -name '*llama-common*' -exec cp {} "$new/" \;

# The binding asks for names without a version. They must be the same files as
# the versioned ones, which the libraries ask each other for: copies would be
# loaded twice and not know of each other.
cd "$new"
for name in ggml llama; do
    for file in lib$name.*v[0-9]*.so lib$name.*v[0-9]*.dylib $name.*v[0-9]*.dll; do
        [ -f "$file" ] || continue
        case $file in
            *.dll) ln -f "$file" "$name.dll" ;;
            *)     ln -sf "$file" "lib$name.${file##*.}" ;;
        esac
    done
done
echo "$stamp" > .installed
cd - > /dev/null
rm -rf "$dest" node_modules
mv "$new" "$dest"
