"""What is compiled is counted, thread by thread, and noted once it has been."""

from __future__ import annotations

import threading

import numba
import numpy as np
import pytest
from numba.core import config

from featloom.kernels import compiling
from featloom.kernels.compiling import compile_time, compiled_so_far, is_compiled, set_compiled


def fresh_kernel():
    """One that was never compiled, and has no cache."""

    @numba.njit
    def inner(values):
        return values.cumsum()[-1]

    @numba.njit
    def kernel(values):
        return inner(values) + 1

    return kernel


def test_what_a_block_compiles_is_counted_when_it_is_over():
    kernel = fresh_kernel()
    before, _ = compiled_so_far()
    with compile_time() as compiled:
        assert compiled.seconds == 0
        assert kernel(np.arange(4.0)) == 7
    after, is_compiling = compiled_so_far()
    assert compiled.seconds > 0
    assert compiled.cpu > 0
    # Kernels within kernels are part of what asked for them: no second is counted twice.
    assert after - before == pytest.approx(compiled.seconds)
    assert not is_compiling


def test_a_kernel_that_is_compiled_costs_nothing_the_next_time():
    kernel = fresh_kernel()
    kernel(np.arange(4.0))
    with compile_time() as compiled:
        kernel(np.arange(5.0))
    assert (compiled.seconds, compiled.cpu) == (0.0, 0.0)


def test_what_fails_to_compile_is_counted_and_over():
    @numba.njit
    def wrong(values):
        return values.no_such_thing()

    with pytest.raises(numba.TypingError), compile_time() as compiled:
        wrong(np.arange(4.0))
    assert compiled.seconds > 0
    assert compiled_so_far()[1] is False


def test_threads_are_counted_apart():
    found = {}

    def compile_there():
        with compile_time() as compiled:
            fresh_kernel()(np.arange(4.0))
        found["seconds"] = compiled.seconds
        found["thread"] = threading.get_ident()
        found["so far"] = compiled_so_far()[0]

    with compile_time() as here:
        thread = threading.Thread(target=compile_there)
        thread.start()
        thread.join()
    assert here.seconds == 0
    assert found["seconds"] > 0
    assert compiled_so_far(found["thread"])[0] == found["so far"]


def test_blocks_may_lie_within_one_another():
    with compile_time() as outer:
        fresh_kernel()(np.arange(4.0))
        with compile_time() as inner:
            fresh_kernel()(np.arange(4))
    assert outer.seconds > inner.seconds > 0


def test_what_was_noted_as_compiled_is_known_until_a_kernel_changes(tmp_path, monkeypatch):
    monkeypatch.setattr(config, "CACHE_DIR", str(tmp_path))
    assert not is_compiled("table")
    set_compiled("table")
    assert is_compiled("table")
    assert not is_compiled("trees")
    (mark,) = tmp_path.iterdir()
    assert mark.name.startswith("compiled-table-")
    # Kernels that lie elsewhere, or are newer, are others.
    kernels = tmp_path / "kernels"
    kernels.mkdir()
    (kernels / "compiling.py").write_text("")
    monkeypatch.setattr(compiling, "__file__", str(kernels / "compiling.py"))
    assert not is_compiled("table")


def test_where_nothing_can_be_written_nothing_is_noted_and_nothing_fails(tmp_path, monkeypatch):
    monkeypatch.setattr(config, "CACHE_DIR", str(tmp_path / "file" / "cache"))
    (tmp_path / "file").write_text("in the way")
    set_compiled("table")
    assert not is_compiled("table")
