"""What the page says of a template search: its templates, its steps, and the models compared.

A template names places (a column and a distance from the token); all values found there become
features of a tagger.  A search adds templates step by step.  The paper's idea is to decide by a
cheap model (maximum entropy, a MEMM) what a CRF would gain; how well their orders agree is told
by Spearman's rank correlation.

F1 comes as a share and is printed in per cent.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from featloom.report import (
    FoundTemplate,
    TemplateAgreement,
    TemplateExperiment,
    TemplatePart,
    TemplateProxy,
)
from featloom.report import TemplateRace as Race
from featloom.report import TemplateStep as Step
from featloom.report.cells import (
    cell,
    column,
    decimals,
    number_cell,
    row,
    text_cell,
    without_empty_columns,
)
from featloom.shown import visible
from featloom.words import number, seconds

MODELS = {"maxent": "maximum entropy", "memm": "MEMM", "crf": "CRF"}
_PARTS = {"train": "training sentences", "valid": "validation sentences", "test": "test sentences"}


def summarize_templates(part: TemplatePart | None) -> dict[str, Any] | None:
    """What the template places; None where there is nothing to show."""
    if part is None:
        return None
    experiments = experiment_table(part.experiments)
    summary = {
        "facts": _facts(part),
        "templates": template_table(part.templates, part.gain_label),
        "templates_note": _templates_note(part),
        "steps": step_table(part.steps, part.gain_label),
        "steps_note": _steps_note(part),
        "n_steps": number(len(part.steps)),
        "race": _race_table(part.race),
        "stages": any(spent is not None for _, spent in stage_seconds(part)),
        "proxies": proxy_words(part.proxies),
        "agreement": _agreement_table(part.agreement),
        "experiments": experiments,
        "published": any(one.published is not None for one in part.experiments),
    }
    headings = {
        "templates": ("templates-found", "Templates"),
        "steps": ("templates-steps", "Search"),
        "race": ("templates-race", "Sizes"),
        "stages": ("templates-stages", "Time"),
        "proxies": ("templates-proxies", "Proxies"),
        "experiments": ("templates-experiments", "Experiments"),
    }
    contents = [place for key, place in headings.items() if summary[key]]
    return summary | {"contents": contents} if contents or summary["facts"] else None


def template_table(
    templates: Sequence[FoundTemplate], gain_label: str = "gain"
) -> dict[str, Any] | None:
    """The templates in the order found: their places, how many features, what each brought."""
    if not templates:
        return None
    gains = decimals([found.gain for found in templates])
    columns = [column("template"), column("features", number=True)]
    columns += [column("gain", number=True, note=gain_label)]
    rows = [
        row(
            _template_cell(found.text),
            number_cell(found.features),
            number_cell(found.gain, gains),
        )
        for found in templates
    ]
    return without_empty_columns(columns, rows)


def step_table(steps: Sequence[Step], gain_label: str = "gain") -> dict[str, Any] | None:
    """Every decision of the search, with what it was decided by."""
    if not steps:
        return None
    words = {True: "kept", False: "left out", None: None}
    gains = decimals([step.gain for step in steps])
    columns = [column("step", number=True), column("template"), column("decision")]
    columns += [column("gain", number=True, note=gain_label), column("F1 %", number=True)]
    columns += [column("seconds", number=True), column("reason")]
    rows = [
        row(
            number_cell(position),
            text_cell(step.template or None),
            text_cell(words[step.kept]),
            number_cell(step.gain, gains, signed=True),
            _f1_cell(step.f1),
            number_cell(step.cost_s, 2),
            text_cell(step.reason or None),
        )
        for position, step in enumerate(steps, start=1)
    ]
    return without_empty_columns(columns, rows)


def experiment_table(experiments: Sequence[TemplateExperiment]) -> dict[str, Any] | None:
    """The experiments of the paper's Table 2: models on sets of templates, F1 and times."""
    if not experiments:
        return None
    columns = [column("experiment", number=True), column("data"), column("model")]
    columns += [column("sets"), column("templates", number=True)]
    columns += [column("features", number=True), column("F1 %", number=True)]
    columns += [column("sd", number=True, note="over seeds"), column("training s", number=True)]
    columns += [column("tagging s", number=True), column("total s", number=True)]
    columns += [column("paper F1 %", number=True)]
    rows = [
        row(
            text_cell(str(one.id) or None),
            text_cell(one.data or None),
            text_cell(spoken_model(one.model) or None),
            text_cell(", ".join(map(str, one.sets)) or None),
            text_cell(str(one.templates) or None),
            number_cell(one.features),
            _f1_cell(one.f1),
            _f1_cell(one.sd),
            number_cell(one.train_s, 2),
            number_cell(one.tag_s, 2),
            number_cell(total_seconds(one), 2),
            number_cell(one.published, 2),
        )
        for one in experiments
    ]
    return without_empty_columns(columns, rows)


def rank_correlation(first: Sequence[float], second: Sequence[float]) -> float | None:
    """Spearman's ρ: the correlation of the ranks; None where one side has no order.

    >>> rank_correlation([1, 2, 3], [10, 20, 40]), rank_correlation([1, 2], [5, 5])
    (1.0, None)
    """
    ranks = [_ranks(values) for values in (first, second)]
    middle = (len(first) - 1) / 2
    away = [[rank - middle for rank in line] for line in ranks]
    spread = [sum(one * one for one in line) for line in away]
    if not all(spread):
        return None
    both = sum(a * b for a, b in zip(*away, strict=True))
    return round(both / (spread[0] * spread[1]) ** 0.5, 12)


def proxy_pairs(proxies: Sequence[TemplateProxy], model: str) -> list[tuple[str, float, float]]:
    """Template, its worth by a cheap model and by the CRF, where both are known."""
    values = [(one.template, getattr(one, model), one.crf) for one in proxies]
    return [(name, by, crf) for name, by, crf in values if by is not None and crf is not None]


def proxy_words(proxies: Sequence[TemplateProxy]) -> str:
    """How well the order of each cheap model agrees with that of the CRF; empty without pairs.

    >>> proxy_words([TemplateProxy(maxent=0.1, crf=0.2), TemplateProxy(maxent=0.3, crf=0.4)])
    'Rank correlation with the CRF: maximum entropy 1.00 (2 templates).'
    """
    said = []
    for data in dict.fromkeys(one.data for one in proxies):
        of_data = [one for one in proxies if one.data == data]
        for model in ("maxent", "memm"):
            pairs = proxy_pairs(of_data, model)
            if len(pairs) > 1:
                found = rank_correlation([pair[1] for pair in pairs], [pair[2] for pair in pairs])
                where = f"{visible(data)}, " if data else ""
                count = f"{number(len(pairs))} templates"
                said.append(f"{where}{MODELS[model]} {number(found, 2)} ({count})")
    return f"Rank correlation with the CRF: {'; '.join(said)}." if said else ""


def stage_seconds(part: TemplatePart) -> list[tuple[str, float | None]]:
    """The stages by name, with the data set before it where there are several."""
    if isinstance(part.stages, dict):
        return list(part.stages.items())
    several = len({stage.data for stage in part.stages}) > 1
    return [
        (f"{stage.data}: {stage.name}" if several else stage.name, stage.seconds)
        for stage in part.stages
    ]


def spoken_model(name: str) -> str:
    """A model as people call it.

    >>> spoken_model("maxent"), spoken_model("ours")
    ('maximum entropy', 'ours')
    """
    return MODELS.get(name.lower(), visible(name))


def total_seconds(experiment: TemplateExperiment) -> float | None:
    """Training and tagging together, where both are known."""
    if experiment.train_s is None or experiment.tag_s is None:
        return None
    return experiment.train_s + experiment.tag_s


def _facts(part: TemplatePart) -> list[tuple[str, str]]:
    facts = []
    for name, size in part.sizes.items():
        if isinstance(size, int):
            facts.append((_PARTS.get(name, name), number(size)))
        else:
            facts += [(f"{name}: {_PARTS.get(p, p)}", number(n)) for p, n in size.items()]
    if part.templates:
        facts.append(("templates", number(len(part.templates))))
        if all(found.features is not None for found in part.templates):
            n_features = sum(found.features or 0 for found in part.templates)
            facts.append(("features of templates", number(n_features)))
    spent = [one for _, one in stage_seconds(part) if one is not None]
    if spent:
        facts.append(("in all", seconds(sum(spent))))
    return [(visible(label), value) for label, value in facts]


def _templates_note(part: TemplatePart) -> str:
    gains = [found.gain for found in part.templates]
    if all(gain is None for gain in gains):
        return ""
    missing = "; without it: there from the start, or added with others" if None in gains else ""
    return f"Gain: {visible(part.gain_label)}, when the template was added{missing}."


def _steps_note(part: TemplatePart) -> str:
    kept = sum(step.kept is True for step in part.steps)
    by = f"Strategy: {visible(part.strategy)}. " if part.strategy else ""
    return f"{by}{number(kept)} of {number(len(part.steps))} steps were kept."


def _race_table(race: Sequence[Race]) -> dict[str, Any] | None:
    if not race:
        return None
    columns = [column("templates", number=True), column("F1 %", number=True), column("decision")]
    rows = [
        row(
            number_cell(one.templates),
            _f1_cell(one.f1),
            text_cell("taken" if one.kept else None),
        )
        for one in race
    ]
    return without_empty_columns(columns, rows)


def _agreement_table(agreement: Sequence[TemplateAgreement]) -> dict[str, Any] | None:
    if not agreement:
        return None
    columns = [column("judged by"), column("data")]
    columns += [column("rank correlation", number=True, note="Spearman's, with the CRF")]
    columns += [column("CPU s a template", number=True)]
    costs = decimals([one.cpu_s for one in agreement])
    rows = [
        row(
            text_cell(one.title or None),
            text_cell(one.data or None),
            number_cell(one.spearman, 2),
            number_cell(one.cpu_s, min(costs, 4)),
        )
        for one in agreement
    ]
    return without_empty_columns(columns, rows)


def _template_cell(text: str) -> dict[str, Any]:
    parts = [(visible(part), "", "") for part in text.split(" & ")]
    return cell(visible(text)) | {"parts": parts}


def _f1_cell(share: float | None) -> dict[str, Any]:
    return number_cell(None if share is None else 100 * share, 2)


def _ranks(values: Sequence[float]) -> list[float]:
    """Ranks from 0; equals share the mean of theirs."""
    return [
        sum(other < value for other in values) + (sum(other == value for other in values) - 1) / 2
        for value in values
    ]
