"""Terms as people read them."""

from __future__ import annotations

from firststory.alerts.events.shown_terms import shown_terms


def test_names_are_in_one_piece():
    text = "Police: Robert Bowers, suspect in Pittsburgh synagogue shooting, pleads not guilty"
    assert shown_terms(["Bowers", "synagogue", "Robert", "Pittsburgh", "guilty"], text) == (
        "Robert Bowers",
        "synagogue",
        "Pittsburgh",
        "guilty",
    )


def test_a_sign_between_words_parts_names():
    assert shown_terms(["Obama", "Clinton"], "bombs sent to Obama, Clinton and others today") == (
        "Obama",
        "Clinton",
    )
    assert shown_terms(["Trump", "Kim"], "he spoke of Trump “Kim” and others at length") == ("Trump", "Kim")


def test_in_title_case_capitals_tell_nothing():
    assert shown_terms(["Allen", "Paul", "Dies"], "Billionaire Founder Paul Allen Dies at 65") == (
        "Allen",
        "Paul",
        "Dies",
    )


def test_at_most_five_each_once_and_harmless():
    assert shown_terms(list("abcdefga"), "a b c") == ("a", "b", "c", "d", "e")
    assert shown_terms(["x" * 200, "\x1b[31mred"], "")[0].endswith("…")
    assert "\x1b" not in shown_terms(["\x1b[31mred"], "")[0]


def test_the_possessive_is_left_out():
    text = "Supporters of Gambia's Yahya Jammeh’s party gather in the capital"
    assert shown_terms(["Gambia's", "Jammeh", "Yahya", "party"], text) == ("Gambia", "Yahya Jammeh", "party")
