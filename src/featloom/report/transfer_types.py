"""What a result says of relevance carried between tasks: the types of its part ``transfer``.

Every field may be missing; the page then leaves out what depends on it.  Shares lie between 0 and
1, published figures are in per cent, as papers print them.
"""

from __future__ import annotations

import msgspec


class TransferFamily(msgspec.Struct):
    """A family of features: how likely one of them is to be relevant, and what that rests on.

    Over all tasks, features of the family were ``candidates`` so often, and ``selected`` so often.
    """

    name: str = ""
    features: int | None = None
    rate: float | None = None
    selected: int | None = None
    candidates: int | None = None


class TransferMethod(msgspec.Struct):
    """A method on all tasks; ``value`` and ``interval`` are shares of right answers.

    ``kind`` is "ours", "paper", "baseline" or "control".  ``t`` and ``p`` are those of the paired
    test over tasks against the method that ``against`` names.  ``features`` is the mean of a task.
    """

    name: str = ""
    kind: str = ""
    setting: str = ""
    protocol: str = ""
    value: float | None = None
    interval: tuple[float | None, float | None] | None = None
    against: str = ""
    t: float | None = None
    p: float | None = None
    published: float | None = None
    features: float | None = None
    seconds: float | None = None


class CurvePoint(msgspec.Struct):
    """What a method reaches where each task has so many rows; None: all that there are."""

    method: str = ""
    rows: int | None = None
    value: float | None = None
    interval: tuple[float | None, float | None] | None = None


class TransferTask(msgspec.Struct):
    """One task, and the shares of right answers with and without help."""

    name: str = ""
    rows: int | None = None
    test_rows: int | None = None
    classes: int | None = None
    alone: float | None = None
    helped: float | None = None


class TaskCluster(msgspec.Struct):
    """Tasks, or classes of tasks, that are alike, and the features that they share."""

    name: str = ""
    members: list[str] = []
    features: list[str] = []


class VouchedFeature(msgspec.Struct):
    """A feature chosen for a class: bits saved, its cost without and with what others found.

    ``vouchers`` are the other tasks that chose it.
    """

    name: str = ""
    label: str | None = msgspec.field(default=None, name="class")
    saved: float | None = None
    cost_before: float | None = None
    cost_after: float | None = None
    vouchers: list[str] = []


class ChosenPart(msgspec.Struct):
    """What one task chose."""

    task: str = ""
    features: list[VouchedFeature] = []


class TransferPart(msgspec.Struct):
    """Relevance of features, learned from many tasks and handed to each.

    ``per_task`` lists the tasks by themselves.
    """

    tasks: int | None = None
    rows: int | None = None
    features: int | None = None
    families: list[TransferFamily] = []
    methods: list[TransferMethod] = []
    curve: list[CurvePoint] = []
    per_task: list[TransferTask] = []
    clusters: list[TaskCluster] = []
    chosen: ChosenPart | None = None
