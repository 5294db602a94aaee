"""Data sets made of other data: letters and their sounds, names and the places they mean."""
