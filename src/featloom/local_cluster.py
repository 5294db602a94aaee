"""Dask workers on this machine that nobody but their owner can speak to.

Scheduler, nannies and workers speak TLS on the loopback address, and none takes a word from
whoever does not show the certificate that was made for this cluster alone.  Its key is never sent:
workers get it through the pipe by which their process is started.  Nothing listens besides: neither
the dashboard nor the HTTP servers that Dask opens where there is none.  Every folder of the cluster
lies in one that only the owner can enter, for Dask imports modules from there.
"""

from __future__ import annotations

import logging
import signal
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import dask
import distributed
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec

# The certificate goes with its cluster; a clock that is set back or on must not end it before.
_FROM, _UNTIL = datetime(2000, 1, 1, tzinfo=UTC), datetime(2200, 1, 1, tzinfo=UTC)
_ADDRESS = "127.0.0.1"


class Scheduler(distributed.Scheduler):
    """A scheduler without an HTTP server."""

    def start_http_server(self, *_: Any, **__: Any) -> None:
        """Leave it out: it would tell anyone what is computed."""


class Worker(distributed.Worker):
    """A worker without an HTTP server that never hears Ctrl-C.

    Ctrl-C reaches every process of a terminal; what it means is for the program to say.
    """

    def __init__(self, *arguments: Any, **settings: Any):
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        super().__init__(*arguments, **settings)

    def start_http_server(self, *_: Any, **__: Any) -> None:
        """Leave it out."""


def start_local_cluster(
    n_workers: int, folder: Path, *, hung: float, env: Mapping[str, str]
) -> distributed.SpecCluster:
    """Start a scheduler in this process, and workers that are replaced when they die.

    Parameters
    ----------
    n_workers : processes, of one thread each.
    folder : of our own, for what Dask keeps in files.
    hung : seconds without a sign of life after which a worker is ended.
    env : what is set in the environment of workers.
    """
    security = own_security()
    ours = {
        "security": security, "protocol": "tls://", "host": _ADDRESS,
        "local_directory": str(folder),
    }  # fmt: skip
    settings = {
        "worker_class": Worker, "nthreads": 1, "memory_limit": 0, "env": dict(env),
        "silence_logs": logging.CRITICAL,
    }  # fmt: skip
    worker = {"cls": distributed.Nanny, "options": ours | settings}
    with dask.config.set({"distributed.scheduler.worker-ttl": f"{hung:.0f}s"}):
        return distributed.SpecCluster(
            workers=dict.fromkeys(range(n_workers), worker),
            scheduler={"cls": Scheduler, "options": ours | {"dashboard": False}},
            security=security,
            silence_logs=logging.CRITICAL,
        )


def own_security() -> distributed.Security:
    """A key and a certificate of its own, for all roles."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, "featloom")])
    certificate = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(_FROM)
        .not_valid_after(_UNTIL)
        .sign(key, hashes.SHA256())
        .public_bytes(serialization.Encoding.PEM)
        .decode()
    )
    secret = key.private_bytes(
        serialization.Encoding.PEM,
        serialization.PrivateFormat.PKCS8,
        serialization.NoEncryption(),
    ).decode()
    roles = ("client", "scheduler", "worker")
    return distributed.Security(
        require_encryption=True,
        tls_ca_file=certificate,
        **{f"tls_{role}_cert": certificate for role in roles},
        **{f"tls_{role}_key": secret for role in roles},
    )
