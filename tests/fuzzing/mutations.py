"""Small damage to files: bytes changed at random, and values of JSON changed at random."""

from __future__ import annotations

import json
from copy import deepcopy
from random import Random
from typing import Any

# Pieces that readers treat in a way of their own.
TELLING = (
    b"\n", b"\r\n", b"\r", b"\t", b",", b" ", b"=", b":", b"/", b"_", b"-1", b"0", b"1e400", b"NaN",
    b"nan", b"99999999999999999999", b'"', b'""', b"'", b"#", b"\x00", b"\xff\xfe", b"\xef\xbb\xbf",
    b"\xe2\x80\xae", b"\xf0\x9f\x98\x80", b"<script>alert(1)</script>", b"%x[0,0]", b"%x[-1,9]",
    b"U00:", b"B", b"1-2", b"1.1", b"\n\n", b"{", b"}", b"[", b"]", b"null", b"\\", b"PK\x03\x04",
    b"PAR1", b"\x93NUMPY", b"SQLite format 3\x00",
)  # fmt: skip
ODD_VALUES: tuple[Any, ...] = (
    None, True, False, 0, -1, 1, 2**31, 2**63, -(2**63), 10**30, 0.5, 1e308, -1e-308, "", "x", "0",
    "<script>alert(1)</script>", "\u202egnp.exe", "a" * 600, "\x00", [], {}, [None], [[1]],
    {"a": {"b": 1}}, "../../etc/passwd", "nan",
)  # fmt: skip


def damaged(content: bytes, random: Random, others: tuple[bytes, ...] = ()) -> bytes:
    """The bytes after one to six changes."""
    found = bytearray(content)
    for _ in range(random.choice((1, 1, 1, 2, 3, 6))):
        at = random.randrange(len(found) + 1)
        end = min(len(found), at + random.choice((1, 1, 2, 4, 16, 200)))
        what = random.randrange(8)
        if what == 0 and at < len(found):
            found[at] ^= 1 << random.randrange(8)
        elif what == 1:
            found[at:end] = b""
        elif what == 2:
            found[at:at] = random.choice(TELLING)
        elif what == 3:
            found[at:end] = random.choice(TELLING)
        elif what == 4:
            found[at:at] = bytes(found[at:end]) * random.choice((1, 2, 50))
        elif what == 5:
            found[at:] = b""
        elif what == 6:
            found[at:end] = random.randbytes(end - at)
        elif others:
            other = random.choice(others)
            begin = random.randrange(len(other) + 1)
            found[at:end] = other[begin : begin + random.choice((4, 40, 400))]
    return bytes(found[:200_000])


def damaged_json(text: bytes, random: Random) -> bytes:
    """JSON that is JSON still, with one to four of its values changed, moved or taken away."""
    root = [json.loads(text)]
    for _ in range(random.choice((1, 1, 2, 4))):
        places = list(_places(root))
        holder, key = random.choice(places)
        what = random.randrange(4)
        if what == 0 and isinstance(holder, dict):
            del holder[key]
        elif what == 1 and isinstance(holder, list) and holder is not root:
            holder.append(deepcopy(holder[key]))
        elif what == 2:
            other, name = random.choice(places)
            holder[key] = deepcopy(other[name])
        else:
            holder[key] = deepcopy(random.choice(ODD_VALUES))
    return json.dumps(root[0]).encode()


def _places(holder: Any):
    """Every value that something holds, at any depth, by its holder and its key."""
    keys = list(holder) if isinstance(holder, dict) else range(len(holder))
    for key in keys:
        yield holder, key
        if isinstance(holder[key], dict | list):
            yield from _places(holder[key])
