"""Watch a recorded game: `write_html` makes one page that plays it, `write_gif` an animation, `command.replay` a command."""

from easyenvs.watch.gif import write_gif
from easyenvs.watch.page import write_html

__all__ = ["write_gif", "write_html"]
