#!/usr/bin/env bash
# Builds the fuzz tests with the address and undefined-behaviour sanitizers, and runs them:
# scripts/fuzz.sh [SECONDS]. Without SECONDS each reader gets the same inputs on every machine, so that what
# is found comes from the change that is tested; with SECONDS they go on for so long together.
#
# SCHEDSIM_FUZZ_SEED begins with another input, such as $(date +%s) to look for more. The last line is
# `N passed, N failed`.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

scripts/setup.sh
cmake --preset asan
cmake --build --preset asan --parallel "$(nproc)" --target fuzz_test

if [[ $# -gt 0 ]]; then
  # Each reader has a test that goes on for so long, and so has the command line.
  targets=$(($(grep --count '{\.name' tests/fuzz/readers.cc) + 1))
  export SCHEDSIM_FUZZ_SECONDS=$(($1 / targets))
else
  # Building with sanitizers takes most of the time that CI has; more rounds find little more.
  export SCHEDSIM_FUZZ_ROUNDS=4
fi
tests/run_tests.sh build/asan -L fuzz
