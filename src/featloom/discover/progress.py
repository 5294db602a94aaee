"""What is seen while a comparison runs: a leaderboard that grows, the time used and the time left.

In a terminal it is a table that a clock redraws, in Jupyter an HTML table that is replaced in
place, elsewhere nothing: a log is not filled with lines that nobody asked for.  Scores are means of
the folds that are finished, of the setting that is best so far; the test part is not looked at.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping
from contextlib import ExitStack
from dataclasses import dataclass, field
from html import escape
from threading import Event, Lock, Thread
from time import monotonic
from typing import Any

from featloom.report.metric import Metric
from featloom.search import Budget, Evaluation
from featloom.shown import TableColumn, table_for, terminal, visible
from featloom.words import bare, percent, seconds

REDRAWN = 4  # times a second, in a terminal
NOTEBOOK_S = 1.0  # between two tables in a notebook
MOST_ROWS = 40
_FRAME = 5  # lines of a terminal that are no contenders
HEADS = {"name": "contender", "value": "folds", "auc": "AUC", "accuracy": "accuracy"}
HEADS |= {"folds": "done", "settings": "settings", "size_words": "size"}


@dataclass(frozen=True)
class LiveRow:
    """A contender as it stands: the mean of its folds so far, and what that rests on."""

    name: str
    value: float
    auc: float | None
    accuracy: float | None
    folds: int
    settings: int
    size_words: str


@dataclass
class _Tried:
    """Outcomes of one contender that learned from one amount of data, by setting and fold."""

    outcomes: dict[str, dict[int, Mapping[str, Any]]] = field(default_factory=dict)

    def row(self, name: str, metric: Metric) -> LiveRow:
        """The setting with the most folds, of these the best."""
        scores = {
            setting: [float(one["score"]) for one in folds.values()]
            for setting, folds in self.outcomes.items()
        }
        means = {setting: sum(found) / len(found) for setting, found in scores.items()}
        best = max(means, key=lambda one: (len(scores[one]), means[one]))
        found = list(self.outcomes[best].values())
        return LiveRow(
            name,
            -means[best] if metric.lower_is_better else means[best],
            _mean_of(found, "auc"),
            None if metric.name == "accuracy" else _mean_of(found, "accuracy"),
            len(found),
            len(means),
            found[-1].get("size_words") or "",
        )


class Progress:
    """The leaderboard so far, shown where someone looks at it; to be used as ``watch``.

    Parameters
    ----------
    metric : name of the metric; default "score".
    lower_is_better : whether it is a loss; scores of trials are then negated losses; default False.
    budget : time for all of it; default None, as long as it takes.
    n_folds : how many folds there will be; default None, not said.
    verbose : None: a table in a terminal or a notebook, elsewhere nothing; True: elsewhere a line
        for what is being done; False: nothing anywhere.  Default None.
    since : when the time began to count, by ``time.monotonic()``; default None, now.

    Examples
    --------
    >>> progress = Progress("log-loss", lower_is_better=True, verbose=False)
    >>> trial = {"outcomes": [{"setting": {"C": 1}, "score": -0.25, "size_words": "9 features"}]}
    >>> with progress as watch:
    ...     for fold in range(2):
    ...         watch.on_trial(Evaluation({"method": "linear", "fold": fold}, trial, 0.1, 0.1))
    >>> (row,) = progress.rows()
    >>> row.name, row.value, row.folds, row.settings, row.size_words
    ('linear', 0.25, 2, 1, '9 features')
    """

    # What a search tells of each trial comes by ``on_trial``.
    progress = None

    def __init__(
        self,
        metric: str = "score",
        *,
        lower_is_better: bool = False,
        budget: Budget | str | None = None,
        n_folds: int | None = None,
        verbose: bool | None = None,
        since: float | None = None,
    ):
        self.metric = Metric(metric, lower_is_better)
        self.seconds = Budget.of_time(budget).seconds
        self.n_folds = n_folds
        self.verbose = verbose
        self.begun = monotonic() if since is None else since
        self.doing = "comparing"
        self._uncounted = 0.0
        self._tried: dict[str, dict[float, _Tried]] = {}
        self._lock = Lock()
        self._open = ExitStack()
        self._prints_lines = False

    def __enter__(self) -> Progress:
        if self.verbose is False:
            return self
        if in_notebook():
            self._open.enter_context(_InNotebook(self))
        elif sys.stderr.isatty():
            from rich.live import Live

            console = terminal(stderr=True)
            self._open.enter_context(
                Live(
                    console=console,
                    get_renderable=lambda: self.table(console.width, console.height),
                    refresh_per_second=REDRAWN,
                    transient=True,
                )
            )
        else:
            self._prints_lines = bool(self.verbose)
        return self

    def __exit__(self, *_: object) -> None:
        self._open.close()

    def say(self, words: str) -> None:
        """Take note of what is being done."""
        with self._lock:
            self.doing = words
        if self._prints_lines:
            print(visible(self.time_words()), file=sys.stderr)

    def on_trial(self, one: Evaluation) -> None:
        """Take note of a trial; those on the test part and those that failed are passed over."""
        fold = one.candidate["fold"]
        if "fault" in one.result or not isinstance(fold, int):
            return
        units = one.candidate.get("units")
        with self._lock:
            amounts = self._tried.setdefault(one.candidate["method"], {})
            tried = amounts.setdefault(float("inf") if units is None else float(units), _Tried())
            for outcome in one.result.get("outcomes", ()):
                setting = json.dumps(outcome.get("setting"), sort_keys=True, default=str)
                tried.outcomes.setdefault(setting, {})[fold] = outcome

    def uncounted(self, seconds: float) -> None:
        """Leave so many seconds out of the time, such as those of compilation."""
        with self._lock:
            self._uncounted += seconds

    def rows(self) -> list[LiveRow]:
        """The contenders so far, best first, by the largest amount that each has learned from."""
        with self._lock:
            found = [
                amounts[max(amounts)].row(name, self.metric)
                for name, amounts in self._tried.items()
                if amounts[max(amounts)].outcomes
            ]
        sign = 1 if self.metric.lower_is_better else -1
        return sorted(found, key=lambda row: sign * row.value)

    def time_words(self) -> str:
        """What is being done, the time used and the time left."""
        with self._lock:
            spent = max(0.0, monotonic() - self.begun - self._uncounted)
            doing = self.doing
        if self.seconds is None:
            return f"{doing} · {seconds(spent, 0)}"
        left = max(0.0, self.seconds - spent)
        return f"{doing} · {seconds(spent, 0)} used, {seconds(left, 0)} left"

    def cells(self) -> tuple[list[str], list[list[str]]]:
        """Heads and rows of the table; columns that nothing is known for are left out."""
        table = [
            [
                row.name,
                self._score(row.value),
                "" if row.auc is None else bare(row.auc),
                "" if row.accuracy is None else percent(row.accuracy),
                f"{row.folds}" + (f"/{self.n_folds}" if self.n_folds else ""),
                f"{row.settings}",
                row.size_words,
            ]
            for row in self.rows()[:MOST_ROWS]
        ]
        heads = list(HEADS.values())
        heads[1] = self.metric.name if self.metric.lower_is_better else f"{self.metric.name} %"
        kept = [j for j in range(len(heads)) if j < 2 or any(line[j] for line in table)]
        return [heads[j] for j in kept], [[line[j] for j in kept] for line in table]

    def table(self, width: int, height: int = 50) -> Any:
        """The table for a terminal of so many columns and lines, with the time as it is now."""
        from rich.console import Group
        from rich.text import Text

        heads, lines = self.cells()
        below = Text(visible(f"{self.time_words()} · Ctrl-C ends it with what is finished"))
        if not lines:
            return below
        goes = dict(zip(HEADS.values(), (0, 0, 2, 3, 5, 4, 1), strict=True))
        columns = [
            TableColumn(head, is_number=j > 0, goes=goes.get(head, 0))
            for j, head in enumerate(heads)
        ]
        return Group(table_for(width, columns, lines[: max(1, height - _FRAME)]), below)

    def html(self) -> str:
        """The table for a notebook, with the time as it is now."""
        heads, lines = self.cells()
        head = "".join(f"<th>{escape(visible(text))}</th>" for text in heads)
        body = "".join(
            f"<tr>{''.join(f'<td>{escape(visible(text))}</td>' for text in line)}</tr>"
            for line in lines
        )
        table = f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"
        return f"{table if lines else ''}<p>{escape(visible(self.time_words()))}</p>"

    def _score(self, value: float) -> str:
        return bare(value, 4) if self.metric.lower_is_better else self.metric.text(value)


class _InNotebook:
    """An HTML table below the cell of a notebook, replaced by a clock and taken away at the end."""

    def __init__(self, progress: Progress):
        self.progress = progress
        self._ended = Event()
        self._clock = Thread(target=self._redraw, daemon=True)

    def __enter__(self) -> _InNotebook:
        from IPython.display import HTML, display

        self._html = HTML
        self._handle = display(HTML(self.progress.html()), display_id=True)
        self._clock.start()
        return self

    def _redraw(self) -> None:
        while not self._ended.wait(NOTEBOOK_S):
            self._handle.update(self._html(self.progress.html()))

    def __exit__(self, *_: object) -> None:
        self._ended.set()
        self._clock.join()
        self._handle.update(self._html(""))


def in_notebook() -> bool:
    """Whether the code runs in a kernel of Jupyter, whose page can show a table.

    >>> in_notebook()
    False
    """
    ipython = sys.modules.get("IPython")
    shell = None if ipython is None else ipython.get_ipython()
    return getattr(shell, "kernel", None) is not None


def _mean_of(outcomes: list[Mapping[str, Any]], name: str) -> float | None:
    """The mean of a metric over folds, where all of them have it."""
    found = [(one.get("details") or {}).get(name) for one in outcomes]
    known = [float(value) for value in found if value is not None]
    return sum(known) / len(known) if len(known) == len(found) else None
