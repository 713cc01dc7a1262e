#!/usr/bin/env python3
"""Measures programs on the workloads of shapes.py, one beside the other, and prints a table in Markdown.

  measure_shapes.py build/release/tools/schedsim
  measure_shapes.py NEW OLD --shapes basic,spread --runs 5
  measure_shapes.py NEW --recorder RECORDER

A time is that of the run: from the first pod to the last, without the reading. The programs take turns, and the median of
all runs counts, so that a busy machine slows all of them alike. RECORDER (docs/recorder.md) runs kube-scheduler's own search for
a node, once a workload; what all of them take is divided by the attempts of the first program.
"""
import argparse
import os
import re
import statistics
import subprocess
import sys
import tempfile

# Shape, nodes, pods, pods that come first.
WORKLOADS = [
    ("basic", 5000, 10000, 1000), ("nodeaffinity", 5000, 10000, 1000), ("spread", 5000, 5000, 1000),
    ("preferredspread", 5000, 5000, 1000), ("antiaffinity", 5000, 2000, 1000), ("affinity", 5000, 5000, 1000),
    ("preferredaffinity", 5000, 5000, 1000), ("preferredantiaffinity", 5000, 5000, 1000), ("mixed", 5000, 5000, 1000),
    ("unschedulable", 5000, 10000, 1000), ("preemption", 5000, 5000, 1000), ("devices", 1000, 10000, 0),
    ("gangs", 5000, 5040, 1000),
]
TIMES = re.compile(r"(\d+) attempts in ([\d.]+) s .*?([\d.]+) MB at most")


def write_case(folder, workload, real):
    shape, nodes, pods, init = workload
    path = os.path.join(folder, "case.json")
    command = [sys.executable, os.path.join(os.path.dirname(__file__), "shapes.py"), shape, str(nodes), str(pods), str(init)]
    with open(path, "w") as case:
        subprocess.run(command + (["real"] if real else []), stdout=case, check=True)
    return path


def run(program, case):
    """Microseconds an attempt, the peak memory in MB, and the attempts."""
    result = subprocess.run([program, "run", case], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, check=True)
    found = TIMES.search(result.stderr)
    if found is None:
        raise SystemExit(f"{program}: no times in {result.stderr!r}")
    return float(found[2]) / max(int(found[1]), 1) * 1e6, float(found[3]), int(found[1])


def run_core(recorder, case):
    """Microseconds of all cycles; None where there are none."""
    result = subprocess.run([recorder, "bench", case], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    found = re.search(r"(\d+) scheduling cycles, ([\d.]+)(s|ms|µs) each", result.stdout)
    return int(found[1]) * float(found[2]) * {"s": 1e6, "ms": 1e3, "µs": 1}[found[3]] if found else None


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program", nargs="+", help="schedsim, in one or more versions")
    parser.add_argument("--shapes", help="only these, with commas between them")
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--recorder", help="kube-scheduler's own core, as tools/recorder/build.sh builds it")
    options = parser.parse_args()
    wanted = options.shapes.split(",") if options.shapes else [workload[0] for workload in WORKLOADS]
    heads = ["workload"] + [f"{os.path.basename(program)} µs | MB" for program in options.program]
    print("| " + " | ".join(heads) + (" | core µs | core / first |" if options.recorder else " |"))
    print("|" + " --- |" * (1 + 2 * len(options.program) + (2 if options.recorder else 0)))
    for workload in WORKLOADS:
        if workload[0] not in wanted:
            continue
        for real in (False, True):
            with tempfile.TemporaryDirectory() as folder:
                case = write_case(folder, workload, real)
                figures = [[] for _ in options.program]
                for _ in range(options.runs):
                    for i, program in enumerate(options.program):
                        figures[i].append(run(program, case))
                cells = [f"{workload[0]} {workload[1]} / {workload[2]}{' real' if real else ''}"]
                for of_program in figures:
                    cells.append(f"{statistics.median(f[0] for f in of_program):.1f}")
                    cells.append(f"{statistics.median(f[1] for f in of_program):.0f}")
                if options.recorder:
                    core = run_core(options.recorder, case)
                    an_attempt = None if core is None else core / figures[0][0][2]
                    cells.append("-" if core is None else f"{an_attempt:.0f}")
                    cells.append("-" if core is None else f"{an_attempt / statistics.median(f[0] for f in figures[0]):.0f}")
                print("| " + " | ".join(cells) + " |", flush=True)


if __name__ == "__main__":
    main()
