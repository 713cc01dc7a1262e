#!/usr/bin/env bash
# Installs what is missing, builds the program, and schedules the pods of a recorded cluster:
# scripts/demo.sh [argument of `schedsim run`...], by default -f snapshots/small.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

scripts/setup.sh
cmake --preset release
cmake --build --preset release --parallel "$(nproc)" --target schedsim

if (($# == 0)); then
  set -- -f snapshots/small
fi
echo "\$ schedsim run $*"
build/release/tools/schedsim run "$@"
