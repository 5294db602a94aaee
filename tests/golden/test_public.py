"""What users have written into their programs and scripts: names, parameters, options, defaults."""

from __future__ import annotations

import inspect
from types import ModuleType
from typing import Any

import typer

import featloom
from featloom.cli.main import COMMANDS, command_named
from tests.golden.meaning import Meaning

_NAMED = (inspect.Parameter.KEYWORD_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)


def test_public_names_and_options_are_what_they_were(golden_file):
    golden_file("public", public_names() | commands())


def public_names() -> Meaning:
    """Every name of the package, and every parameter with its default."""
    found: Meaning = {}
    for name in featloom.__all__:
        for place, parameter in enumerate(parameters_of(getattr(featloom, name))):
            found[f"{name} / {said_of(place, parameter)}"] = default_of(parameter.default)
        found.setdefault(name, "public")
    return found


def parameters_of(public: Any) -> list[inspect.Parameter]:
    """Of a class, a function, or a folder of the package that is called like one."""
    if isinstance(public, ModuleType):
        public = type(public).__call__
    return list(inspect.signature(public).parameters.values())


def said_of(place: int, parameter: inspect.Parameter) -> str:
    """The name of a parameter, with its place where it can be given by that."""
    if parameter.kind is inspect.Parameter.KEYWORD_ONLY:
        return parameter.name
    if parameter.kind in _NAMED:
        return f"{parameter.name} ({place + 1})"
    return str(parameter).partition(":")[0]


def default_of(value: Any) -> str:
    return "required" if value is inspect.Parameter.empty else repr(value)


def commands() -> Meaning:
    """Every command with its arguments and its options, and their defaults."""
    app = typer.Typer()
    for name in COMMANDS:
        app.command(name)(command_named(name))
    found: Meaning = {}
    for name, command in typer.main.get_command(app).commands.items():  # type: ignore[attr-defined]
        for one in command.params:
            words = [*one.opts, *one.secondary_opts]
            said = ", ".join(words) if one.param_type_name == "option" else one.name
            default = "required" if one.required else repr(one.default)
            found[f"featloom {name} / {said}"] = default
    return found
