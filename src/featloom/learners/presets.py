"""Parameters left at "auto": they take the value of a preset, or else the recommended one."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from sklearn.base import BaseEstimator

from featloom.errors import InputError


def settled(
    estimator: BaseEstimator,
    recommended: Mapping[str, Any],
    presets: Mapping[str, Mapping[str, Any]],
) -> dict[str, Any]:
    """Every parameter of an estimator that has ``preset``, with none left at "auto"."""
    settings = estimator.get_params(deep=False)
    preset = settings["preset"]
    if preset is not None and preset not in presets:
        raise InputError(f"preset is {preset!r}; it can be {', '.join(presets)} or None")
    for name, value in (recommended if preset is None else presets[preset]).items():
        if isinstance(settings[name], str) and settings[name] == "auto":
            settings[name] = value
    return settings
