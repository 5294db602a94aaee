"""Sparse binary matrices that SciPy saved (``.npz``), with names, labels and groups beside them.

A folder that holds ``X.npz``, ``features.txt`` and ``labels.npz`` is one data set: a row of
``labels.npz`` has its class in ``y`` and, where there is one, its document in ``doc``; a file
``docs.tsv`` names the documents in its first column.  Archives are data only: what would need to
be unpickled is refused.
"""

from __future__ import annotations

import math
import os
import zipfile
from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from featloom.data.matrix import FeatureMatrix
from featloom.data.readers.labels import check_classes
from featloom.data.readers.lines import open_bytes, read_lines
from featloom.data.readers.svmlight import MOST_FEATURES, read_names
from featloom.data.vocabulary import Vocabulary
from featloom.errors import InputError, ReadError
from featloom.formats.archives import open_archive, read_array, read_head
from featloom.formats.models import OF_NAME, Room
from featloom.words import no_such

if TYPE_CHECKING:
    from scipy import sparse


def read_sparse(
    path: str | os.PathLike[str],
    *,
    names: Any = None,
    labels: Any = None,
    classes: Any = None,
    groups: Any = None,
    group_names: Any = None,
    require_labels: bool = True,
) -> FeatureMatrix:
    """Read a CSR matrix of zeros and ones from an ``.npz`` archive.

    Parameters
    ----------
    path : archive with ``indptr``, ``indices``, ``shape`` and, unless every value is 1, ``data``.
    names, labels, classes, groups, group_names : each a sequence or array; or the name of an
        array in the archive; or a text file with one a line.  Labels and groups that are numbers
        are codes into ``classes`` and ``group_names`` where those are given; otherwise classes
        and groups are ordered by number.
    require_labels : refuse labels with one class only.

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> from scipy.sparse import csr_matrix, save_npz
    >>> with TemporaryDirectory() as folder:
    ...     path = Path(folder, "X.npz")
    ...     save_npz(path, csr_matrix([[1, 0], [1, 1], [0, 1]]))
    ...     matrix = read_sparse(path, names=["CAP", "Prev=in"], labels=[1, 0, 1])
    >>> matrix.families, matrix.classes, matrix.labels.tolist()
    (('CAP', 'Prev'), ('0', '1'), [1, 0, 1])
    """
    file = os.fspath(path)
    arrays = load_arrays(file)
    X = _csr(arrays, file)
    n_rows, n_features = X.shape
    feature_names = _values(names, arrays, read_names, file)
    if feature_names is None and n_features > MOST_FEATURES:
        raise ReadError(f"{n_features:,} features need names", file=file)
    fields: dict = {}
    for what, given, named in (("labels", labels, classes), ("groups", groups, group_names)):
        values = _values(given, arrays, _read_column, file)
        if values is None:
            continue
        if len(values) != n_rows:
            raise ReadError(f"{len(values)} {what} for {n_rows} rows", file=file)
        fields[what] = _coded(values, _values(named, arrays, _read_column, file), what, file)
    if "labels" in fields:
        codes, found = fields.pop("labels")
        target = labels if isinstance(labels, str) else "y"
        if require_labels:
            check_classes(found, len(codes), file=file, target=target)
        fields.update(labels=codes, classes=found, target=target)
    if "groups" in fields:
        fields["groups"], fields["group_names"] = fields["groups"]
    try:
        return FeatureMatrix.from_csr(X, names=feature_names, source=file, **fields)
    except ReadError:
        raise
    except InputError as error:
        raise ReadError(str(error), file=file) from None


def read_matrix_folder(
    path: str | os.PathLike[str], *, require_labels: bool = True
) -> FeatureMatrix:
    """Read a folder with X.npz, features.txt (plain, ``.xz`` or ``.gz``) and labels.npz as one
    data set; groups are the documents."""
    folder = Path(path)
    if not folder.is_dir():
        raise ReadError("no such folder", file=os.fspath(path))
    fields: dict = {}
    features = _beside(folder, "features.txt")
    if features is not None:
        fields["names"] = features
    if (folder / "labels.npz").exists():
        beside = load_arrays(folder / "labels.npz")
        if "y" not in beside:
            raise ReadError(no_such("array", "y", beside), file=str(folder / "labels.npz"))
        fields["labels"] = beside["y"]
        if "doc" in beside:
            fields["groups"] = beside["doc"]
            documents = _beside(folder, "docs.tsv")
            if documents is not None:
                fields["group_names"] = [
                    line.partition("\t")[0] for _, line in read_lines(documents)
                ]
    return read_sparse(folder / "X.npz", require_labels=require_labels, **fields)


def load_arrays(
    path: str | os.PathLike[str], *, most_bytes: int | None = None
) -> dict[str, np.ndarray]:
    """All arrays of an ``.npz`` archive.

    Nothing in it is run.  Its members are stored or deflated.  An array that claims to be larger
    than its data is refused before memory is set aside for it, and so are arrays that take more
    than ``most_bytes`` together, texts as Python keeps them; by default 8 GiB.
    """
    file = os.fspath(path)
    room = Room(file, "the arrays take", most_bytes)
    arrays: dict[str, np.ndarray] = {}
    with ExitStack() as stack:
        stream = open_bytes(file, stack)
        if not stream.peek(1):  # type: ignore[attr-defined]
            raise ReadError("the file is empty", file=file)
        try:
            archive = stack.enter_context(open_archive(stream, file))
            for member in archive.infolist():
                room.take(member.file_size)
            for member in archive.infolist():
                name = member.filename.removesuffix(".npy")
                arrays[name] = _read_member(archive, member, room, name)
        except ReadError:
            raise
        except MemoryError:
            raise ReadError("cannot be read: there is not enough memory", file=file) from None
        # Damaged archives fail in the decoders of zip, deflate and npy in a dozen ways.
        except Exception:
            message = "this is not an .npz archive, or it is damaged"
            raise ReadError(message, file=file) from None
    return arrays


def _read_member(
    archive: zipfile.ZipFile, member: zipfile.ZipInfo, room: Room, name: str
) -> np.ndarray:
    with archive.open(member) as stream:
        head = read_head(stream, member)
        if head is None:
            raise ReadError(f"array {name!r:.60} is cut short or damaged", file=room.file)
        if head.dtype.hasobject:
            message = f"array {name!r:.60} holds Python objects, which are never loaded"
            raise ReadError(message, file=room.file)
        if head.dtype.kind not in "biufcSU" or not head.dtype.itemsize:
            raise ReadError(f"array {name!r:.60} holds neither numbers nor text", file=room.file)
        if head.dtype.kind in "SU":  # which becomes strings of Python
            room.take(OF_NAME * math.prod(head.shape))
        array = read_array(stream, head)
        if array is None:
            raise ReadError(f"array {name!r:.60} is cut short or damaged", file=room.file)
        return array


def _csr(arrays: dict[str, np.ndarray], file: str) -> sparse.csr_matrix:
    from scipy import sparse

    for name in ("indptr", "indices", "shape"):
        if name not in arrays:
            raise ReadError(f"no array {name!r}; this is not a CSR matrix", file=file)
        if arrays[name].ndim != 1 or arrays[name].dtype.kind not in "iu":
            raise ReadError(f"array {name!r} is not a list of whole numbers", file=file)
    if "format" in arrays:
        kept_as = arrays["format"].item() if arrays["format"].size == 1 else b"unknown"
        kept_as = kept_as.decode("ascii", "replace") if isinstance(kept_as, bytes) else str(kept_as)
        if kept_as != "csr":
            raise ReadError(f"a matrix in {kept_as} format; csr is expected", file=file)
    indptr, indices, shape = arrays["indptr"], arrays["indices"], arrays["shape"]
    indptr = indptr.astype(np.int64)
    sound = (
        len(shape) == 2
        and len(indptr) == int(shape[0]) + 1
        and indptr[0] == 0
        and indptr[-1] == len(indices)
        and (np.diff(indptr) >= 0).all()
        and 0 <= int(shape[1]) < 2**31
        and (not len(indices) or (indices.min() >= 0 and indices.max() < shape[1]))
    )
    data = arrays.get("data", np.ones(len(indices), dtype=np.int8))
    if not sound or data.shape != indices.shape or data.dtype.kind not in "biuf":
        raise ReadError("indptr, indices, data and shape do not make a CSR matrix", file=file)
    return sparse.csr_matrix((data, indices, indptr), shape=(len(indptr) - 1, int(shape[1])))


def _values(given: Any, arrays: dict[str, np.ndarray], read, file: str) -> Any:
    """What was given, or what the name that was given stands for."""
    if isinstance(given, str) and given in arrays:
        given = arrays[given]
    elif isinstance(given, str | os.PathLike):
        if not os.path.exists(given):
            raise ReadError(no_such("array", os.fspath(given), arrays), file=file)
        return read(given)
    if isinstance(given, np.ndarray):
        if given.ndim != 1:
            raise InputError(f"an array of {given.ndim} dimensions where a list is expected")
        return given if given.dtype.kind in "biuf" else [str(value) for value in given]
    return given


def _read_column(path: str | os.PathLike[str]) -> list[str]:
    return [line for _, line in read_lines(path)]


def _coded(
    values: Sequence, named: Sequence | None, what: str, file: str
) -> tuple[np.ndarray, tuple[str, ...]]:
    """Codes and names; numbers are codes already where their names are given."""
    array = np.asarray(values)
    if named is not None:
        if array.dtype.kind not in "biu":
            raise InputError(f"{what} with names apart must be whole numbers")
        if array.size and not 0 <= array.min() <= array.max() < len(named):
            raise ReadError(f"{what} beyond the {len(named)} names", file=file)
        return array.astype(np.int32), tuple(str(name) for name in named)
    if array.dtype.kind in "biuf":
        found, codes = np.unique(array, return_inverse=True)
        if array.dtype.kind == "f" and np.isnan(found).any():
            raise ReadError(f"missing {what}", file=file)
        names = [str(int(v)) if float(v).is_integer() else str(v) for v in found.tolist()]
        return codes.astype(np.int32), tuple(names)
    names_there = Vocabulary()
    return names_there.add([str(value) for value in values]), names_there.names


def _beside(folder: Path, name: str) -> Path | None:
    for ending in ("", ".xz", ".gz"):
        if (folder / (name + ending)).exists():
            return folder / (name + ending)
    return None
