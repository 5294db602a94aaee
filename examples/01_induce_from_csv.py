"""Which two columns of a table decide together?

Writes a small table of support tickets in which tickets about export are escalated for enterprises
and tickets about login for everyone else.  Neither column shows this alone; the conjunctions of
their values do.
"""

from __future__ import annotations

import csv
import random
from pathlib import Path
from tempfile import TemporaryDirectory

from featloom import ConjunctionInducer, read_table


def write_tickets(path: Path, n_rows: int = 400) -> None:
    """Tickets whose area and plan decide together, with a tenth of noise."""
    draw = random.Random(1)
    with path.open("w", newline="") as stream:
        table = csv.writer(stream)
        table.writerow(["area", "plan", "channel", "language", "escalated"])
        for _ in range(n_rows):
            area = draw.choice(["billing", "login", "search", "export"])
            plan = draw.choice(["free", "team", "enterprise"])
            channel = draw.choice(["mail", "chat", "phone"])
            language = draw.choice(["en", "de", "fr", "pt"])
            hot = area == ("export" if plan == "enterprise" else "login")
            escalated = "yes" if hot != (draw.random() < 0.1) else "no"
            table.writerow([area, plan, channel, language, escalated])


def main() -> None:
    with TemporaryDirectory() as folder:
        path = Path(folder, "tickets.csv")
        write_tickets(path)
        table = read_table(path, target="escalated")
    inducer = ConjunctionInducer(final_keep=20).fit(table)
    print(f"{len(table)} rows; rows of {' and '.join(map(str, inducer.classes_))}")
    for induced in inducer.conjunctions_[:6]:
        print(f"{induced.name:32} {induced.support:4}  {induced.class_counts}")


if __name__ == "__main__":
    main()
