"""The cache of compiled code, filled by several processes at once."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

from featloom import kernels
from featloom.kernels.compiled import SharedCacheFile
from featloom.kernels.sequence import sentence_step

FILL = """
import sys
from featloom.kernels.compiled import SharedCacheFile
folder, who = sys.argv[1:]
print("ready", flush=True)
sys.stdin.readline()
for n in range(300):
    SharedCacheFile(folder, f"f{n}", "stamp").save((who, n), f"code for {who} {n}")
"""


def test_code_is_never_given_for_other_types_than_it_was_compiled_for(tmp_path):
    processes = [
        subprocess.Popen(
            [sys.executable, "-c", FILL, str(tmp_path), who],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
        )
        for who in "abc"
    ]  # fmt: skip
    for process in processes:
        assert process.stdout.readline() == "ready\n"
    for process in processes:
        process.stdin.write("go\n")
        process.stdin.flush()
    for process in processes:
        assert process.wait() == 0
    found = 0
    for n in range(300):
        cache = SharedCacheFile(str(tmp_path), f"f{n}", "stamp")
        for who in "abc":
            code = cache.load((who, n))
            assert code in (None, f"code for {who} {n}")  # None: its note was lost
            found += code is not None
    assert found >= 300


def test_kernels_have_that_cache():
    assert isinstance(sentence_step._cache._cache_file, SharedCacheFile)


def test_kernels_with_sums_in_any_order_are_inlined_where_others_call_them():
    trees = [ast.parse(path.read_text()) for path in Path(kernels.__file__).parent.glob("*.py")]
    functions = [node for tree in trees for node in tree.body if isinstance(node, ast.FunctionDef)]
    called = {
        node.func.id
        for function in functions
        for node in ast.walk(function)
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name)
    }
    options = {
        function.name: {word.arg for use in function.decorator_list for word in use.keywords}
        for function in functions
        if function.decorator_list and isinstance(function.decorator_list[0], ast.Call)
    }
    loose = {name for name, given in options.items() if "fastmath" in given and name in called}
    assert len(loose) >= 6
    assert [name for name in sorted(loose) if "forceinline" not in options[name]] == []
