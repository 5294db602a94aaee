"""Method 2, tree templates: columns that matter together, read off decision trees."""

from featloom.methods.tree_templates.choice import TreeTemplatesCV
from featloom.methods.tree_templates.tree_templates import TreeTemplates

__all__ = ["TreeTemplates", "TreeTemplatesCV"]
