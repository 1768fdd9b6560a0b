"""Settings: one table, four places to set them, the first that names one wins."""

from __future__ import annotations

from dataclasses import fields

import numpy as np
import pytest

from firststory.errors import ParameterError
from firststory.settings import Settings, help_of, load


def test_given_then_environment_then_file_then_store_then_default(tmp_path):
    file = tmp_path / "s.toml"
    file.write_text('detector = "file"\nbudget = "file"\nstep = "file"\n')
    environment = {"FIRSTSTORY_DETECTOR": "env", "FIRSTSTORY_BUDGET": "env", "FIRSTSTORY_CONFIG": str(file)}
    kept = {"detector": "kept", "budget": "kept", "step": "kept", "language": "kept"}
    settings = load({"detector": "given", "budget": None}, environment=environment, kept=kept)
    assert (settings.detector, settings.budget, settings.step) == ("given", "env", "file")
    assert (settings.language, settings.window) == ("kept", Settings().window)


def test_numbers_and_windows_are_read_from_text():
    settings = load({"window": "1_000", "step": "250", "save_every": "7"})
    assert (settings.window, settings.step, settings.save_every) == (1000, 250, 7)
    assert load({"step": "1d"}).step == "1d"


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ('colour = "red"', "one of store"),
        ("window = ", "settings file .* cannot be read"),
        ('window = "many"', "settings file"),
    ],
)
def test_a_bad_file_is_said(tmp_path, text, said):
    file = tmp_path / "s.toml"
    file.write_text(text)
    with pytest.raises(ParameterError, match=said):
        load(config=file)
    with pytest.raises(ParameterError, match=r"settings file .* cannot be read"):
        load(config=tmp_path / "absent.toml")


@pytest.mark.parametrize("value", ["0", -5, 1.5, True])
def test_a_memory_that_holds_nothing_is_refused_by_its_name(value, tmp_path):
    with pytest.raises(ParameterError, match=r"window must be a whole number of 1 or more.*50,000"):
        load({"window": value})
    file = tmp_path / "s.toml"
    file.write_text(f"window = {str(value).lower()}\n")
    with pytest.raises(ParameterError, match="window must be a whole number"):
        load(config=file)
    # Whoever comes later puts it right.
    assert load({"window": np.int64(70)}, config=file).window == 70


def test_every_setting_has_help_and_a_default():
    for item in fields(Settings):
        assert help_of(item.name).strip() and item.metadata["help"].endswith(".")
    assert "(default: 20/day)" in help_of("budget")


def test_what_results_depend_on_is_marked():
    assert set(Settings().model()) == {
        "detector", "step", "topics", "topic_step", "language", "segmenter", "window", "max_terms", "seed",
        "vector_words",
    }  # fmt: skip


def test_alerts_that_chance_may_bring():
    assert load().false_alerts == 1.0 and "(default: 1.0)" in help_of("false_alerts")
    assert load({"false_alerts": "0.25"}).false_alerts == 0.25
    assert load({"false_alerts": np.float32(2)}).false_alerts == 2.0
    for wrong in (0, -1, "-0.5", "nan", "inf", True, float):
        with pytest.raises(ParameterError, match=r"false_alerts must be a number above 0"):
            load({"false_alerts": wrong})
    with pytest.raises(ParameterError, match="false_alerts cannot be 'some'"):
        load({"false_alerts": "some"})


def test_families_of_sources_from_python_text_environment_and_file(tmp_path):
    wanted = {"CNN Politics": "CNN", "NYT = Politics": "NYT"}
    text = "CNN Politics=CNN, NYT = Politics = NYT,"
    file = tmp_path / "s.toml"
    file.write_text('[source_families]\n"CNN Politics" = "CNN"\n"NYT = Politics" = "NYT"\n')
    for settings in (
        load({"source_families": wanted}),
        load({"source_families": text}),
        load(environment={"FIRSTSTORY_SOURCE_FAMILIES": text}),
        load(config=file),
        load(kept={"source_families": wanted}),
    ):
        assert settings.source_families == wanted
    assert load().source_families == load({"source_families": ""}).source_families == {}


@pytest.mark.parametrize(
    "wrong", ["CNN Politics", "=CNN", "CNN Politics=", "a=b, a=c", {"a": 1}, {"a": ""}, ["a=b"], 7]
)
def test_families_that_cannot_be_read_are_said(wrong):
    with pytest.raises(ParameterError, match=r"source_families.*CNN Politics=CNN"):
        load({"source_families": wrong})
