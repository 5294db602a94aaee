"""Memory-based learning with features, their metrics and the parameters searched together."""

from featloom.methods.memory_search.search import MemorySearch

__all__ = ["MemorySearch"]
