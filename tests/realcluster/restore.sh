#!/usr/bin/env bash
# Gives snapshots that schedsim saved to a real etcd and kube-apiserver, and compares what these have then:
#
#   tests/realcluster/restore.sh TOOLS PROGRAMS [INPUT...]
#
# TOOLS has cluster.sh, PROGRAMS what the build.sh beside it made, and etcdutl. An INPUT is what `snapshot
# save` runs: a scenario, or a file or folder for -f; without one, some of the repository. Where TOOLS or
# PROGRAMS are missing, the script says so and ends with 0. For each input:
#   etcd  the database is restored by etcdutl, and etcd and the API server are started on it, without
#         scheduler and controllers. Each object must be there with every field that was saved; the server
#         adds defaults.
#   k8s   `kwokctl snapshot restore` loads the YAML into a new cluster: names, specs and nodes of the kinds
#         that kwok restores must be the same.
# Exit code 1 if anything differs or is refused.
set -euo pipefail

tools=${1:?usage: tests/realcluster/restore.sh TOOLS PROGRAMS [INPUT...]}
programs=${2:?usage: tests/realcluster/restore.sh TOOLS PROGRAMS [INPUT...]}
shift 2
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
root=$(cd "$here/../.." && pwd)
schedsim=${SCHEDSIM_PROGRAM:-$root/build/dev/tools/schedsim}
if [[ ! -e $tools/cluster.sh || ! -x $programs/kube-apiserver || ! -x $programs/etcdutl ]]; then
  echo "skipped: there is no real control plane with etcdutl in $programs, or no tools for it in $tools"
  exit 0
fi
recorded=$root/tests/tools
[[ $# -gt 0 ]] || set -- "$root/snapshots/small" "$root/scenarios/rolling-drain/scenario.yaml" \
  "$recorded/kwok-real/storage/2-after/get.json.gz" "$recorded/kwok-real/formats/1-history/etcd.db.gz" \
  "$recorded/kwok-real2/rollout/6-undone/get.json.gz"

scratch=$(mktemp -d)
name=schedsim-restore-$$
state=${REALCLUSTER_STATE:-$scratch/state}
export REALCLUSTER_STATE=$state
cleanup() {
  "$tools/cluster.sh" down "$name" > /dev/null 2>&1 || true
  if [[ -d $scratch/kwok ]]; then
    KWOK_WORKDIR=$scratch/kwok "$programs/kwokctl" --name "$name" delete cluster > /dev/null 2>&1 || true
  fi
  rm -rf "$scratch"
}
trap cleanup EXIT
kubectl() { "$tools/cluster.sh" kubectl "$name" "$@"; }
# What kwok restores without a filter, but for roles and accounts, which each cluster has of its own.
kwok_kinds=Namespace,Node,ConfigMap,LimitRange,RuntimeClass,PriorityClass,DaemonSet,Deployment,ReplicaSet
kwok_kinds+=,StatefulSet,CronJob,Job,PersistentVolumeClaim,PersistentVolume,Pod

get() { kubectl get "$1" -A -o json --show-managed-fields < /dev/null; }
# All objects of the kinds in a list of ours, as the server has them.
list_real() { # LIST OUT
  python3 - "$1" << 'PY' > "$scratch/kinds"
import json, sys
kinds = set()
for item in json.load(open(sys.argv[1]))["items"]:
    group, slash, version = item["apiVersion"].rpartition("/")
    kinds.add(f"{item['kind']}.{version}.{group}" if slash else item["kind"])
print("\n".join(sorted(kinds)))
PY
  : > "$scratch/lists"
  unserved=none
  while IFS= read -r kind; do
    # A version that is stored need not be served.
    local group=${kind#*.}
    if get "$kind" > "$scratch/list" 2> "$scratch/get.errors" ||
      get "${kind%%.*}.${group#*.}" > "$scratch/list" 2> /dev/null; then
      cat "$scratch/list" >> "$scratch/lists"
    else
      unserved+=,${kind%%.*}
      sed -n 's/^error: /    /p' "$scratch/get.errors"
    fi
  done < "$scratch/kinds"
  python3 -c 'import json, sys
text, at, items = open(sys.argv[1]).read(), 0, []
while text[at:].strip():
    found, end = json.JSONDecoder().raw_decode(text[at:].lstrip())
    at = len(text) - len(text[at:].lstrip()) + end
    items += found["items"]
json.dump({"items": items}, sys.stdout)' "$scratch/lists" > "$2"
}

start_control_plane() { # DATABASE: etcd on it, and the API server
  local dir=$state/$name
  for part in kwok kube-scheduler kube-controller-manager kube-apiserver etcd; do
    "$tools/cluster.sh" stop "$name" $part
  done
  rm -rf "$dir/etcd"
  local peer
  peer=$(sed -n 's/^--initial-advertise-peer-urls=//p' "$dir/etcd.cmd")
  "$programs/etcdutl" snapshot restore "$1" --data-dir "$dir/etcd" --name e --initial-cluster "e=$peer" \
    --initial-advertise-peer-urls "$peer" > "$scratch/etcdutl.log" 2>&1 || {
    cat "$scratch/etcdutl.log"
    return 1
  }
  "$tools/cluster.sh" start "$name" etcd
  local end=$((SECONDS + 30))
  until curl -sf --noproxy '*' "$(cat "$dir/etcd.url")/health" > /dev/null; do
    [[ $SECONDS -lt $end ]] || { tail -n 5 "$dir/etcd.log"; return 1; }
    sleep 0.2
  done
  "$tools/cluster.sh" start "$name" kube-apiserver
  end=$((SECONDS + 60))
  until kubectl get --raw /readyz > /dev/null 2>&1; do
    [[ $SECONDS -lt $end ]] || { tail -n 5 "$dir/kube-apiserver.log"; return 1; }
    sleep 0.5
  done
  # Definitions of custom resources are served a moment later.
  sleep 3
}

# kwokctl's own restore, into a new cluster of kwokctl's. What the server refuses is counted, the first named.
restore_k8s() { # LABEL
  local label=$1 failed found=0
  if [[ ! -x $programs/kwokctl ]]; then
    echo "$label k8s: skipped, there is no kwokctl"
    return 0
  fi
  export KWOK_WORKDIR=$scratch/kwok
  mkdir -p "$KWOK_WORKDIR"
  cat > "$scratch/kwokctl.yaml" << YAML
apiVersion: config.kwok.x-k8s.io/v1alpha1
kind: KwokctlConfiguration
options:
  runtime: binary
  bindAddress: 127.0.0.1
  kubeVersion: v1.37.2
  etcdBinary: $programs/etcd
  etcdctlBinary: $programs/etcdctl
  etcdutlBinary: $programs/etcdutl
  kubeApiserverBinary: $programs/kube-apiserver
  kubeControllerManagerBinary: $programs/kube-controller-manager
  kubeSchedulerBinary: $programs/kube-scheduler
  kwokControllerBinary: $programs/kwok
  kubectlBinary: $programs/kubectl
YAML
  kwokctl() {
    env -u HTTP_PROXY -u HTTPS_PROXY -u http_proxy -u https_proxy "$programs/kwokctl" --name "$name" "$@"
  }
  kwokctl --config "$scratch/kwokctl.yaml" create cluster --wait 120s > "$scratch/kwokctl.log" 2>&1 || {
    tail -n 3 "$scratch/kwokctl.log"
    return 1
  }
  # It stops at the first object of a kind beyond its filter, which comes behind all others.
  timeout 120 "$programs/kwokctl" --name "$name" snapshot restore --format k8s --path "$scratch/saved.yaml" \
    > "$scratch/kwokctl.log" 2>&1 || true
  # Each cluster has this service of its own.
  sed -i '/"name":"default\/kubernetes","err"/d' "$scratch/kwokctl.log"
  failed=$(grep -c 'Failed to create resource' "$scratch/kwokctl.log" || true)
  sed -n 's/.*"name":"\([^"]*\)","err":"\(.*\)"}.*/    \1: \2/p' "$scratch/kwokctl.log" | sed -n '1,3p'
  kubectl() { kwokctl kubectl "$@"; }
  list_real "$scratch/saved.json" "$scratch/real.json" &&
    "$here/same_objects.py" --added --restored --kinds "$kwok_kinds" "$scratch/saved.json" \
      "$scratch/real.json" || found=1
  echo "$label k8s: $failed objects refused$([[ $found == 0 ]] && echo ", all others restored")"
  kwokctl delete cluster > /dev/null 2>&1 || true
  kubectl() { "$tools/cluster.sh" kubectl "$name" "$@"; }
  [[ $found == 0 && $failed == 0 ]]
}

code=0
for input; do
  label=${input#"$root/"}
  case $input in
    */scenario.yaml) run=("$input") ;;
    *) run=(-f "$input") ;;
  esac
  saved=0
  "$schedsim" snapshot save "${run[@]}" --path "$scratch/saved.db" 2> "$scratch/save.errors" || saved=$?
  # Exit code 1: an entry of the scenario failed.
  if [[ $saved -gt 1 ]]; then
    cat "$scratch/save.errors"
    exit 1
  fi
  "$schedsim" snapshot convert "$scratch/saved.db" "$scratch/saved.json"
  "$schedsim" snapshot convert "$scratch/saved.db" "$scratch/saved.yaml"

  "$tools/cluster.sh" up "$name" "$programs" > /dev/null
  if start_control_plane "$scratch/saved.db" && list_real "$scratch/saved.json" "$scratch/real.json"; then
    if "$here/same_objects.py" --added --versions --not-kinds "$unserved" "$scratch/saved.json" \
      "$scratch/real.json"; then
      echo "$label etcd: each object as it was saved"
    else
      echo "$label etcd: differs"
      code=1
    fi
  else
    echo "$label etcd: refused"
    code=1
  fi
  "$tools/cluster.sh" down "$name" > /dev/null

  restore_k8s "$label" || code=1
done
exit $code
