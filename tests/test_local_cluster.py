"""Workers on this machine: nobody else on it can speak to them, and nothing of them is left."""

from __future__ import annotations

import json
import os
import signal
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from featloom.cluster import cluster
from featloom.errors import InputError

pytest.importorskip("distributed", reason="the package distributed is not installed")
psutil = pytest.importorskip("psutil")

PATIENCE = 60  # seconds that a process may take to start or end; none takes as many

# As whoever else is on this machine, where we may become one: says hello at every address.
STRANGER = """
import asyncio, json, os, ssl, sys
from distributed import Security
from distributed.comm import connect
from featloom.local_cluster import own_security

asked = json.load(sys.stdin)

def certified(roles):
    return Security(require_encryption=True, **roles).get_connection_args("client")["ssl_context"]

def credulous(context):  # believes whoever answers, and shows a certificate if it has one
    context.check_hostname = False
    context.verify_mode = ssl.CERT_NONE
    return {"ssl_context": context}

own = own_security().get_connection_args("client")["ssl_context"]
ways = {
    "no encryption": ("tcp", {}),
    "no certificate": ("tls", credulous(ssl.create_default_context())),
    "a certificate of one's own": ("tls", credulous(own)),
    "the cluster's": ("tls", {"ssl_context": certified(asked["security"])}),
}

async def answer(way, address):
    scheme, how = ways[way]
    try:
        comm = await connect(address.replace("tls", scheme), timeout=3, **how)
        await comm.write({"op": "identity", "reply": True})
        return (await comm.read())["type"]
    except OSError:
        return "refused"

async def main():
    attempts = [(way, address) for way in ways for address in asked["addresses"]]
    answers = await asyncio.gather(*(answer(*attempt) for attempt in attempts))
    found = {way: set() for way in ways}
    for (way, _), given in zip(attempts, answers):
        found[way].add(given)
    return {way: sorted(given) for way, given in found.items()}

# Once as whoever we are: nobody may be let into the folder of the packages, so all is loaded now.
asyncio.run(main())
if asked["other user"]:
    os.setgroups([])
    os.setgid(65534)
    os.setuid(65534)
print(json.dumps([os.getuid(), asyncio.run(main())]))
"""

# Starts workers and says who they are; ends when it is ended.
HOLD = """
import json, os, sys
from featloom.cluster import cluster

if __name__ == "__main__":
    with cluster("local:2") as workers:
        print(json.dumps(list(workers.client.run(os.getpid).values())), flush=True)
        input()
"""


def addresses(workers) -> set[str]:
    """Of the scheduler, the workers, and the nannies that start workers anew."""
    info = workers.client.scheduler_info(n_workers=-1)
    nannies = {worker["nanny"] for worker in info["workers"].values()}
    return {info["address"], *info["workers"], *nannies}


def listening() -> set[str]:
    """Where this process and its children listen."""
    ours = {os.getpid(), *(child.pid for child in psutil.Process().children(recursive=True))}
    return {
        f"tls://{one.laddr.ip}:{one.laddr.port}"
        for one in psutil.net_connections("inet")
        if one.pid in ours and one.status == psutil.CONN_LISTEN
    }


def test_a_stranger_is_refused_by_scheduler_nannies_and_workers():
    with cluster("local:2") as workers:
        security = workers.client.security
        names = [name for name in security.__slots__ if name.startswith(("tls_ca", "tls_client"))]
        asked = {
            "other user": os.getuid() == 0,
            "addresses": sorted(addresses(workers)),
            "security": {name: getattr(security, name) for name in names},
        }
        ended = subprocess.run(
            [sys.executable, "-c", STRANGER], input=json.dumps(asked), capture_output=True,
            text=True, timeout=PATIENCE,
        )  # fmt: skip
        assert ended.returncode == 0, ended.stderr
        uid, answers = json.loads(ended.stdout)
        assert uid == (os.getuid() or 65534)
        assert answers == {
            "no encryption": ["refused"],
            "no certificate": ["refused"],
            "a certificate of one's own": ["refused"],
            # Who has it is let in: nothing but the certificate keeps the others out.
            "the cluster's": ["Nanny", "Scheduler", "Worker"],
        }
        assert workers.client.submit(pow, 2, 5).result() == 32, "the cluster works on"


def test_nothing_listens_but_what_was_refused_there_and_a_new_worker_is_like_the_old():
    with cluster("local:2") as workers:
        assert len(addresses(workers)) == 5
        assert listening() == addresses(workers)
        before = workers.client.run(os.getpid)
        for pid in before.values():
            os.kill(pid, signal.SIGKILL)
        # Answers of workers alone: one that is lost meanwhile has none.
        while set(before) & set(workers.client.scheduler_info(n_workers=-1)["workers"]):
            workers.client.submit(os.getpid, pure=False).result(timeout=PATIENCE)
        workers.client.wait_for_workers(2, timeout=PATIENCE)
        assert listening() == addresses(workers)
        heard = workers.client.run(signal.getsignal, signal.SIGINT)
        assert set(heard.values()) == {signal.SIG_IGN}, "Ctrl-C is for the program to answer"


def test_files_lie_where_nobody_else_can_enter_and_go_with_the_cluster(tmp_path, monkeypatch):
    """What others may put into Dask's usual folder would be imported."""
    (tmp_path / "dask-scratch-space").mkdir(mode=0o777)
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    with cluster("local:1") as workers:
        (folder,) = (path for path in tmp_path.iterdir() if path.name.startswith("featloom-dask-"))
        assert stat.S_IMODE(folder.stat().st_mode) == 0o700
        (local,) = workers.client.run(lambda dask_worker: dask_worker.local_directory).values()
        (theirs,) = workers.client.run(lambda: list(sys.path)).values()
        for place in (local, *theirs, *sys.path):
            if str(tmp_path) in place:
                assert folder in Path(place).parents
        assert not holds_a_key(tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == ["dask-scratch-space"]


def test_a_program_that_is_killed_leaves_no_worker_and_no_key(tmp_path):
    script = tmp_path / "hold.py"
    script.write_text(HOLD)
    temporary = tmp_path / "tmp"
    temporary.mkdir()
    process = subprocess.Popen(
        [sys.executable, str(script)], env=os.environ | {"TMPDIR": str(temporary)},
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
    )  # fmt: skip
    assert process.stdout is not None
    workers = [psutil.Process(pid) for pid in json.loads(process.stdout.readline())]
    process.kill()
    process.wait()
    _, alive = psutil.wait_procs(workers, timeout=PATIENCE)
    assert not alive
    assert not holds_a_key(temporary)
    # The empty folders go with the next that starts workers.
    remove = "from featloom.scratch import scratch_folder\nwith scratch_folder('search'): pass"
    subprocess.run(
        [sys.executable, "-c", remove], env=os.environ | {"TMPDIR": str(temporary)}, check=True
    )
    assert list(temporary.iterdir()) == []


def holds_a_key(folder: Path) -> bool:
    return any(b"PRIVATE KEY" in path.read_bytes() for path in folder.rglob("*") if path.is_file())


def test_without_the_package_for_certificates_a_line_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "cryptography", None)
    monkeypatch.delitem(sys.modules, "featloom.local_cluster", raising=False)
    told = r"^local:1 needs the package cryptography: pip install 'featloom\[dask\]'$"
    with pytest.raises(InputError, match=told), cluster("local:1"):
        pass
