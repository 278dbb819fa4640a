"""What a cluster costs: searches on two workers, parts of tables, messages; and 64 from that.

    python -m benchmarks.cluster            # measures, and writes results/cluster.csv
    python -m benchmarks.cluster --estimate # only the estimate, from that file
    python -m benchmarks.cluster --speed-up # one search, on the clock of an idle machine

Seconds are CPU time where nothing else is said, as other programs may be running; those of the
speed-up are on the clock.
"""

import argparse
import csv
import math
import pickle
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from time import perf_counter, process_time
from typing import Any

import numpy as np

from benchmarks.large_tables import TARGET, make_part
from laconic.candidates.distinct_rows import ConditionOptions, Roles
from laconic.candidates.distinct_rows.bins import open_ranges
from laconic.candidates.distinct_rows.reduce import make_plan, merge_rows, reduce_partition
from laconic.candidates.distinct_rows.summary import partition_refinement, partition_summary
from laconic.search import RefittedTerms, SearchProblem, SearchResult, search
from laconic.search.distributed import MAX_SECONDS, DaskWorkers

RESULTS = Path(__file__).parent / "results" / "cluster.csv"
# Rows, features, thresholds per feature, penalty, and whether weights are refitted.
SEARCHES = {"stagewise": (400, 35, 4, 10.0, False), "joint": (300, 16, 4, 5.0, True)}
N_MESSAGES = 200
Numbers = dict[str, float]


def noise(n_rows: int, n_features: int, n_cuts: int, penalty: float, joint: bool) -> SearchProblem:
    """Targets that no column tells anything about: the longest proofs."""
    rng = np.random.default_rng(1)
    x = rng.normal(size=(n_features, n_rows))
    cuts = np.quantile(x, np.linspace(0, 1, n_cuts + 2)[1:-1], axis=1).T
    below = (x[:, None, :] <= cuts[:, :, None]).reshape(-1, n_rows)
    gradients, others = rng.normal(size=n_rows), None
    if joint:
        gradients -= gradients.mean()
        others = RefittedTerms(np.ones((1, n_rows), dtype=bool), np.zeros(1))
    extents = np.concatenate([below, ~below])
    return SearchProblem(extents, gradients, np.ones(n_rows), penalty, refitted=others)


@contextmanager
def counted_messages() -> Iterator[Numbers]:
    """Count the pieces of searches, and the bytes that describe what is left of them."""
    counts = {"pieces": 0.0, "megabytes": 0.0}
    submit = DaskWorkers.submit

    def note(workers: DaskWorkers, piece: Any) -> None:
        counts["pieces"] += 1
        counts["megabytes"] += sum(len(part.nodes) for part in piece.parts) / 1e6
        submit(workers, piece)

    DaskWorkers.submit = note
    try:
        yield counts
    finally:
        DaskWorkers.submit = submit


def measure_search(client: Any, name: str) -> Numbers:
    problem = noise(*SEARCHES[name])
    cpu, wall = process_time(), perf_counter()
    alone = search(problem, branching="conditions")
    cpu, wall = process_time() - cpu, perf_counter() - wall
    before, own, started = client.run(process_time), process_time(), perf_counter()
    with counted_messages() as counts:
        spread = search(problem, branching="conditions", client=client)
    spread_wall, own = perf_counter() - started, process_time() - own
    after = client.run(process_time)
    assert outcome(spread) == outcome(alone)
    of_workers = [after[worker] - before[worker] for worker in after]
    return {
        "seconds alone": cpu,
        "wall seconds alone": wall,
        "nodes alone": alone.counters["nodes"],
        "seconds of the busiest worker": max(of_workers),
        "seconds of all workers": sum(of_workers),
        "seconds of the coordinator": own,
        "wall seconds spread": spread_wall,
        "nodes spread": spread.counters["nodes"],
        **counts,
        "speed-up": wall / spread_wall,
        "speed-up in seconds of CPU": cpu / max(of_workers),
    }


def outcome(result: SearchResult) -> tuple[Any, ...]:
    return result.query, result.objective_value, result.bound, result.status


@contextmanager
def two_workers() -> Iterator[Any]:
    """Start two processes that have imported all they need."""
    from distributed import Client, LocalCluster

    with (
        LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=":0") as cluster,
        Client(cluster) as client,
    ):
        client.run(noise, *SEARCHES["joint"])
        yield client


def tell_speed_up() -> None:
    """Run one long search in this process, and then on two workers."""
    problem = noise(*SEARCHES["stagewise"])
    started = perf_counter()
    alone = search(problem, branching="conditions")
    seconds = perf_counter() - started
    print(f"one process: {seconds:.1f} s, {alone.counters['nodes']:,} nodes", flush=True)
    with two_workers() as client:
        started = perf_counter()
        spread = search(problem, branching="conditions", client=client)
        of_two = perf_counter() - started
    print(f"two workers: {of_two:.1f} s, {spread.counters['nodes']:,} nodes")
    print(f"ratio: {seconds / of_two:.2f}")
    is_same = outcome(spread) == outcome(alone)
    print(
        f"same optimum: {'yes' if is_same else 'NO'} ({alone.status}, {alone.objective_value:.6g})"
    )


def measure_messages(client: Any) -> Numbers:
    started = perf_counter()
    client.gather([client.submit(abs, -number, pure=False) for number in range(N_MESSAGES)])
    message = (perf_counter() - started) / N_MESSAGES
    block = np.random.default_rng(0).bytes(50_000_000)
    started = perf_counter()
    client.scatter([block], broadcast=True, hash=False)
    return {
        "milliseconds per piece": 1e3 * message,
        "megabytes per second": 50 * len(client.nthreads()) / (perf_counter() - started),
    }


def measure_reduction(n_rows: int = 500_000) -> Numbers:
    frames = [make_part(number, n_rows) for number in range(2)]
    features = tuple(name for name in frames[0].columns if name != TARGET)
    roles = Roles(TARGET, features)
    conditions = ConditionOptions(7)
    started = process_time()
    summaries = [partition_summary(frame, roles) for frame in frames]
    look = process_time() - started
    started = process_time()
    summary = summaries[0].merge(summaries[1])
    merge_summaries = process_time() - started
    started, n_passes = process_time(), 0
    while ranges := open_ranges(summary, roles, conditions.max_thresholds):
        looks = [partition_refinement(frame, roles, ranges) for frame in frames]
        finer = {name: values.merge(looks[1][name]) for name, values in looks[0].items()}
        summary = summary.replaced(finer)
        n_passes += 1
    refine = process_time() - started
    plan, _, _ = make_plan(summary, roles, conditions)
    started = process_time()
    rows = [reduce_partition(frame, plan) for frame in frames]
    reduce = process_time() - started
    started = process_time()
    merged = merge_rows(*rows)
    merging = process_time() - started
    n_seen = 2 * n_rows
    return {
        "nanoseconds per row for values": 1e9 * look / n_seen,
        "nanoseconds per row for thresholds": 1e9 * refine / n_seen,
        "passes for thresholds": n_passes,
        "nanoseconds per row for rows": 1e9 * reduce / n_seen,
        "milliseconds to merge two summaries": 1e3 * merge_summaries,
        "nanoseconds to merge a reduced row": 1e9 * merging / sum(map(len, rows)),
        "bytes of a reduced row": len(pickle.dumps(merged.amounts)) / len(merged)
        + len(pickle.dumps(merged.keys)) / len(merged),
        "distinct rows of half a million": float(len(rows[0])),
        "distinct rows of a million": float(len(merged)),
    }


def estimate(numbers: Numbers, n_rows: float = 1e9, n_workers: int = 64) -> Numbers:
    """Estimate what a table and a search would cost, by the model of docs/research/cluster.md."""
    of = numbers.__getitem__
    per_row = sum(
        of(f"reduction: nanoseconds per row for {w}") for w in ("values", "thresholds", "rows")
    )
    growth = math.log2(
        of("reduction: distinct rows of a million")
        / of("reduction: distinct rows of half a million")
    )
    n_distinct = of("reduction: distinct rows of a million") * (n_rows / 1e6) ** growth
    gigabytes = n_distinct * of("reduction: bytes of a reduced row") / 1e9
    # The last merges are of nearly all distinct rows, one worker each.
    merging = 2 * n_distinct * of("reduction: nanoseconds to merge a reduced row") / 1e9
    sending = 1e3 * gigabytes / of("messages: megabytes per second")
    one_hour = 3600.0 * of("stagewise: seconds of all workers") / of("stagewise: seconds alone")
    megabytes = of("stagewise: megabytes") / of("stagewise: seconds of all workers")
    return {
        "CPU seconds to read the rows": n_rows * per_row / 1e9,
        "seconds to read them on all workers": n_rows * per_row / 1e9 / n_workers,
        "distinct rows": n_distinct,
        "gigabytes of them": gigabytes,
        "seconds to merge them at the end": merging,
        "seconds to send them": sending,
        "seconds of a search of an hour": one_hour / n_workers,
        "megabytes per second that it sends": megabytes * n_workers,
        "pieces per second that it takes": n_workers / MAX_SECONDS,
        "pieces per second that are possible": 1e3 / of("messages: milliseconds per piece"),
    }


def measure() -> Numbers:
    numbers = {f"reduction: {name}": value for name, value in measure_reduction().items()}
    with two_workers() as client:
        numbers |= {f"messages: {name}": value for name, value in measure_messages(client).items()}
        for name in SEARCHES:
            found = measure_search(client, name)
            numbers |= {f"{name}: {key}": value for key, value in found.items()}
    return numbers


def show(numbers: Numbers) -> None:
    for name, value in numbers.items():
        print(f"| {name} | {value:,.4g} |")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--estimate", action="store_true")
    parser.add_argument("--speed-up", action="store_true")
    options = parser.parse_args()
    if options.speed_up:
        tell_speed_up()
        return
    if not options.estimate:
        numbers = measure()
        RESULTS.parent.mkdir(exist_ok=True)
        with RESULTS.open("w", newline="", encoding="utf-8") as file:
            csv.writer(file).writerows(numbers.items())
    with RESULTS.open(newline="", encoding="utf-8") as file:
        numbers = {name: float(value) for name, value in csv.reader(file)}
    show(numbers)
    show(estimate(numbers))


if __name__ == "__main__":
    sys.exit(main())
