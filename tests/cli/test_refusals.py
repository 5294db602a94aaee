"""What every command says when it cannot do what was asked: one line, the right exit code, and
nothing left behind.  A command needs a line in TYPED, and what it refuses in the tables below."""

from __future__ import annotations

import os
import random
import re
import shlex
from pathlib import Path

import polars as pl
import pytest

from tests.cli.data import clauses, column_text, treebank

HEADER = "area,plan,escalated\n"
ROWS = "login,free,yes\nexport,team,no\nlogin,team,no\nexport,free,yes\n" * 5
TABLE = HEADER + ROWS
AFTER = 2 + ROWS.count("\n")  # the line after header and rows
NUMBERS = [f"{k * 37 % 101}.{k:03}" for k in range(200)]


def shops(n: int, first: str = "s0") -> str:
    """Tasks of twelve rows each, the first row of which is of the task that is named."""
    draw = random.Random(3)
    names = [first, *(f"s{row // 12}" for row in range(1, 12 * n))]
    rows = (f"{name},{draw.choice('ab')},{draw.choice('xy')}\n" for name in names)
    return "site,area,hot\n" + "".join(rows)


def values(column) -> str:
    """Rows of two columns that tell nothing of a third."""
    draw = random.Random(3)
    rows = (f"{draw.choice('abc')},{draw.choice('xyz')},{value}\n" for value in column)
    return "area,plan,y\n" + "".join(rows)


DATA: dict[str, str] = {
    "sound.csv": TABLE,
    "shops.csv": shops(2),
    "chunks.conll": column_text(clauses(60)),
    "trees.conllu": treebank(5),
    "other.csv": "plan,escalated\n" + "free,yes\nteam,no\n" * 9,
    "two.conll": column_text([[(w, c) for w, _, c in s] for s in clauses(10)]),
    "letters.train": "c,a,K\nc,e,S\n" * 5,
    "rows.svm": "1 3:1 5:1\n0 2:1\n" * 5,
}
TYPED = {
    "induce": "induce sound.csv --target escalated",
    "memory": "memory sound.csv --target escalated",
    "grow": "grow sound.csv --target escalated",
    "grow trees": "grow trees.conllu",
    "select": "select chunks.conll",
    "induce blocks": "induce blocks --target escalated",
    "grow blocks": "grow blocks --target escalated",
    "transfer": "transfer shops.csv --task site --target hot",
    "discover": "discover sound.csv --target escalated --quiet",
}
ONE_CLASS = ": one class only in column 'escalated': 'no'; two are needed"
NO_CLASSES = "no classes; name the column that holds them by --target: "
WHOLE = "it must be a whole number, 1 or more"
SHARE = (
    "it must be a share above 0 and up to 1, a whole number, a threshold such as '>=3.8', or None"
)
BUDGET = "budget 'soon' is no time; it must be one such as 60, 90s, 10m or 2h"
TABLE_ONLY = "is for sentences with labels, and sound.csv is none"

# What is typed after TYPED, and what is said; "…" stands for more.
OPTIONS: dict[str, dict[str, str]] = {
    "induce": {
        "--keep 0": f"keep is 0; {SHARE}",
        "--keep 2.5": f"keep is 2.5; {SHARE}",
        "--keep nan": f"keep is nan; {SHARE}",
        "--keep few": f"keep is 'few'; {SHARE}",
        "--partners 5.0": f"partners is 5.0; {SHARE}",
        "--partners 0": f"partners is 0; {SHARE}",
        "--partners 99 --pairs ranked": "partners is 99, more than the 4 features kept",
        "--final-keep -1": f"final_keep is -1; {SHARE}",
        "--min-support 0": f"min_support is 0; {WHOLE}",
        "--min-support 1.5": f"min_support is 1.5; {WHOLE}",
        "--min-support all": f"min_support is 'all'; {WHOLE}",
        "--max-length 0": f"max_length is 0; {WHOLE}",
        "--score luck": "score is 'luck'; it can be 'mi', 'ig', 'information_gain', 'su', "
        "'fisher', 'chi2', 'gain_ratio', 'shared_variance' or 'residual'",
        "--aggregate mean": "aggregate is 'mean'; it can be 'sum', 'max' or 'global'",
        "--pairs some": "pairs is 'some'; it can be 'all' or 'ranked'",
        "--preset best": "preset is 'best'; it can be 'paper' or None",
        "--score fisher --alternative up": "alternative is 'up'; it can be 'two-sided', "
        "'greater' or 'less'",
        "--positive maybe": "no class 'maybe'; there are yes, no",
        "--domain site": "no column 'site' for --domain; there are area, plan",
        "--groups escalated": "column 'escalated' cannot be both target and groups",
        "--groups plan": "2 groups cannot be dealt into 5 folds",
        "--groups Plan": "…; did you mean 'plan'?",
        "--target Escalated": "…; did you mean 'escalated'?",
        "--on-bad-row fix": "on_bad_row is 'fix'; it must be 'raise' or 'skip'",
        "--memory 1GB": "--memory and --hash are for Parquet files…",
    },
    "memory": {
        "--strategy magic": "no strategy 'magic'; there are guided, local, genetic, forward…",
        "--over all": "over is 'all'; it can be 'together', 'features' or 'parameters'…",
        "--ks 1,two": "ks is '1,two'; whole numbers with commas are expected: 1,3,5",
        "--ks 0": "ks is (0,); it must be a list of different values, each of them a whole…",
        "--ks 3,3": "ks is (3, 3); it must be a list of different values…",
        "--vote loud": "vote is 'loud'; it can be 'count', 'inverse_distance'…",
        "--threshold 0": "mvdm_threshold is 0; it must be a whole number from 1…",
        "--compat weka": "compat is 'weka'; it can be timbl or none",
        "--budget soon": BUDGET,
        "--budget 0": "a budget must be positive…",
        "--trials 0": "trials is 0; it must be a whole number, 1 or more…",
        "--folds 1": "folds must be at least 2, not 1…",
        "--groups customer": "sound.csv: no column 'customer'; there are area, plan, escalated",
        "--target late": "sound.csv: no column 'late'; there are area, plan, escalated",
        "--target escaltaed": "…; did you mean 'escalated'?",
        "--test other.csv": "other.csv: no column 'area', which sound.csv has; there are plan",
        "--dask nowhere": "dask is 'nowhere'; it can be local:4 or tcp://host:port…",
        "--timbl sound.csv/x": "…sound.csv is a file…",
    },
    "grow": {
        "--target nope": "sound.csv: no column 'nope'; there are area, plan, escalated",
        "--target escalatd": "…; did you mean 'escalated'?",
        "--criterion best": "criterion is 'best'; it can be gain_ratio, information_gain…",
        "--prune x": "prune is 'x'; it can be error, gain, …",
        "--forest x": "forest is 'x'; it can be bagged, hard…",
        "--columns a,b": f"--columns {TABLE_ONLY}",
        "--dask local:2": "--dask is for data in blocks (a folder of Parquet files, or one with "
        "--memory), which sound.csv is not",
    },
    "grow trees": {
        "--target nope": "…no column 'nope'…",
        "--groups form": "--groups is for tables, and trees.conllu is none",
        "--test sound.csv": "sound.csv: no dependency trees in CoNLL-U's ten columns…",
    },
    "induce blocks": {
        "--memory much": "memory is 'much'; a size is written like 2GB or 500MB",
        "--hash 99": "features cannot be hashed into 99 bits…",
        "--groups plan": "…--groups is for data that is read whole…",
        "--search": "…a search of the grid needs its rows in memory…",
        "--dask two": "dask is 'two'; it can be local:4 or tcp://host:port…",
    },
    "grow blocks": {
        "--memory much": "memory is 'much'; a size is written like 2GB or 500MB",
        "--groups plan": "…--groups is for data that is read whole…",
        "--test other.csv": "…--test is for data that is read whole…",
        "--columns a,b": "…--columns is for data that is read whole…",
        "--forest hard --trees 2": "…hard rows needs its rows in memory…",
        "--dask two": "dask is 'two'; it can be local:4 or tcp://host:port…",
    },
    "select": {
        "--target lemma": "…lemma…",
        "--columns word,pos": "chunks.conll:1: 3 columns, 2 expected",
        "--columns word,,chunk": "columns is 'word,,chunk'; names with commas are expected: "
        "word,pos,chunk ('-' leaves one out)",
        "--columns word,pos,chunk --target lemma": "…no column 'lemma' for --target; there are "
        "word, pos, chunk",
        "--strategy random": "strategy is 'random'; it can be 'screened' or 'outward'…",
        "--proxy svm": "proxy is 'svm'; it can be 'maxent', 'memm', 'crf'…",
        "--budget soon": BUDGET,
        "--trials -1": "trials is -1; it must be a whole number, 1 or more…",
        "--max-templates 0": "max_templates is 0…",
        "--test nowhere.conll": "nowhere.conll: no such file",
        "--test two.conll": "…no column 'pos'…",
    },
    "transfer": {
        "--task town": "shops.csv: no column 'town'; there are site, area…",
        "--task Site": "…; did you mean 'site'?",
        "--task hot": "--task and --target are both 'hot'…",
    },
    "discover": {
        "--budget soon": BUDGET,
        "--budget 5d": "budget '5d' is no time…",
        "--budget 0s": "a budget must be positive, not 0.0…",
        "--drop inducton": "no contender 'inducton'; there are class shares, …",
        "--only magic": "no contender 'magic'; there are class shares, naive Bayes, …",
        "--kind forest": "kind is 'forest'; it can be table, sequence, trees, tasks…",
        "--kind sequence": "the data are no sentences, which kind 'sequence' needs",
        "--kind trees": "the data are no sentences, which kind 'trees' needs",
        "--kind tasks": "the task of a row is not known; name the column that tells it by --task",
        "--task escalated": "--task and --target are both 'escalated'; they are two columns",
        "--task PLAN": "…; did you mean 'plan'?",
        "--positive maybe": "no class 'maybe'; there are yes, no",
        "--groups escalated": "column 'escalated' cannot be both target and groups",
        "--groups plan": "2 groups cannot be dealt into 5 folds…",
        "--groups plna": "…; did you mean 'plan'?",
        "--bins 4": "'escalated' holds 'yes', and ranges are made of numbers",
        "--bins 1": "bins is 1; two ranges are the fewest that can be told apart",
        "--sample 0": "sample is 0; a share must lie in (0, 1]",
        "--sample 2": "sample is 2; a share must lie in (0, 1]",
        "--on-bad-row fix": "on_bad_row is 'fix'; it must be 'raise' or 'skip'",
        "--judge-by luck": "judge_by is 'luck'; it can be log-loss, AUC, Brier score, accuracy, "
        "F1…",
        "--class-weight fair": "class_weight is 'fair'; it can be None or 'balanced'",
        "--test other.csv": "no column 'area'; there are plan",
    },
}  # fmt: skip

# What is typed, with or without data, and what is said.
ALONE = {
    "demo --budget soon": BUDGET,
    "reproduce memory --trials 0": "trials is 0; it must be a whole number, 1 or more…",
    "reproduce memory --budget 200": "…for 200 evaluations say --trials…",
    "reproduce alchemy": "no experiment 'alchemy'; there are induction, trees, templates, memory, "
    "transfer",
    "discover gone.csv --budget soon": BUDGET,
    "select gone.conll --trials -1": "trials is -1; it must be a whole number, 1 or more…",
    "induce gone.csv -t escalated": "gone.csv: no such file",
    "induce ticketz": "ticketz: no such file, and no corpus of that name; 'featloom corpora' lists "
    "them",
    "induce .": ".: this is a folder without X.npz; name a file in it",
    "grow gone.csv": "gone.csv: no such file",
    "induce blocks": "…name a column by --target…",
    f"induce {'x' * 300}": "…",
    "grow gone": "…no such file, and no corpus of that name…",
    "induce sound.csv": f"sound.csv: {NO_CLASSES}area, plan, escalated",
    "memory sound.csv": f"sound.csv: {NO_CLASSES}area, plan, escalated",
    "grow sound.csv": f"sound.csv: {NO_CLASSES}area, plan, escalated",
    "discover sound.csv": f"{NO_CLASSES}area, plan, escalated",
    "transfer shops.csv --task site": f"…{NO_CLASSES}…",
    "transfer shops.csv --target hot": "…name the column that tells it by --task…",
    "induce rows.svm --target class": "rows.svm is read as an SVMlight file, for which there is "
    "no 'target'; leave it out",
    "memory rows.svm": "rows.svm: a sparse matrix; memory-based learning compares the columns of a "
    "table",
    "grow rows.svm": "rows.svm: a sparse matrix; trees are grown on the columns…",
}  # fmt: skip
# The same of corpora, which have parts and classes of their own.
CORPORA = {
    "induce dimin --target f3": "--target is for files, and 'dimin' is a corpus; to choose, name "
    "one of its files in …dimin",
    "induce geonames": "corpus 'geonames' is no data set by itself",
    "memory ppattach --folds 5": "…--folds is for data without a validation part; corpus "
    "'ppattach' has one…",
    "memory dimin --test letters.train": "--test is for files, and 'dimin' is a corpus",
    "select conll2000 --test chunks.conll": "--test is for files, and 'conll2000' is a corpus",
    "select ppattach": "corpus 'ppattach' has no sentences, and templates are for sentences",
}

# What a command is typed for a file that holds something, and what is said after its name.
FILES: dict[str, tuple[str, str | bytes, str]] = {
    "empty": ("induce discover", b"", ": the file is empty"),
    "blank lines": ("induce", b"\n\n\n", ": no rows"),
    "header only": ("induce discover", HEADER, ": no rows"),
    "ragged": ("induce memory", TABLE + "login,free\n" + ROWS, f":{AFTER}: 2 columns, 3 expected"),
    "too wide": ("memory", TABLE + "login,free,no,no\n", f":{AFTER}: 4 columns, 3 expected"),
    "open quote": (
        "induce", f'{TABLE}"login,free,yes\n{ROWS}',
        f":{AFTER}: a quoted cell opens in this row and does not close",
    ),
    "latin-1": (
        "induce", TABLE.encode() + b"caf\xe9,free,yes\n", f":{AFTER}:4: byte 0xe9 is not UTF-8",
    ),
    "utf-16": (
        "induce", TABLE.encode("utf-16"), ":1:1: this is UTF-16 text; save it as UTF-8",
    ),
    "NUL": (
        "induce", TABLE + "lo\0gin,free,yes\n", f":{AFTER}:3: NUL byte; this is not a text file",
    ),
    "a line that fills the memory": (
        "induce", TABLE + "x" * (17 * 2**20), f":{AFTER}: line longer than 16 MiB",
    ),
    "other columns": (
        "induce", TABLE.replace("escalated", "late"),
        ": no column 'escalated'; there are area, plan, late",
    ),
    "target alone": ("induce", "escalated\nyes\nno\nyes\n", ": no columns beside the target"),
    "one class": ("induce memory discover", HEADER + "login,free,no\n" * 9, ONE_CLASS),
    "one row": ("discover", HEADER + "login,free,no\n", ONE_CLASS),
    "two columns of one name": (
        "induce discover", TABLE.replace("plan", "area"),
        ":1:2: column 'area' appears twice (is the first line a header?)",
    ),
    "a class a row": (
        "induce", HEADER + "".join(f"login,free,ticket{k}\n" for k in range(9)),
        ": every row has a class of its own in column 'escalated'; it is not a target",
    ),
    "too few rows": (
        "grow", HEADER + "login,free,yes\nx,y,no\nx,y,yes\n", ": 3 rows, too few to hold some out…",
    ),
}  # fmt: skip

# The same, of files that have a form of their own, and what is typed for them.
OTHER_FORMS: dict[str, tuple[str, str, str]] = {
    "feature of no flag": (
        "induce rows.svm", "+1 1:1\n-1 2:0.5\n",
        "rows.svm:2:4: feature 2 has the value 0.5; features must be binary (0 or 1)",
    ),
    "negative feature": (
        "induce rows.svm", "+1 1:1\n-1 2:-1\n",
        "rows.svm:2:4: feature 2 has the value -1; features must be binary (0 or 1)",
    ),
    "feature of words": (
        "induce rows.svm", "+1 1:1\n-1 2:x\n",
        "rows.svm:2:4: the value of feature 2 is 'x', no number",
    ),
    "no feature": (
        "induce rows.svm", "+1 1:1\n-1 two\n", "rows.svm:2:4: 'two' is not feature:value",
    ),
    "no class": (
        "induce rows.svm", "+1 1:1\n2:1\n", "rows.svm:2:1: no class before the features",
    ),
    "ragged sentence": (
        "select new.conll", "the DT B-NP\ncat NN\n\nit PRP B-NP\n",
        "…new.conll:2: 2 columns, 3 expected",
    ),
    "no blank lines": (
        "select new.conll", column_text(clauses(30)).replace("\n\n", "\n"),
        "…tokens; a blank line is expected after each sentence…",
    ),
    "one label": (
        "select new.conll", column_text([[(w, p, "O") for w, p, _ in s] for s in clauses(20)]),
        "…: one class only in column 'label': 'O'; two are needed",
    ),
    "no sentence": ("select new.conll", "", "…: the file is empty"),
    "few sentences": (
        "select new.conll", column_text(clauses(8)), "…7 sentences are too few to search on…",
    ),
    "a head that is none": (
        "grow new.conllu", re.sub(r"\t\d+\t", "\t_\t", treebank(2)),
        "new.conllu:1:7: head '_' is not a number",
    ),
    "one tree": (
        "grow new.conllu", treebank(1), "new.conllu: one sentence; at least two are needed…",
    ),
    "a row without a task": (
        "transfer new.csv --task site --target hot", shops(2, first=""),
        "…new.csv: row 1 has no site…",
    ),
    "a single task": (
        "transfer new.csv --task site --target hot", shops(1),
        "…one task; there is nothing to carry over…",
    ),
    "two rows": (
        "discover new.csv --target escalated", HEADER + "login,free,yes\nexport,team,no\n",
        "'escalated' holds 2 different values in 2 rows; a class must have several rows to be "
        "learned from",
    ),
    "a number a row": (
        "discover new.csv --target y", values(NUMBERS),
        "new.csv: every row has a number of its own in column 'y'; only classes can be predicted, "
        "and 'featloom discover --bins 4' makes four ranges of it",
    ),
    "numbers with fractions": (
        "discover new.csv --target y", values(f"{k % 40}.5" for k in range(200)),
        "'y' holds 40 different numbers in 200 rows; only classes can be predicted, and --bins 4 "
        "(bins=4 in Python) makes four ranges of it",
    ),
    "a thousand whole numbers": (
        "discover new.csv --target y", values(k % 1000 for k in range(3000)),
        "'y' holds 1,000 different numbers in 3,000 rows; only classes can be predicted, and "
        "--bins 4 (bins=4 in Python) makes four ranges of it",
    ),
    "a class for every row and a half": (
        "discover new.csv --target y", values(f"c{k % 10_000}" for k in range(15_000)),
        "'y' holds 10,000 different values in 15,000 rows; a class must have several rows to be "
        "learned from",
    ),
    "nothing but an id": (
        "discover new.csv --target y",
        "id,y\n" + "".join(f"r{k},{'ab'[k % 2]}\n" for k in range(90)),
        "no column is left to predict from: column 'id' has 90 different values in 90 rows, as "
        "an id has, and is left out",
    ),
}  # fmt: skip

# Wrong usage, which the help of a command would prevent.
USAGE = {
    "induce sound.csv --loud": "No such option: --loud",
    "induce sound.csv --max-length two": "--max-length",
    "induce sound.csv --seed -1": "--seed",
    "induce sound.csv --seed 4294967296": "--seed",
    "induce sound.csv --jobs 0": "0 threads do no work",
    "induce": "DATA",
    "weave": "weave",
}


@pytest.fixture
def refused(featloom, tmp_path, monkeypatch):
    """Type a command in a folder with data, which has to stay as it is; what is said."""
    monkeypatch.chdir(tmp_path)

    def type_refused(words: str) -> str:
        typed = shlex.split(words)
        for name in DATA.keys() & set(typed):
            if not Path(name).exists():
                Path(name).write_text(DATA[name])
        if "blocks" in typed:
            Path("blocks").mkdir()
            columns = zip(*(line.split(",") for line in ROWS.splitlines()), strict=True)
            frame = pl.DataFrame(dict(zip(HEADER.strip().split(","), columns, strict=True)))
            frame.write_parquet("blocks/0.parquet")
        before = sorted(os.listdir())
        answer = featloom(*typed, "--out", Path("runs", "run"))
        assert (answer.code, answer.out) == (1, "")
        *warnings, said = answer.err.splitlines()
        assert all(line.startswith("featloom: warning: ") for line in warnings)
        assert sorted(os.listdir()) == before
        return said

    return type_refused


def agree(said: str, expected: str) -> bool:
    """Whether it is what is expected, where "…" stands for anything."""
    pattern = ".*".join(map(re.escape, expected.split("…")))
    return re.fullmatch(f"featloom: {pattern}", said) is not None


MEANINGLESS = {
    f"{TYPED[of]} {typed}": said for of, table in OPTIONS.items() for typed, said in table.items()
} | ALONE


@pytest.mark.parametrize("words", MEANINGLESS)
def test_what_means_nothing_is_named_in_one_line(refused, words):
    said = refused(words)
    assert agree(said, MEANINGLESS[words]), said


@pytest.mark.parametrize("words", CORPORA)
def test_a_corpus_has_its_own_parts_and_classes(refused, data_folder, words):
    said = refused(words)
    assert agree(said, CORPORA[words]), said


@pytest.mark.parametrize(
    ("command", "fault"),
    [(command, fault) for fault in FILES for command in FILES[fault][0].split()],
)
def test_a_table_that_cannot_be_used_is_named_in_one_line(refused, command, fault):
    _, content, expected = FILES[fault]
    Path("sound.csv").write_bytes(content if isinstance(content, bytes) else content.encode())
    said = refused(TYPED[command])
    assert agree(said, f"sound.csv{expected}"), said


@pytest.mark.parametrize("fault", OTHER_FORMS)
def test_other_data_that_cannot_be_used_are_named_in_one_line(refused, fault):
    words, content, expected = OTHER_FORMS[fault]
    Path(words.split()[1]).write_text(content)
    said = refused(words)
    assert agree(said, expected), said


@pytest.mark.parametrize("typed", USAGE)
def test_wrong_usage_exits_with_2(featloom, tmp_path, monkeypatch, typed):
    monkeypatch.chdir(tmp_path)
    Path("sound.csv").write_text(TABLE)
    answer = featloom(*typed.split())
    assert (answer.code, answer.out) == (2, "")
    told = re.sub("\x1b\\[[0-9;]*m", "", answer.err)  # some machines ask for colours
    assert USAGE[typed] in told
    assert "--help" in told
