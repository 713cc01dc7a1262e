#!/usr/bin/env bash
# A simulated day of 1,000 nodes with rollouts, Jobs and nodes that are lost, run twice: day_test.sh PROGRAM.
# Both runs print the same, and leave no pod without a node.
set -euo pipefail
program=$1
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
python3 "$(dirname "$0")/../benchmarks/day.py" --nodes 1000 > "$scratch/day.yaml"
for run in 1 2; do
  SECONDS=0
  "$program" run "$scratch/day.yaml" --output json > "$scratch/$run.json"
  echo "run $run: $SECONDS s"
done
cmp "$scratch/1.json" "$scratch/2.json"
python3 - "$scratch/1.json" <<'PY'
import json, sys
report = json.load(open(sys.argv[1]))
day = 24 * 3600 * 1_000_000
assert report['virtualTimeMicroseconds'] == day, report['virtualTimeMicroseconds']
assert report['pending'] == 0, report['pending']
assert report['attempts'] > 10_000, report['attempts']
assert report['nodes'] < 1000, 'some nodes are lost for good'
PY
