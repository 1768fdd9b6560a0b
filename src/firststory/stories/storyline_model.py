"""The arrays of the storylines: they grow when they are full; what they hold is saved as it is."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from firststory.arrays import Array, Ints, Slots
from firststory.kernels.stories.storyline_layout import (
    FREE_LINES,
    FREE_ROWS,
    FREE_STORIES,
    MAX_WORDS,
    N_GAPS,
    N_LINE_STORIES,
    N_ROW_TERMS,
    N_STORY_ROWS,
    NEXT_KEY,
    Lines,
    Model,
    RowSlots,
    StorySlots,
)
from firststory.kernels.stories.storyline_lines import terms_of
from firststory.kernels.stories.storyline_words import BLOCK, WordTable, forget_words
from firststory.state import State

MIN_SLOTS = 256


def new_model(dimensions: int) -> Model:
    """A model that has seen nothing and has no room."""

    def ints(*shape: int) -> Ints:
        return np.zeros(shape, dtype=np.int64)

    def slots(*shape: int) -> Slots:
        return np.zeros(shape, dtype=np.int32)

    def floats(*shape: int) -> Array:
        return np.zeros(shape)

    model = Model(
        lines=Lines(
            key=ints(0),
            size=floats(0),
            total=floats(0),
            pull=floats(0),
            unused=floats(0),
            slope=floats(0),
            last_number=ints(0),
            last_time=floats(0),
            checked=floats(0),
            founded=ints(0),
            due=ints(0),
            n_stories=slots(0),
            stories=slots(0, N_LINE_STORIES),
            vector=floats(0, dimensions),
            free=slots(0),
        ),
        words=WordTable(
            of_word=slots(0),
            line=slots(0),
            used=floats(0),
            filled=slots(0),
            following=slots(0),
            free=slots(0),
            n_free=ints(1),
            of_line=slots(0),
            word=slots(0),
            words_filled=slots(0),
            words_following=slots(0),
            words_free=slots(0),
            n_words_free=ints(1),
            seen=floats(0),
            total=floats(1),
        ),
        stories=StorySlots(
            key=ints(0),
            line=slots(0),
            size=ints(0),
            asked=ints(0),
            n_rows=slots(0),
            rows=slots(0, N_STORY_ROWS),
            free=slots(0),
        ),
        rows=RowSlots(
            number=ints(0),
            length=slots(0),
            columns=slots(0, N_ROW_TERMS),
            counts=floats(0, N_ROW_TERMS),
            total=floats(0),
            vector=np.zeros((0, dimensions), dtype=np.float32),
            free=slots(0),
        ),
        found=np.ones(N_GAPS),
        chance=np.ones(N_GAPS),
        weights=floats(N_GAPS),
        founding=np.full(1, 0.5),
        counters=ints(6),
        merged=ints(0, 4),
        **_scratch(0),
    )
    model.counters[NEXT_KEY] = 1
    return model


def _scratch(n_lines: int) -> dict[str, Any]:
    """What a text needs that looks for its line: nothing is in it before and after."""
    return {
        "gains": np.zeros(n_lines),
        "reached": np.zeros(n_lines + 1, dtype=np.int32),
        "places": np.zeros(max(n_lines + 1, MAX_WORDS), dtype=np.int32),
        "rarities": np.zeros(MAX_WORDS),
    }


# -- room ------------------------------------------------------------------------------------------------------


def reserve(
    model: Model,
    *,
    lines: int = 0,
    stories: int = 0,
    rows: int = 0,
    entries: int = 0,
    columns: int = 0,
    merges: int = 0,
) -> Model:
    """The model with that many free slots, and with room for columns below a number."""
    counters = model.counters
    if counters[FREE_LINES] < lines or counters[FREE_STORIES] < stories or counters[FREE_ROWS] < rows:
        model = model._replace(
            lines=_with_room(model.lines, counters, FREE_LINES, lines),
            stories=_with_room(model.stories, counters, FREE_STORIES, stories),
            rows=_with_room(model.rows, counters, FREE_ROWS, rows),
        )
    n_lines = len(model.lines.key)
    if len(model.gains) < n_lines:
        model = model._replace(**_scratch(n_lines))
    if merges > len(model.merged):
        model = model._replace(merged=np.zeros((2 * merges, 4), dtype=np.int64))
    words = _with_words(model.words, n_lines, entries, columns)
    return model if words is model.words else model._replace(words=words)


def _with_room(table: Any, counters: Ints, counter: int, needed: int) -> Any:
    """A table (a NamedTuple of arrays) with as many free slots as are needed."""
    if counters[counter] >= needed:
        return table
    old, n_free = len(table.free), int(counters[counter])
    n = max(MIN_SLOTS, 2 * old, old + needed)
    table = type(table)(*(_longer(array, n) for array in table))
    table.free[n_free : n_free + n - old] = np.arange(n - 1, old - 1, -1)
    counters[counter] += n - old
    if hasattr(table, "key"):
        table.key[old:] = -1
    return table


def _with_words(table: WordTable, n_lines: int, n_entries: int, n_columns: int) -> WordTable:
    """A table of words for so many lines and columns, with room for so many entries more."""
    if n_lines > len(table.of_line):
        table = table._replace(of_line=_longer(table.of_line, n_lines, fill=-1))
    if n_columns > len(table.seen):
        n = max(MIN_SLOTS, 2 * len(table.seen), n_columns)
        table = table._replace(of_word=_longer(table.of_word, n, fill=-1), seen=_longer(table.seen, n))
    # An entry may begin a block; where a line takes over the words of another, it does before the other's are free.
    n_blocks = n_entries + 1
    if n_blocks > table.n_free[0]:
        n, free = _with_free(table.free, table.n_free, n_blocks)
        table = table._replace(
            line=_longer(table.line, BLOCK * n, fill=-1),
            used=_longer(table.used, BLOCK * n),
            filled=_longer(table.filled, n),
            following=_longer(table.following, n, fill=-1),
            free=free,
        )
    if n_blocks > table.n_words_free[0]:
        n, free = _with_free(table.words_free, table.n_words_free, n_blocks)
        table = table._replace(
            word=_longer(table.word, BLOCK * n, fill=-1),
            words_filled=_longer(table.words_filled, n),
            words_following=_longer(table.words_following, n, fill=-1),
            words_free=free,
        )
    return table


def _with_free(free: Slots, n_free: Ints, needed: int) -> tuple[int, Slots]:
    """How many slots there are to be, and a longer stack of the free ones."""
    old = len(free)
    n = max(MIN_SLOTS, 2 * old, old + needed)
    longer = _longer(free, n)
    longer[n_free[0] : n_free[0] + n - old] = np.arange(n - 1, old - 1, -1)
    n_free[0] += n - old
    return n, longer


def _longer(array: Array, n: int, fill: int = 0) -> Array:
    longer = np.zeros((n, *array.shape[1:]), array.dtype)  # the system hands out zeros when they are first used
    longer[: len(array)] = array
    if fill:
        longer[len(array) :] = fill
    return longer


def with_dimensions(model: Model, dimensions: int) -> Model:
    """The model with vectors of at least so many numbers."""
    more = dimensions - model.rows.vector.shape[1]
    if more <= 0:
        return model
    wide: list[Any] = [np.pad(table.vector, ((0, 0), (0, more))) for table in (model.lines, model.rows)]
    return model._replace(lines=model.lines._replace(vector=wide[0]), rows=model.rows._replace(vector=wide[1]))


def without_vectors(model: Model) -> Model:
    """The model as if no document had had a vector."""
    lines, rows = (np.zeros((len(table.vector), 0), table.vector.dtype) for table in (model.lines, model.rows))
    return model._replace(lines=model.lines._replace(vector=lines), rows=model.rows._replace(vector=rows))


def open_stories(model: Model, keys: Sequence[int], line_keys: Sequence[int]) -> list[int]:
    """Slots for stories without rows, each in the line of its key (-1: in none yet)."""
    stories, n_free = model.stories, int(model.counters[FREE_STORIES])
    slots = stories.free[n_free - len(keys) : n_free][::-1]
    model.counters[FREE_STORIES] -= len(keys)
    stories.key[slots] = keys
    stories.size[slots], stories.asked[slots], stories.n_rows[slots] = 0, 1, 0
    stories.line[slots] = -1
    found: list[int] = slots.tolist()
    for slot, line_key in zip(found, line_keys, strict=True):
        if line_key >= 0:
            stories.line[slot] = np.flatnonzero(model.lines.key == line_key)[0]
    return found


def n_terms(model: Model, stories: Slots) -> int:
    """The terms of the rows that stories have: as many entries may be needed where they move."""
    return int(terms_of(model.stories.rows, model.stories.n_rows, model.rows.length, stories))


# -- the vocabulary --------------------------------------------------------------------------------------------


def columns_in_use(model: Model) -> Ints:
    """The columns of all rows. A line does without words that nothing else remembers: it may run for years."""
    is_used = np.ones(len(model.rows.free), dtype=bool)
    is_used[model.rows.free[: model.counters[FREE_ROWS]]] = False
    columns, lengths = model.rows.columns[is_used], model.rows.length[is_used]
    return np.unique(columns[np.arange(N_ROW_TERMS) < lengths[:, None]]).astype(np.int64)


def renumber(model: Model, new: Ints) -> Model:
    """Column v becomes `new[v]`; -1 for one that no row has: the lines that have used it forget it."""
    words = model.words
    number = np.full(max(len(words.seen), len(new)), -1, dtype=np.int64)
    number[: len(new)] = new
    forget_words(words, number[: len(words.of_word)] < 0)
    stays = np.flatnonzero(number[: len(words.seen)] >= 0)
    n = int(number.max(initial=-1)) + 1
    of_word, seen = np.full(n, -1, dtype=np.int32), np.zeros(n)
    of_word[number[stays]], seen[number[stays]] = words.of_word[stays], words.seen[stays]
    word = np.where(words.word >= 0, number[words.word], -1).astype(np.int32)
    # In rows that are free anything may stand.
    columns = np.maximum(number[model.rows.columns], 0).astype(np.int32)
    return model._replace(
        words=words._replace(word=word, of_word=of_word, seen=seen), rows=model.rows._replace(columns=columns)
    )


# -- state -----------------------------------------------------------------------------------------------------

TABLES: dict[str, type[Any]] = {"lines": Lines, "words": WordTable, "stories": StorySlots, "rows": RowSlots}
SCRATCH = ("merged", *_scratch(0))


def model_state(model: Model) -> State:
    """All arrays."""
    state: State = {name: getattr(model, name)._asdict() for name in TABLES}
    return state | {name: getattr(model, name) for name in model._fields if name not in (*TABLES, *SCRATCH)}


def model_from_state(state: State) -> Model:
    """Undo `model_state`; the scratch arrays hold nothing between steps."""
    tables = {name: table(**state[name]) for name, table in TABLES.items()}
    n_lines = len(tables["lines"].key)
    plain = {name: state[name] for name in Model._fields if name not in (*TABLES, *SCRATCH)}
    return Model(
        **tables,
        **plain,
        merged=np.zeros((0, 4), dtype=np.int64),
        **_scratch(n_lines),
    )
