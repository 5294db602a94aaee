"""The three English corpora with named entities, each document with its domain.

Wikipedia articles (wikigold), tweets and comments (wnut17), and web text of five kinds
(uner_english_ewt: answers, e-mail, newsgroups, reviews, weblogs).  In wnut17, which marks no
documents, a sentence is one: it is a tweet or a comment by itself.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from featloom.data.corpora import corpus, locate_file
from featloom.data.readers.conll import IOB2_COLUMNS, read_conll
from featloom.data.table import NominalTable
from featloom.errors import InputError
from featloom.words import no_such

Domain = str | Callable[[str], str]

_DOMAINS: dict[str, Domain] = {
    "wikigold": "wikipedia",
    "wnut17": "social media",
    # Names of documents begin with their kind: weblog-juancole.com_…
    "uner_english_ewt": lambda document: document.partition("-")[0],
}


def entity_texts(names: Sequence[str] = tuple(_DOMAINS)) -> list[tuple[Domain, NominalTable]]:
    """Pairs of a domain and a text, as ``locations`` takes them.

    Each text has one column ``word``, tags of entities as labels, sentences as sequences and, where
    they are marked, documents as groups.
    """
    texts = []
    for name in names:
        if name not in _DOMAINS:
            raise InputError(no_such("entity text", name, _DOMAINS))
        for file in corpus(name).files:
            texts.append((_DOMAINS[name], read_entity_text(name, file.path)))
    return texts


def read_entity_text(name: str, file: str) -> NominalTable:
    """One file of a corpus with named entities."""
    path = locate_file(name, file)
    if name == "uner_english_ewt":
        return read_conll(path, columns=IOB2_COLUMNS, ragged=True)
    return read_conll(path)
