#!/bin/sh
# Puts llama.cpp's shared libraries for this machine into a folder, and with a
# DEVICE (vulkan, cuda) also the one that computes on such a GPU:
#
#     engine/lib/install.sh bin/lib
#     engine/lib/install.sh bin/lib vulkan
#
# npm fetches them, pinned and checked by package-lock.json. When they are
# there already nothing is done. Needs npm, the network once, and glibc 2.34
# or newer on Linux.
set -eu

[ $# -eq 1 ] || [ $# -eq 2 ] || { echo "usage: $0 FOLDER [DEVICE]" >&2; exit 2; }
fail() { echo "engine/lib/install.sh: $*" >&2; exit 1; }

mkdir -p "$(dirname "$1")"
dest=$(cd "$(dirname "$1")" && pwd)/$(basename "$1")
device=${2-}
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
case $platform/$device in
    */ | */cpu | */auto) device= ;;
    mac-arm64-metal/metal) device= ;; # it is among them
    linux-x64/vulkan | linux-x64/cuda | win-x64/vulkan | win-x64/cuda) ;;
    *) fail "there are no prebuilt libraries for $device on $platform" ;;
esac

# fetch DIR PACKAGE has npm deliver a package into DIR/node_modules.
fetch() {
    command -v npm > /dev/null || fail "npm is needed to fetch the llama.cpp libraries (the gateway alone builds without: make build-gateway)"
    (cd "$1" && npm ci --no-audit --no-fund --ignore-scripts --loglevel=error > /dev/null) || fail "npm could not fetch the llama.cpp libraries"
    from=$1/node_modules/@node-llama-cpp/$2/bins/$2
    # npm passes over optional packages that it cannot get, without an error.
    [ -d "$from" ] || fail "npm did not deliver @node-llama-cpp/$2 (on Linux it is for glibc only, not for musl)"
}

libraries() {
    new=$dest.new
    rm -rf "$new"
    mkdir -p "$new"
    fetch . "$platform"
    cp "$from/../../LICENSE" "$from/_nlcBuildMetadata.json" "$new/"
    find "$from" \( -name '*.so' -o -name '*.dylib' -o -name '*.dll' \) ! -name '*llama-common*' -exec cp {} "$new/" \;

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
    echo "$1" > .installed
    cd - > /dev/null
    rm -rf "$dest" node_modules
    mv "$new" "$dest"
}

# llama.cpp looks for devices in all libraries of its folder, so a GPU's needs
# only to lie beside the others.
gpu() {
    fetch "$device" "$platform-$device"
    find "$from" \( -name "libggml-$device.so" -o -name "ggml-$device.dll" \) -exec cp {} "$dest/" \;
    echo "$1" > "$dest/.installed-$device"
    rm -rf "$device/node_modules"
}

is() { [ "$(cat "$1" 2>/dev/null || true)" = "$2" ]; }

stamp="$platform $(cksum < package-lock.json) $(cksum < install.sh)"
is "$dest/.installed" "$stamp" || libraries "$stamp"
[ -n "$device" ] || exit 0
stamp="$stamp $(cksum < "$device/package-lock.json")"
is "$dest/.installed-$device" "$stamp" || gpu "$stamp"
