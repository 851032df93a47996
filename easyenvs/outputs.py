"""Where results go: files are checked before the work begins, written beside their place, and moved there when they are whole.

Every command, script and function of easyenvs that writes a file writes it through here. A reader sees the old file or the new
one, never a part; whatever goes wrong while a file is written leaves the old one as it was.
"""

from __future__ import annotations

import os
import stat
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO, Any

from easyenvs.core.errors import OptionError

StrPath = str | os.PathLike[str]


def checked_output(
    path: StrPath,
    *,
    option: str = "path",
    suffixes: Sequence[str] = (),
    overwrite: bool = False,
    inputs: Sequence[StrPath] = (),
) -> Path:
    """A path that a file can be written to, looked at before there is anything to write.

    Args:
        path: where the file is to go.
        option: what the path is called in messages, such as "--records".
        suffixes: those that are accepted, such as (".png", ".svg"); a path without any gets the first. None: any.
        overwrite: whether a file may be there already.
        inputs: files that are read meanwhile, which the path must not name, whatever `overwrite` says.

    Returns:
        the path of the file that will be written.

    Raises:
        OptionError: the path can't be written to, or must not be.
    """
    target = Path(path)
    if not target.name:
        raise OptionError(f"{option} {os.fspath(path)!r} is a folder; a file is accepted")
    if suffixes and not target.suffix:
        target = target.with_name(target.name + suffixes[0])
    if suffixes and target.suffix.lower() not in suffixes:
        raise OptionError(
            f"{option} {str(target)!r} has the suffix {target.suffix!r}; {' or '.join(suffixes)} is accepted"
        )
    if target.is_dir():
        raise OptionError(f"{option} {str(target)!r} is a folder; a file is accepted")
    for other in inputs:
        if target.exists() and Path(other).exists() and target.samefile(other):
            raise OptionError(f"{option} {str(target)!r} is the file that is read; give it another name")
    if not _is_replaceable(target):  # a pipe or a device: written as it is
        if not os.access(target, os.W_OK):
            raise OptionError(f"{option} {str(target)!r} can't be written to: permission denied")
        return target
    if target.exists() and not overwrite:
        raise OptionError(f"{option} {str(target)!r} exists already; --overwrite (overwrite=True) replaces it")
    folder = target.resolve().parent
    if not folder.is_dir():
        raise OptionError(f"{option} {str(target)!r} can't be written: there is no folder {str(folder)!r}")
    try:
        # `os.access` does not see read-only file systems everywhere, nor what Windows forbids: try.
        with tempfile.NamedTemporaryFile(dir=folder, prefix=f".{target.name[:50]}."):
            pass
    except OSError as error:
        raise OptionError(f"{option} {str(target)!r} can't be written: {error.strerror or error}") from error
    return target


def _is_replaceable(path: Path) -> bool:
    """Whether the path is a file or nothing yet; pipes and devices, such as /dev/stdout, can't be replaced."""
    try:
        return stat.S_ISREG(path.stat().st_mode)
    except OSError:
        return True


@contextmanager
def replacing(path: StrPath) -> Iterator[IO[bytes]]:
    """A binary file to write to. What `path` names becomes it when the block has ended without an error, at once and as a whole;
    after an error (Ctrl-C and a full disk too) everything is as it was.

    A link stays a link, and a file that was there keeps its permissions. Pipes and devices are written to directly.
    """
    given = Path(path)
    if not _is_replaceable(given):
        with given.open("wb") as stream:
            yield stream
        return
    target = given.resolve()
    number, name = tempfile.mkstemp(dir=target.parent, prefix=f".{target.name[:50]}.", suffix=".new")
    try:
        with open(number, "wb") as stream:
            yield stream
            stream.flush()
            os.fsync(stream.fileno())
        Path(name).chmod(_mode_for(target))
        os.replace(name, target)
    except BaseException:
        with suppress(OSError):
            os.unlink(name)
        raise


def _mode_for(target: Path) -> int:
    """The permissions of the file that is there, or those that a new file gets."""
    try:
        return stat.S_IMODE(target.stat().st_mode)
    except OSError:
        mask = os.umask(0)
        os.umask(mask)
        return 0o666 & ~mask


def write_text(path: StrPath, text: str) -> None:
    """Write a whole text file, UTF-8 with "\\n" as the end of a line, as `replacing` does."""
    with replacing(path) as stream:
        stream.write(text.encode())


def save_figure(figure: Any, path: StrPath, *, dpi: int) -> None:
    """Write a matplotlib figure as `replacing` does; the suffix says in which format."""
    with replacing(path) as stream:
        figure.savefig(stream, format=Path(path).suffix.removeprefix(".") or None, dpi=dpi)
