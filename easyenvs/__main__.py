"""`python -m easyenvs`: the command line."""

from __future__ import annotations

import sys

from easyenvs.core.errors import MissingExtraError


def main() -> None:
    """The program `easyenvs`; without its extra it says what to install."""
    try:
        from easyenvs import cli
    except MissingExtraError as error:
        sys.stderr.write(f"Error: {error}\n")
        raise SystemExit(2) from None
    cli.main()


if __name__ == "__main__":
    main()
