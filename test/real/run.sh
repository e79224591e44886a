#!/bin/bash
# Sets the servers up and runs the gateway before them: run.sh [-record]. With
# -record the servers' bytes become cases of the adapters' contracts.
set -euo pipefail
cd "$(dirname "$0")/../.."
test/real/setup.sh
go test -tags real -count=1 -timeout 30m -v ./test/real "$@"
if [ "${1-}" = -record ]; then
	go test ./adapters/... -run '/^real-' -update
	git status --short adapters
fi
