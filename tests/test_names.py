"""What a file calls itself can't do anything to a screen."""

from __future__ import annotations

import pytest

from easyenvs.names import NAME_LENGTH, clean


@pytest.mark.parametrize(
    ("given", "shown"),
    [
        ("step 400,000", "step 400,000"),
        ("  two\n lines\tof it ", "two lines of it"),
        ("\x1b]0;title\x07red", "�]0;title�red"),
        ("abc\u202egnp.exe", "abc�gnp.exe"),
        ("\ud800", "�"),
        ("Łucja – 7 ±", "Łucja – 7 ±"),
        (7, "7"),
        ("", ""),
    ],
)
def test_one_line_of_printable_text(given: object, shown: str) -> None:
    assert clean(given) == shown


@pytest.mark.parametrize("length", [NAME_LENGTH + 1, 4 * NAME_LENGTH + 1, 10**6])
def test_long_names_give_way(length: int) -> None:
    assert clean("x" * length) == "x" * (NAME_LENGTH - 1) + "…"
    assert clean("x" * length, limit=5) == "xxxx…"
    assert clean("x" * NAME_LENGTH) == "x" * NAME_LENGTH
    assert clean("x" + " " * length + "y", limit=5) in {"x…", "x y"}
