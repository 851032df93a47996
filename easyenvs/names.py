"""Names that come from outside (files, policies, players) on their way to a person's screen."""

from __future__ import annotations

import unicodedata
from typing import Final

NAME_LENGTH: Final = 60
"""Characters of a name that are shown; the rest gives way to "…"."""

# Control characters (escape sequences start with one), formats (they turn the direction of writing round), surrogates, private
# and unassigned characters, and what ends a line.
_NOT_SHOWN: Final = frozenset({"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"})
_BLANKS: Final = str.maketrans("\t\n\r", "   ")


def clean(text: object, limit: int = NAME_LENGTH) -> str:
    """One line of printable text, at most `limit` characters long: every name that a file holds is shown through this.

    What can't be shown becomes "\N{REPLACEMENT CHARACTER}"; runs of blanks become one.
    """
    whole = str(text)
    # A name of a million characters is not looked through: what follows can't be seen anyway.
    part = whole[: 4 * limit].translate(_BLANKS)
    shown = "".join("\N{REPLACEMENT CHARACTER}" if unicodedata.category(c) in _NOT_SHOWN else c for c in part)
    shown = " ".join(shown.split())
    return shown if len(shown) <= limit and len(whole) <= 4 * limit else shown[: limit - 1] + "…"
