#!/usr/bin/env python3
"""Prints a scenario: a day of a cluster with Deployments that are rolled out, CronJobs, and nodes that are lost.

    python3 benchmarks/day.py --nodes 1000 > day.yaml
    schedsim run day.yaml

scenarios/day/scenario.yaml is the one of --nodes 20, and tests run it. All numbers follow from that of the nodes;
nothing is drawn here.
"""
import argparse

MINUTE = 60
HOUR = 3600

DEPLOYMENT = """- apiVersion: apps/v1
  kind: Deployment
  metadata: {{name: web-{index}, namespace: default}}
  spec:
    replicas: {replicas}
    selector: {{matchLabels: {{app: web-{index}}}}}
    template:
      metadata: {{labels: {{app: web-{index}}}}}
      spec:
        tolerations:
        - {{key: node.kubernetes.io/unreachable, operator: Exists, effect: NoExecute, tolerationSeconds: 60}}
        containers: [{{name: web, image: web, resources: {{requests: {{cpu: {cpu}, memory: {memory}}}}}}}]
"""

# Its pods run for 3 to 9 minutes, as these annotations say to the stage pod-complete.
CRON_JOB = """- apiVersion: batch/v1
  kind: CronJob
  metadata: {{name: batch-{index}, namespace: default}}
  spec:
    schedule: "{schedule}"
    concurrencyPolicy: Forbid
    successfulJobsHistoryLimit: 1
    jobTemplate:
      spec:
        completions: {pods}
        parallelism: {parallelism}
        template:
          metadata:
            annotations:
              pod-complete.stage.kwok.x-k8s.io/delay: 180s
              pod-complete.stage.kwok.x-k8s.io/jitter-delay: 540s
          spec:
            restartPolicy: Never
            containers: [{{name: batch, image: batch, resources: {{requests: {{cpu: "1", memory: 2Gi}}}}}}]
"""

NODES = """- kwokctlScale:
    resource: node
    replicas: {nodes}
    params: ['.allocatable.cpu="16"', '.allocatable.memory="64Gi"', '.allocatable.pods="110"']
"""


def clock(seconds):
    return f"{seconds // HOUR}h{seconds % HOUR // MINUTE}m{seconds % MINUTE}s"


def timeline(nodes, deployments):
    """Entries with their times, in order."""
    entries = []
    # A rollout each hour, of one Deployment after the other.
    for hour in range(1, 24):
        entries.append((hour * HOUR, "  patch: {kind: Deployment, name: web-%d, patch: {spec: {template: "
                        "{metadata: {annotations: {rollout: '%d'}}}}}}" % (hour % deployments, hour)))
    # Every two hours one in 200 nodes, or one, is lost: for an hour, or for good.
    lost = max(nodes // 200, 1)
    for turn in range(11):
        for i in range(lost):
            name = f"node-{(turn * lost + i) * 7 % nodes:06d}"
            at = (2 * turn + 1) * HOUR + 20 * MINUTE + 10 * i
            if turn % 3 == 2:
                entries.append((at, "  delete: {kind: Node, name: %s, allowMissing: true}" % name))
                continue
            entries.append((at, f"  nodeDown: {name}"))
            entries.append((at + HOUR, f"  nodeUp: {name}"))
    # By day there is more to do.
    for index in range(deployments):
        small, large = max(nodes // 20, 4), max(nodes // 12, 6)
        entries.append((8 * HOUR + index, "  scale: {name: web-%d, replicas: %d}" % (index, large)))
        entries.append((20 * HOUR + index, "  scale: {name: web-%d, replicas: %d}" % (index, small)))
    return sorted(entries, key=lambda entry: entry[0])


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--nodes", type=int, default=1000)
    nodes = parser.parse_args().nodes
    deployments = max(nodes // 25, 6)
    cron_jobs = max(nodes // 50, 4)
    print(f"""# yaml-language-server: $schema=../../docs/scenario.schema.json
# Made by benchmarks/day.py --nodes {nodes}.
apiVersion: schedsim/v1
kind: Scenario
metadata: {{name: day}}
description: "A day of {nodes} nodes: rollouts, Jobs, and nodes that are lost."
start: 2026-01-05T00:00:00Z
stages: [general]
objects:""")
    for index in range(deployments):
        print(DEPLOYMENT.format(index=index, replicas=max(nodes // 20, 4), cpu=["250m", "500m", "1"][index % 3],
                                memory=["256Mi", "1Gi", "2Gi"][index % 3]), end="")
    for index in range(cron_jobs):
        schedule = "*/20 * * * *" if index == 0 else f"{index * 7 % 60} */{index % 3 + 1} * * *"
        print(CRON_JOB.format(index=index, schedule=schedule, pods=max(nodes // 50, 4),
                              parallelism=max(nodes // 100, 2)), end="")
    print("timeline:")
    print(NODES.format(nodes=nodes), end="")
    for at, what in timeline(nodes, deployments):
        print(f"- at: {clock(at)}\n{what}")
    print("end: 24h")


if __name__ == "__main__":
    main()
