"""A small model a shop: what forty shops found relevant helps the next one, which has ten mails.

Each shop sorts its mail by a rule of its own: one of its products is urgent, and so are mails from
one kind of sender.  Which product and which sender differs from shop to shop, so the answers of one
shop are of no use to another.  What they share is *where to look*: products and senders matter,
weekdays and the words of the text do not.  A shop with two dozen mails hardly finds that out alone.
Forty of them together do.  The mails are made up so that this holds; where shops have so few mails
that none can select anything, there is nothing to share (docs/transfer.md has such a case).

First all shops get a model, with and without what the others found relevant, and with the same
knowledge dealt out to the wrong features, which should not help.  Then shops come that nobody has
seen, with ten mails.  Last, the relevance is handed to a selection of features, as bits that each
feature costs.
"""

from __future__ import annotations

import random

from featloom import MDLSelector, MultiTask, NominalTable, RelevancePrior

PRODUCTS = ("lamp", "chair", "clock")
SENDERS = ("friend", "firm", "school")
DAYS = ("Mon", "Tue", "Wed", "Thu", "Fri")
WORDS = [f"word{j}" for j in range(30)]
COLUMNS = ("product", "sender", "day", *(f"text{j}" for j in range(8)))


def mails(n: int, shop: int, seed: int) -> list[tuple[list[str], str]]:
    """Mails of a shop: what the columns hold, and whether it is urgent."""
    rule = random.Random(f"rule {shop}")
    urgent = (rule.choice(PRODUCTS), rule.choice(SENDERS))
    draw = random.Random(f"mails {shop} {seed}")
    found = []
    for _ in range(n):
        product, sender, day = map(draw.choice, (PRODUCTS, SENDERS, DAYS))
        is_urgent = draw.random() < (0.95 if product == urgent[0] or sender == urgent[1] else 0.05)
        row = [product, sender, day, *draw.sample(WORDS, 8)]
        found.append((row, "urgent" if is_urgent else "later"))
    return found


def shops(numbers: range, n: int, seed: int) -> tuple[NominalTable, list[str], list[str]]:
    """Rows, answers and the shop of each row."""
    rows, answers, names = [], [], []
    for shop in numbers:
        for row, answer in mails(n, shop, seed):
            rows.append(row)
            answers.append(answer)
            names.append(f"shop {shop}")
    columns = {name: [row[j] for row in rows] for j, name in enumerate(COLUMNS)}
    return NominalTable.from_columns(columns), answers, names


def main() -> None:
    train, answers, names = shops(range(40), 24, seed=1)
    test, right, test_names = shops(range(40), 50, seed=2)
    ways = {
        "each shop alone": None,
        "with what the others found": RelevancePrior(rounds=2),
        "the same, shuffled": RelevancePrior(rounds=2, shuffle=0),
    }
    models = {}
    for name, prior in ways.items():
        models[name] = MultiTask(prior=prior).fit(train, answers, tasks=names)
        print(f"{name:<27} {models[name].score(test, right, tasks=test_names):.3f} right")

    helped, alone = models["with what the others found"], models["each shop alone"]
    prior = helped.prior_
    print("\nhow likely a feature is to matter:")
    for family, rate in list(prior.family_rates().items())[:4]:
        print(f"  {family:<8} {rate:.1%}")

    # A shop that comes later: ten mails each, thirty times over.
    scores = {"alone": 0.0, "helped": 0.0}
    for shop in range(100, 130):
        few, few_answers, _ = shops(range(shop, shop + 1), 10, seed=1)
        many, many_answers, many_names = shops(range(shop, shop + 1), 50, seed=2)
        for name, model in (("alone", alone), ("helped", helped)):
            model.adapt(f"shop {shop}", few, few_answers)
            scores[name] += model.score(many, many_answers, tasks=many_names) / 30
    print("\nnew shops with ten mails:", ", ".join(f"{k} {v:.3f}" for k, v in scores.items()))

    # Bits that features cost a stepwise selection: cheap where other shops chose them.
    costs = dict(zip(prior.feature_names_, prior.cost(), strict=True))
    few, few_answers, _ = shops(range(200, 201), 30, seed=1)
    print("\na new shop selects by these costs:")
    print(MDLSelector(cost=costs).fit(few, few_answers).features_)
    print("and with all features at the same cost:")
    print(MDLSelector().fit(few, few_answers).features_)


if __name__ == "__main__":
    main()
