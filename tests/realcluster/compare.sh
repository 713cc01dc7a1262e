#!/usr/bin/env bash
# Runs scenarios on a real control plane and in schedsim, and compares the states in which they end:
#
#   tests/realcluster/compare.sh TOOLS PROGRAMS [SCENARIO_FOLDER...]
#
# TOOLS has cluster.sh, record.py and compare.py, PROGRAMS what the build.sh beside them made: etcd, the
# control plane and kwok. Without folders, all of tests/realcluster/scenarios. Where TOOLS or PROGRAMS are
# missing, the script says so and ends with 0. Recordings are kept in $RECORDINGS if that is set, and used
# again. It prints a line a stage: how many differences are firm and how many soft; then the firm ones. Exit
# code 1 if there is one.
set -euo pipefail

tools=${1:?usage: tests/realcluster/compare.sh TOOLS PROGRAMS [SCENARIO_FOLDER...]}
programs=${2:?usage: tests/realcluster/compare.sh TOOLS PROGRAMS [SCENARIO_FOLDER...]}
shift 2
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
schedsim=${SCHEDSIM_PROGRAM:-$here/../../build/dev/tools/schedsim}
if [[ ! -e $tools/record.py || ! -x $programs/kube-apiserver ]]; then
  echo "skipped: there is no real control plane in $programs, or no tools for it in $tools"
  exit 0
fi
[[ $# -gt 0 ]] || set -- "$here"/scenarios/*/

scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
recordings=${RECORDINGS:-$scratch/recordings}
mkdir -p "$recordings"
code=0
for folder; do
  name=$(basename "$folder")
  recorded=$recordings/$name
  if [[ ! -e $recorded/steps ]]; then
    "$tools/record.py" "$folder" "$programs" "$recorded" > "$scratch/record.log" 2>&1 || {
      cat "$scratch/record.log"
      exit 1
    }
  fi
  "$here/scenario_of_steps.py" "$folder" "$scratch/$name"
  for scenario in "$scratch/$name"/*.yaml; do
    stage=$(basename "$scenario" .yaml)
    # Exit code 1: an entry failed, as the command of kubectl may have.
    ran=0
    "$schedsim" run "$scenario" --output objects > "$scratch/objects.json" 2> "$scratch/errors" || ran=$?
    if [[ $ran -gt 1 ]]; then
      cat "$scratch/errors"
      exit 1
    fi
    found=0
    real=$recorded/$stage/summary.json
    "$tools/compare.py" "$real" "$scratch/objects.json" > "$scratch/differences" || found=$?
    echo "$name $stage: $(tail -n 1 "$scratch/differences")"
    grep '^firm' "$scratch/differences" || true
    [[ $found == 0 ]] || code=1
  done
done
exit $code
