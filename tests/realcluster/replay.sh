#!/usr/bin/env bash
# Lets kwokctl 0.7.0 replay recordings of `schedsim record` on a real control plane, and compares where the
# pods are:
#
#   tests/realcluster/replay.sh PROGRAMS KWOKCTL [SCENARIO...]
#
# PROGRAMS has etcd, the control plane, kubectl and kwok; KWOKCTL is kwokctl 0.7.0, the last one with
# `snapshot replay` (go install sigs.k8s.io/kwok/cmd/kwokctl@v0.7.0). Without scenarios,
# scenarios/rolling-drain. A replay takes as long as the run in virtual time. Where a program is missing, the
# script says so and ends with 0. It prints a line a scenario; exit code 1 if pods are on other nodes than
# they should be. Logs are kept in $KEEP_LOGS if that is set.
set -euo pipefail

programs=${1:?usage: tests/realcluster/replay.sh PROGRAMS KWOKCTL [SCENARIO...]}
kwokctl=${2:?usage: tests/realcluster/replay.sh PROGRAMS KWOKCTL [SCENARIO...]}
shift 2
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
schedsim=${SCHEDSIM_PROGRAM:-$root/build/dev/tools/schedsim}
for program in "$kwokctl" "$programs/etcd" "$programs/kube-apiserver" "$programs/kubectl" "$programs/kwok"; do
  if [[ ! -x $program ]]; then
    echo "skipped: there is no $program"
    exit 0
  fi
done
[[ $# -gt 0 ]] || set -- "$root/scenarios/rolling-drain/scenario.yaml"

scratch=$(mktemp -d)
export KWOK_WORKDIR=$scratch/kwok
cluster=replay-$$
trap '"$kwokctl" --name "$cluster" delete cluster >/dev/null 2>&1 || true; rm -rf "$scratch"' EXIT

# Which pods there are, and where, of a list of objects.
places() {
  python3 -c '
import json, sys
for item in json.load(sys.stdin)["items"]:
    if item["kind"] == "Pod":
        meta = item["metadata"]
        print(meta["namespace"], meta["name"], item["spec"].get("nodeName", "-"))' | sort
}

cat > "$scratch/kwokctl.yaml" <<CONFIG
apiVersion: config.kwok.x-k8s.io/v1alpha1
kind: KwokctlConfiguration
options:
  runtime: binary
  bindAddress: 127.0.0.1
  etcdBinary: $programs/etcd
  etcdctlBinary: $programs/etcdctl
  kubectlBinary: $programs/kubectl
  kubeApiserverBinary: $programs/kube-apiserver
  kubeControllerManagerBinary: $programs/kube-controller-manager
  kubeSchedulerBinary: $programs/kube-scheduler
  kwokControllerBinary: $programs/kwok
CONFIG

code=0
for scenario; do
  name=$(basename "$(dirname "$scenario")")
  recorded=0
  "$schedsim" record "$scenario" -o "$scratch/$name.yaml" 2> "$scratch/$name.record.log" || recorded=$?
  if [[ $recorded -gt 1 ]]; then
    cat "$scratch/$name.record.log"
    exit 1
  fi
  "$kwokctl" --config "$scratch/kwokctl.yaml" --name "$cluster" create cluster --wait 120s \
    > "$scratch/$name.create.log" 2>&1 || {
    tail -n 20 "$scratch/$name.create.log"
    exit 1
  }
  # Nobody else is to decide anything behind the replay, which starts all of them again.
  started=$(date +%s)
  replay_log=$scratch/$name.replay.log
  "$kwokctl" --name "$cluster" snapshot replay --path "$scratch/$name.yaml" > "$replay_log" 2>&1 || {
    cat "$replay_log"
    exit 1
  }
  seconds=$(($(date +%s) - started))
  "$kwokctl" --name "$cluster" kubectl get pods,nodes -A -o json > "$scratch/$name.real.json"
  "$schedsim" run "$scratch/$name.yaml" --follow --output objects > "$scratch/$name.ours.json" 2>/dev/null
  places < "$scratch/$name.real.json" > "$scratch/$name.real"
  places < "$scratch/$name.ours.json" > "$scratch/$name.ours"
  warnings=$(grep -ci 'warn' "$replay_log" || true)
  "$kwokctl" --name "$cluster" delete cluster > /dev/null 2>&1
  if cmp -s "$scratch/$name.real" "$scratch/$name.ours"; then
    pods=$(wc -l < "$scratch/$name.ours")
    echo "$name: replayed in $seconds s, $pods pods, all where they should be; $warnings lines with warnings"
  else
    echo "$name: pods are elsewhere (<: in the cluster, >: in the recording)"
    diff "$scratch/$name.real" "$scratch/$name.ours" || true
    grep -i warn "$replay_log" | head -5 || true
    code=1
  fi
  if [[ -n ${KEEP_LOGS:-} ]]; then cp "$scratch/$name".* "$KEEP_LOGS"; fi
done
exit $code
