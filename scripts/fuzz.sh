#!/usr/bin/env bash
# Builds the fuzz tests with the address and undefined-behaviour sanitizers, and runs them:
# scripts/fuzz.sh [SECONDS], by default 120 for all readers together.
#
# The seed is always the same, so that a run can be repeated, and what it finds comes from the change that is
# tested. SCHEDSIM_FUZZ_SEED takes any other, such as $(date +%s) to look for more. The last line is
# `N passed, N failed`.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

seconds=${1:-120}
scripts/setup.sh
cmake --preset asan
cmake --build --preset asan --parallel "$(nproc)" --target fuzz_test

export SCHEDSIM_FUZZ_SEED=${SCHEDSIM_FUZZ_SEED:-1}
# Each reader has a test that goes on for so long, and so has the command line.
readers=$(grep --count '{\.name' tests/fuzz/readers.cc)
export SCHEDSIM_FUZZ_SECONDS=$((seconds / (readers + 1)))
echo "Fuzzing from seed $SCHEDSIM_FUZZ_SEED, $SCHEDSIM_FUZZ_SECONDS s for each of $((readers + 1)) targets"
tests/run_tests.sh build/asan -L fuzz
