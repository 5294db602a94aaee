"""Every applicable method on one data set: one protocol, one leaderboard, one honest answer.

``discover`` takes a file, a table or a DataFrame, recognises what kind of data it is, and compares
everything that applies to it (see :mod:`featloom.discover.contenders` for what that means,
``tables``, ``sequences``, ``treebanks`` and ``many_tasks`` for what takes part,
``schedule`` for the order, ``verdict`` for the conclusions).
"""

from __future__ import annotations

from featloom.discover.discovery import Discovery
from featloom.discover.front import discover

__all__ = ["Discovery", "discover"]
