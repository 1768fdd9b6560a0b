"""Names are whole."""

from __future__ import annotations

from firststory.stories.whole_names import whole_names


def test_names_are_in_one_piece():
    text = "Police: Robert Bowers, suspect in Pittsburgh synagogue shooting, pleads not guilty"
    assert whole_names(["Bowers", "synagogue", "Robert", "Pittsburgh", "guilty"], [text]) == [
        "Robert Bowers",
        "synagogue",
        "Pittsburgh",
        "guilty",
    ]


def test_a_sign_between_words_parts_names():
    assert whole_names(["Obama", "Clinton"], ["bombs sent to Obama, Clinton and others today"]) == [
        "Obama",
        "Clinton",
    ]
    assert whole_names(["Trump", "Kim"], ["he spoke of Trump “Kim” and others at length"]) == ["Trump", "Kim"]


def test_in_title_case_capitals_tell_nothing():
    assert whole_names(["Allen", "Paul", "Dies"], ["Billionaire Founder Paul Allen Dies at 65"]) == [
        "Allen",
        "Paul",
        "Dies",
    ]


def test_each_once_in_the_order_of_the_terms_and_the_longest_name_wins():
    assert whole_names(list("abcdefga"), ["a b c"]) == list("abcdefg")
    titles = ["we met Kim Jong yesterday in town", "they say Kim Jong Nam died in Kuala Lumpur today"]
    terms = ["Kim", "Korean", "Nam", "Jong", "Kuala", "Lumpur"]
    assert whole_names(terms, titles) == ["Kim Jong Nam", "Korean", "Kuala Lumpur"]


def test_the_possessive_is_left_out():
    text = "Supporters of Gambia's Yahya Jammeh’s party gather in the capital"
    assert whole_names(["Gambia's", "Jammeh", "Yahya", "party"], [text]) == ["Gambia", "Yahya Jammeh", "party"]
