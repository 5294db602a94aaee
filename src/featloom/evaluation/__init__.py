"""Honest numbers: folds, metrics, probabilities, chunks, paired tests, the choice of candidates."""

from __future__ import annotations

from featloom.evaluation.chunks import (
    chunk_counts,
    chunk_f1,
    chunk_report,
    chunk_type_counts,
    label_codes,
    token_counts,
)
from featloom.evaluation.folds import given_folds, make_folds, splits
from featloom.evaluation.metrics import (
    accuracy,
    accuracy_of_counts,
    class_counts,
    correct_counts,
    f1,
    f1_of_counts,
    log_loss,
    macro_f1,
    macro_f1_of_counts,
    per_class,
    positive_counts,
)
from featloom.evaluation.probabilities import (
    CalibrationBin,
    auc,
    best_threshold,
    brier_score,
    calibration_bins,
    confusion,
    expected_calibration_error,
    f1_at,
    row_briers,
    row_losses,
)
from featloom.evaluation.selection import one_standard_error
from featloom.evaluation.significance import (
    bootstrap_interval,
    holm,
    mcnemar,
    mcnemar_of_counts,
    paired_bootstrap,
    paired_t,
)

__all__ = [
    "CalibrationBin",
    "accuracy",
    "accuracy_of_counts",
    "auc",
    "best_threshold",
    "bootstrap_interval",
    "brier_score",
    "calibration_bins",
    "chunk_counts",
    "chunk_f1",
    "chunk_report",
    "chunk_type_counts",
    "class_counts",
    "confusion",
    "correct_counts",
    "expected_calibration_error",
    "f1",
    "f1_at",
    "f1_of_counts",
    "given_folds",
    "holm",
    "label_codes",
    "log_loss",
    "macro_f1",
    "macro_f1_of_counts",
    "make_folds",
    "mcnemar",
    "mcnemar_of_counts",
    "one_standard_error",
    "paired_bootstrap",
    "paired_t",
    "per_class",
    "positive_counts",
    "row_briers",
    "row_losses",
    "splits",
    "token_counts",
]
