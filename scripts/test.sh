#!/usr/bin/env bash
# Installs what is missing, builds, and runs all tests: scripts/test.sh [PRESET], by default dev.
# The last line is `N passed, N failed`.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

preset=${1:-dev}
scripts/setup.sh
cmake --preset "$preset"
cmake --build --preset "$preset" --parallel "$(nproc)"
tests/run_tests.sh "build/$preset"
