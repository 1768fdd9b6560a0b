"""What a line of JSON may hold: the same values and the same words of complaint as Python's own parser."""

from __future__ import annotations

import io
import json

import pytest

from firststory.records import Quarantined
from firststory.sources.files import read

GOOD = {
    "a whole number beyond 64 bits": ('{"text": "x", "n": 12345678901234567890123}', 12345678901234567890123),
    "a negative one": ('{"text": "x", "n": -9223372036854775809}', -9223372036854775809),
    "minus nothing": ('{"text": "x", "n": -0}', 0),
    "a float to its last digit": ('{"text": "x", "n": 3.141592653589793238462643}', 3.141592653589793),
    "a float too large": ('{"text": "x", "n": 1e400}', float("inf")),
    "an infinity": ('{"text": "x", "n": -Infinity}', float("-inf")),
    "the last of two values": ('{"text": "x", "n": 1, "n": 2}', 2),
    "half a surrogate pair": ('{"text": "x", "n": "\\ud800"}', "\ud800"),
    "a pair in two escapes": ('{"text": "x", "n": "\\ud83d\\ude00"}', "😀"),
    "white space around": (' \t{"text": "x", "n": [1, {"m": null}]} \r', [1, {"m": None}]),
}  # fmt: skip

BAD = ("[1,]", '{"text": "a\tb"}', "{", "nothing", '{"text": 01}', '{"text": "x"} {}', "\ufeff\ufeff{}", '{"a": +1}')


def read_lines(*lines):
    data = "".join(line + "\n" for line in lines).encode("utf-8", "surrogatepass")
    return list(read("-", stdin=io.BufferedReader(io.BytesIO(data)), format="jsonl"))


@pytest.mark.parametrize("line, value", GOOD.values(), ids=GOOD)
def test_values_are_those_of_pythons_parser(line, value):
    ((document, _),) = read_lines(line)
    assert document.extra == {"n": value} and type(document.extra["n"]) is type(value)
    assert json.loads(line)["n"] == value


def test_nan_stands_for_nothing():
    ((document, _),) = read_lines('{"text": "x", "n": NaN, "m": [NaN]}')
    assert document.extra == {"n": None, "m": [None]}


@pytest.mark.parametrize("line", BAD)
def test_complaints_are_those_of_pythons_parser(line):
    (good, bad) = read_lines('{"text": "x"}', line)
    assert not isinstance(good, Quarantined) and bad.reason == "wrong-json"
    with pytest.raises(ValueError) as said:
        json.loads(line + "\n")
    assert str(said.value)[:100] in bad.message


def test_a_line_nested_too_deeply_is_quarantined_and_the_next_one_is_read():
    bad, good = read_lines('{"text": "x", "n": ' + "[" * 100_000 + "]" * 100_000 + "}", '{"text": "y"}')
    assert bad.reason == "wrong-json" and good[0].text == "y"
