#!/usr/bin/env bash
# Measures this scheduler and kube-scheduler's own core on one case, one after the other:
#
#   benchmarks/compare_with_kube_scheduler.sh RECORDER [NODES] [BUILD]
#
# RECORDER is a kube-scheduler that tools/recorder/build.sh built (docs/recorder.md). NODES: 5000 by default.
# BUILD: build/release. Its figure counts the search for a node only; ours counts all of the run: the search,
# the binding, informers, queue, cache.
set -euo pipefail
recorder=$(realpath "$1") nodes=${2:-5000}
here=$(cd "$(dirname "$0")/.." && pwd)
case_program=$(realpath "${3:-$here/build/release}")/benchmarks/schedsim_benchmark_case
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
"$case_program" write spreading "$nodes" > "$folder/case.json"

# Three runs of ours, of which the second fastest counts; the peak is the highest.
for run in 1 2 3; do "$case_program" run "$folder/case.json"; done | tee "$folder/ours" >&2
ours=$(sed -n 's/.*each, \([0-9]*\) a second$/\1/p' "$folder/ours" | sort -n | sed -n 2p)
ours_mb=$(sed -n 's/^\([0-9]*\).*MB at most.*/\1/p' "$folder/ours" | sort -n | tail -1)

(cd "$folder" &&
  /usr/bin/time -f '%M' -o "$folder/peak" "$recorder" bench "$folder/case.json") > "$folder/theirs"
grep 'in the real core' "$folder/theirs" >&2
theirs=$(sed -n 's/.*in the real core, \([0-9]*\) a second$/\1/p' "$folder/theirs")
theirs_mb=$(($(tail -1 "$folder/peak") / 1024))

printf 'schedsim:       %8d cycles a second, %5d MB at most\n' "$ours" "$ours_mb"
printf 'kube-scheduler: %8d cycles a second, %5d MB at most\n' "$theirs" "$theirs_mb"
printf 'ratio:          %8d times the cycles a second\n' "$((ours / theirs))"
