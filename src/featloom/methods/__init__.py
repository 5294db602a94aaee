"""The five methods: what the house knows of each is its declaration."""

from __future__ import annotations

from featloom.method import Method
from featloom.methods.induction import contenders as induction
from featloom.methods.memory_search import contenders as memory
from featloom.methods.template_search import contenders as templates
from featloom.methods.transfer import contenders as transfer
from featloom.methods.tree_templates import contenders as trees

METHODS: tuple[Method, ...] = (
    induction.METHOD,
    trees.METHOD,
    templates.METHOD,
    memory.METHOD,
    transfer.METHOD,
)
