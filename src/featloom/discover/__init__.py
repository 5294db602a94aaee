"""Every applicable method on one data set: one protocol, one leaderboard, one honest answer.

``discover`` takes a file, a table or a DataFrame, recognises what kind of data it is, and compares
everything that applies to it (see :mod:`featloom.compare.questions` for what that means,
``tables``, ``sequences``, ``treebanks`` and ``many_tasks`` for what takes part,
``compare.schedule`` for the order, ``leaderboard`` for the conclusions).
"""

from __future__ import annotations

import sys
from types import ModuleType

from featloom.discover.discovery import Discovery
from featloom.discover.front import discover

__all__ = ["Discovery", "discover"]


class _Command(ModuleType):
    """The function and the folder have one name in ``featloom``, and Python gives the folder."""

    __call__ = staticmethod(discover)


sys.modules[__name__].__class__ = _Command
