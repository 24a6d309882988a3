"""The simulation of a sweep on a cluster against closed forms."""

import numpy as np
import pytest

from benchmarks.cluster_events import Cluster, Load, Simulation, expected_lost, expected_time, ideal_makespan


def test_without_disturbance_it_is_rounds_of_chunks_or_the_client():
    """Exactly: 100 chunks of 2 s on 8 threads take 13 rounds; without any work the client's time is left."""
    found = Simulation(Load(100, 2.0, overhead=0.5), Cluster(4, 2)).run()
    assert found.makespan == ideal_makespan(100, 2.5, 8, 0.0) == 32.5
    assert found.useful == pytest.approx(250.0) and len(found.written) == 100 and found.lost == found.wasted == 0
    found = Simulation(Load(100, 0.0, service=0.01), Cluster(4, 2)).run()
    assert found.makespan == pytest.approx(ideal_makespan(100, 0.0, 8, 0.01)) == pytest.approx(1.0)
    assert found.client == pytest.approx(1.0)


def test_the_store_writes_one_after_the_other():
    """Where it is the slowest part, its bandwidth is the throughput."""
    found = Simulation(Load(50, 0.1, bytes=1e6, bandwidth=2e6), Cluster(20)).run()
    assert found.makespan == pytest.approx(0.1 + 50 * 0.5) and found.store == pytest.approx(1.0, abs=0.01)


def test_lost_computations_are_as_many_as_failures_predict():
    """Chunks as long as a machine lives on average: e - 1 computations of each are lost; four standard errors."""
    chunks, seconds, mtbf = 4000, 1.0, 1.0
    found = Simulation(Load(chunks, seconds), Cluster(50, mtbf=mtbf, repair=0.0), seed=3).run()
    p = np.exp(-seconds / mtbf)  # the number of losses of a chunk is geometric
    deviation = 4.0 * np.sqrt(chunks * (1.0 - p)) / p
    assert abs(found.lost - expected_lost(chunks, seconds, mtbf)) < deviation
    assert found.useful == pytest.approx(chunks * seconds)
    assert (found.useful + found.wasted) / chunks == pytest.approx(expected_time(seconds, mtbf), rel=0.06)


def test_threads_of_a_machine_fail_together_and_chunks_are_computed_once():
    """One failure loses what all threads of the machine compute; every chunk is written once all the same."""
    found = Simulation(Load(64, 1.0), Cluster(2, 4, repair=1e9), kills=[(2.5, 0)]).run()
    assert found.failures == 1 and found.lost == 4 and found.wasted == pytest.approx(4 * 0.5)
    assert len(found.written) == 64
    assert found.makespan == 2.0 + 12.0  # 16 in two rounds; 48 on the four threads that are left: 12 rounds


def test_duplicates_end_the_wait_for_a_slow_machine():
    """One of 50 machines ten times as slow: without duplicates the sweep waits for its last chunk."""
    cluster = Cluster(50, slow=0.02, slowness=10.0)
    waits, copies = (Simulation(Load(500, 1.0, duplicates=d), cluster, seed=1).run() for d in (False, True))
    assert waits.makespan >= 19.0 and copies.makespan <= 12.0 and 0 < copies.duplicated < 50
    assert copies.wasted > 0.0 and len(copies.written) == 500


def test_more_threads_do_not_help_beyond_what_the_client_handles():
    """With one chunk for each thread the time is work / threads + threads x service: least at their square root."""
    work, service = 100.0, 0.01
    times = {n: Simulation(Load(n, work / n, service=service), Cluster(n)).run().makespan for n in (25, 100, 400)}
    assert times[100] < times[25] and times[100] < times[400]


def test_one_seed_is_one_run():
    """Random speeds, joins and failures."""
    cluster = Cluster(20, 2, mtbf=5.0, repair=1.0, notice=0.1, spread=0.3, slow=0.1, start=1.0)
    runs = [Simulation(Load(300, 1.0, 0.1, 1e-3), cluster, seed=s).run() for s in (7, 7, 8)]
    assert runs[0] == runs[1] != runs[2] and runs[0].lost > 0
