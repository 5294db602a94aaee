"""Honest numbers: folds, metrics, probabilities, chunks, paired tests, the choice of candidates."""
