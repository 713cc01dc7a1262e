#!/usr/bin/env bash
# Runs all tests of a build: tests/run_tests.sh BUILD_DIR [ctest argument...]
#
# The last line is `N passed, N failed`. It counts GoogleTest cases one by one and every other test as one;
# a test program that ends badly without naming a failed case counts as one failure. Exit code 1 if any fails.
set -euo pipefail

build=$(realpath "${1:?usage: tests/run_tests.sh BUILD_DIR [ctest argument...]}")
shift
results=$build/test_results
rm -rf "$results"
mkdir -p "$results"

ctest_code=0
ctest --test-dir "$build" --output-on-failure --no-tests=error -j "$(nproc)" \
  --output-junit "$results/ctest.junit" "$@" || ctest_code=$?

passed=0
failed=0

# Sets `value` to the number that attribute $2 has in the first <testsuites> of the file $1.
read_count() {
  value=$(sed -n "s/^<testsuites.* $2=\"\([0-9]*\)\".*/\1/p" "$1" | head -n 1)
  value=${value:-0}
}

# Reads `NAME STATUS` for each test of ctest.
while read -r name status; do
  case_failures=0
  if [[ -s $results/$name.xml ]]; then
    read_count "$results/$name.xml" tests && cases=$value
    read_count "$results/$name.xml" disabled && cases=$((cases - value))
    read_count "$results/$name.xml" failures && case_failures=$value
    read_count "$results/$name.xml" errors && case_failures=$((case_failures + value))
    passed=$((passed + cases - case_failures))
    failed=$((failed + case_failures))
  elif [[ $status == run ]]; then
    passed=$((passed + 1))
  fi
  if [[ $status != run && $case_failures == 0 ]]; then
    failed=$((failed + 1))
    echo "$name: $status without a failed case" >&2
  fi
done < <(sed -n 's/.*<testcase name="\([^"]*\)".* status="\([^"]*\)".*/\1 \2/p' "$results/ctest.junit")

if [[ $ctest_code != 0 && $failed == 0 ]]; then
  failed=1
fi
echo "$passed passed, $failed failed"
[[ $failed == 0 && $passed -gt 0 ]]
