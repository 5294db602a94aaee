"""``njit`` as numba has it, with a cache that several processes may fill at the same time.

Numba numbers the files of compiled code and notes in an index which number belongs to which
types.  Two processes that compile the same function for different types, both with an index that
has neither, take the same number: the index then names code for other types than it says, and
every later process fails on it, or worse.  Here the name of a file comes from what it was compiled
for, and the index names it once it is there; a note that is lost in between costs one compilation.
"""

from __future__ import annotations

from collections.abc import Callable
from hashlib import sha256
from typing import Any

import numba
from numba.core.caching import IndexDataCacheFile


class SharedCacheFile(IndexDataCacheFile):
    """The compiled code of one function."""

    def save(self, key, data) -> None:
        name = sha256(repr(key).encode()).hexdigest()[:16]
        file = self._data_name_pattern.replace("{number:d}", name)
        self._save_data(file, data)
        self._save_index({**self._load_index(), key: file})


def njit(**options) -> Callable[[Callable], Any]:
    """Compile a function when it is first called; ``options`` are those of ``numba.njit``."""

    def decorate(function: Callable) -> Any:
        compiled = numba.njit(**options)(function)
        file = getattr(getattr(compiled, "_cache", None), "_cache_file", None)
        if isinstance(file, IndexDataCacheFile):
            file.__class__ = SharedCacheFile
        return compiled

    return decorate
