"""Searches on a real Dask cluster: the result is that of one core, whatever happens to workers."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from contextlib import suppress
from pathlib import Path

import numpy as np
import pytest
from climbing import BELONGS_TO, SPACE, Climb, evaluate

import featloom.cluster
from featloom.cluster import Cluster, cluster, current_cluster, mapped, reduced
from featloom.errors import InputError
from featloom.methods.memory_search import MemorySearch
from featloom.methods.template_search import TemplateSearch
from featloom.search import Journal, search

pytest.importorskip("distributed", reason="the package distributed is not installed")

PATIENCE = 60  # seconds that a process may take to start or end; none takes as many


@pytest.fixture(scope="module")
def on_one_core():
    return results(search(evaluate, Climb(SPACE)))


def results(history):
    return [[e.candidate, e.result] for e in history]


@pytest.fixture
def processes(tmp_path):
    """A scheduler and two workers, each a process of its own that nobody starts again."""
    env = os.environ | {
        "PYTHONPATH": os.pathsep.join([*sys.path, os.environ.get("PYTHONPATH", "")]),
        "NUMBA_NUM_THREADS": "1",
        "OPENBLAS_NUM_THREADS": "1",
    }
    place = tmp_path / "scheduler.json"
    alone = ["--no-dashboard", "--scheduler-file", str(place)]
    started = [start(env, "scheduler", "--host", "127.0.0.1", "--port", "0", *alone)]
    try:
        started += [start(env, "worker", "--no-nanny", "--nthreads", "1", *alone) for _ in range(2)]
        address = wait_for_address(place, started[0])
        yield address, started[1:]
    finally:
        for process in started:
            process.kill()
            process.wait(timeout=PATIENCE)


def start(env, *words) -> subprocess.Popen:
    command = [sys.executable, "-m", "dask", *words]
    return subprocess.Popen(command, env=env, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


def wait_for_address(place: Path, scheduler: subprocess.Popen) -> str:
    while True:
        with suppress(OSError, ValueError):
            return json.loads(place.read_text())["address"]
        with suppress(subprocess.TimeoutExpired):
            scheduler.wait(timeout=0.05)
            pytest.fail("the scheduler ended before it began")


def killing(pids, after, number=signal.SIGKILL):
    """After so many results, kill -9 or another signal."""
    left = [after]

    def on_result(_):
        left[0] -= 1
        if left[0] == 0:
            for pid in pids:
                os.kill(pid, number)

    return on_result


def test_a_search_on_two_workers_ends_as_on_one_core(tmp_path, on_one_core):
    path = tmp_path / "a.journal"
    with cluster("local:2") as workers:
        assert workers.n_workers == 2
        with Journal(path, **BELONGS_TO) as journal:
            history = search(evaluate, Climb(SPACE), journal=journal)
    assert results(history) == on_one_core
    assert current_cluster() is None
    with Journal(path, **BELONGS_TO) as journal:
        again = search(evaluate, Climb(SPACE), journal=journal)
    assert results(again) == on_one_core
    assert again.replayed == len(on_one_core)


def test_a_script_that_would_start_workers_in_its_workers_is_told_how_not_to(tmp_path):
    script = tmp_path / "unguarded.py"
    script.write_text('from featloom.cluster import cluster\nwith cluster("local:1"):\n    pass\n')
    ended = subprocess.run([sys.executable, script], capture_output=True, text=True)
    assert ended.stderr.splitlines()[-1].endswith(
        'Nanny failed to start; a script of your own starts them below if __name__ == "__main__":'
    )


def test_two_clusters_at_a_time_listen_on_this_machine_alone(recwarn):
    with cluster("local:1") as one, cluster("local:1") as other:
        assert one is not None
        assert other is not None
        for each in (one, other):
            info = each.client.scheduler_info(n_workers=-1)
            addresses = [info["address"], *info["workers"]]
            assert {address.rpartition(":")[0] for address in addresses} == {"tls://127.0.0.1"}
    assert [str(warning.message) for warning in recwarn] == []


def test_workers_that_are_killed_cost_time_only(on_one_core):
    with cluster("local:2") as workers:
        for some in (slice(0, 1), slice(None)):
            pids = list(workers.client.run(os.getpid).values())[some]
            history = search(evaluate, Climb(SPACE), on_result=killing(pids, after=10))
            assert results(history) == on_one_core


def test_workers_that_hang_are_ended_and_cost_time_only(on_one_core, monkeypatch):
    monkeypatch.setattr(featloom.cluster, "HUNG", 4.0)
    with cluster("local:2") as workers:
        pids = list(workers.client.run(os.getpid).values())
        hang = killing(pids, after=10, number=signal.SIGSTOP)
        history = search(evaluate, Climb(SPACE), on_result=hang)
    assert results(history) == on_one_core


def test_a_worker_that_hangs_before_there_is_work_costs_time_only(monkeypatch):
    monkeypatch.setattr(featloom.cluster, "HUNG", 4.0)
    with cluster("local:2") as workers:
        os.kill(min(workers.client.run(os.getpid).values()), signal.SIGSTOP)
        workers.check()


def test_workers_that_never_answer_are_told_of():
    def question():
        raise ConnectionError("the connection\nis closed")

    told = "the workers at tcp://10.0.0.7:1 do not answer: the connection$"
    with pytest.raises(InputError, match=told):
        Cluster(None, "tcp://10.0.0.7:1").ask(question)


def test_one_worker_of_a_scheduler_elsewhere_may_be_lost(processes, on_one_core):
    address, workers = processes
    with cluster(address) as connected:
        connected.client.wait_for_workers(2, timeout=PATIENCE)
        kill_one = killing([workers[0].pid], after=10)
        history = search(evaluate, Climb(SPACE), on_result=kill_one)
        assert results(history) == on_one_core


def test_without_any_worker_left_there_is_a_clear_line_and_the_journal(
    processes, tmp_path, monkeypatch
):
    monkeypatch.setattr(featloom.cluster, "PATIENCE", 1.0)
    address, workers = processes
    path = tmp_path / "a.journal"
    with cluster(address) as connected, Journal(path, **BELONGS_TO) as journal:
        connected.client.wait_for_workers(2, timeout=PATIENCE)
        kill_all = killing([worker.pid for worker in workers], after=10)
        with pytest.raises(InputError, match="no worker is left at tcp"):
            search(evaluate, Climb(SPACE), journal=journal, on_result=kill_all)
        assert len(list(journal)) >= 10


def test_an_error_in_an_evaluation_comes_back_as_it_is():
    def fails(candidate):
        raise ZeroDivisionError("no rows")

    with (
        cluster("local:1"),
        pytest.raises(ZeroDivisionError, match="no rows"),
    ):
        search(fails, Climb(SPACE))


def test_an_evaluation_that_ends_its_workers_is_named():
    def ends(candidate):
        os.kill(os.getpid(), signal.SIGKILL)

    with (
        cluster("local:1"),
        pytest.raises(InputError, match="ended 4 workers at local:1 one after the other"),
    ):
        search(ends, Climb(SPACE))


@pytest.mark.parametrize("address", ["local:0", "local:", "two", "http://host"])
def test_an_address_that_is_none_is_refused(address):
    with pytest.raises(InputError, match=r"it can be local:4 or tcp://host:port"), cluster(address):
        pass


def test_a_scheduler_that_does_not_answer_is_named(monkeypatch):
    monkeypatch.setattr(featloom.cluster, "_CONNECT", 0.5)
    with (
        pytest.raises(InputError, match=r"no Dask scheduler answers at tcp://127\.0\.0\.1:9"),
        cluster("tcp://127.0.0.1:9"),
    ):
        pass


def run_sum(held, numbers):
    return held + np.array([sum(numbers), len(numbers)])


def test_results_come_in_order_and_sums_are_whole():
    here = list(mapped(pow, 3, range(20)))
    in_one = reduced(run_sum, np.zeros(2, int), range(100), np.add)
    with cluster("local:2") as workers:
        assert isinstance(workers, Cluster)
        assert list(mapped(pow, 3, range(20))) == here
        in_runs = reduced(run_sum, np.zeros(2, int), range(100), np.add)
    assert in_runs.tolist() == in_one.tolist() == [4950, 100]


def dies_once(marker, numbers):
    """The first to come kills its worker; the others add up."""
    try:
        Path(marker).touch(exist_ok=False)
    except FileExistsError:
        return np.array([sum(numbers), len(numbers)])
    os.kill(os.getpid(), signal.SIGKILL)


def test_a_sum_is_whole_though_a_worker_died_on_the_way(tmp_path):
    marker = str(tmp_path / "died")
    with cluster("local:2"):
        total = reduced(dies_once, marker, range(100), np.add)
    assert total.tolist() == [4950, 100]
    assert Path(marker).exists()


def test_what_many_tasks_need_is_sent_once():
    class Vocabulary:
        words = ("a", "b")

    words, others = Vocabulary(), Vocabulary()
    with cluster("local:1") as workers:
        first = workers.hold(words)
        assert workers.hold((words, others))[0] is first
        assert workers.hold(others) is not first


def letters(n):
    rows = [[a, b, c] for a in "cks" for b in "aeio" for c in "xyz"] * n
    return rows, ["S" if a == "s" or (a == "c" and b in "ei") else "K" for a, b, _ in rows]


@pytest.mark.parametrize("strategy", ["guided", "genetic"])
def test_a_memory_search_finds_the_same_setting_by_the_same_way(strategy):
    rows, sounds = letters(4)
    how = {"strategy": strategy, "cv": 3, "random_state": 1, "trials": 40}
    alone = MemorySearch(**how).fit(rows, sounds)
    with cluster("local:2"):
        helped = MemorySearch(**how).fit(rows, sounds)
    assert results(helped.history_) == results(alone.history_)
    assert helped.best_setting_ == alone.best_setting_


def test_a_template_search_makes_the_same_decisions():
    words = ["the", "dog", "saw", "a", "cat", "in", "old", "house"]
    tags = ["D", "N", "V", "D", "N", "P", "A", "N"]
    sentences = [[(words[(i * k) % 8],) for k in range(1, 5)] for i in range(1, 41)]
    labels = [[tags[(i * k) % 8] for k in range(1, 5)] for i in range(1, 41)]
    how = {"proxy": "maxent", "window": 1, "max_templates": 4, "passes": 2}
    alone = TemplateSearch(**how).fit(sentences, labels)
    with cluster("local:2"):
        helped = TemplateSearch(**how).fit(sentences, labels)
    assert helped.templates_ == alone.templates_
    assert results(helped.work_) == results(alone.work_)
