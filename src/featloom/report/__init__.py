"""The page of a run: see ``page.py``."""
