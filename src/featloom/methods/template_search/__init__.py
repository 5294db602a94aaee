"""Feature templates for taggers, searched: the paper's outward procedure, and screening."""

from featloom.methods.template_search.search import TemplateSearch

__all__ = ["TemplateSearch"]
