#!/usr/bin/env bash
# Builds the fuzz tests with the address and undefined-behaviour sanitizers, and runs them:
# scripts/fuzz.sh [SECONDS], by default 120 for all readers together.
#
# Each commit begins with another seed, so that a run of one commit can be repeated; SCHEDSIM_FUZZ_SEED takes
# its place. The last line is `N passed, N failed`.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

seconds=${1:-120}
scripts/setup.sh
cmake --preset asan
cmake --build --preset asan --parallel "$(nproc)" --target fuzz_test

commit=$(git rev-parse HEAD 2>/dev/null || echo 1)
export SCHEDSIM_FUZZ_SEED=${SCHEDSIM_FUZZ_SEED:-$((16#${commit:0:12}))}
# Each reader has a test that goes on for so long, and so has the command line.
readers=$(grep --count '{\.name' tests/fuzz/readers.cc)
export SCHEDSIM_FUZZ_SECONDS=$((seconds / (readers + 1)))
echo "Fuzzing from seed $SCHEDSIM_FUZZ_SEED, $SCHEDSIM_FUZZ_SECONDS s for each of $((readers + 1)) targets"
tests/run_tests.sh build/asan -L fuzz
