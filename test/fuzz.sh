#!/bin/sh
# Runs every fuzz target for the time given, 10s unless told: fuzz.sh [TIME]
set -eu
cd "$(dirname "$0")/.."
for package in $(go list ./adapters/... ./gateway/... ./engine/...); do
	for target in $(go test -list '^Fuzz' "$package" | grep '^Fuzz' || true); do
		echo "$package $target"
		go test -run '^$' -fuzz "^$target\$" -fuzztime "${1:-10s}" "$package"
	done
done
