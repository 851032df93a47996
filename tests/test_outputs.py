"""Files are looked at before the work, and are old or new, never a part."""

from __future__ import annotations

import os
import stat
import sys
import threading
from pathlib import Path

import pytest

from easyenvs.core.errors import OptionError
from easyenvs.outputs import checked_output, replacing, write_text


def left_in(folder: Path) -> list[str]:
    return sorted(file.name for file in folder.iterdir())


def test_a_file_is_replaced_when_the_new_one_is_whole(tmp_path: Path) -> None:
    file = tmp_path / "a.txt"
    file.write_text("old")
    with replacing(file) as stream:
        stream.write(b"ne")
        stream.flush()
        assert file.read_text() == "old"
        stream.write(b"w")
    assert file.read_text() == "new"
    assert left_in(tmp_path) == ["a.txt"]


def write_and_fail(file: Path, error: type[BaseException] | BaseException) -> None:
    with replacing(file) as stream:
        stream.write(b"half of it")
        raise error


@pytest.mark.parametrize("error", [ValueError, KeyboardInterrupt, OSError(28, "No space left on device")])
def test_whatever_goes_wrong_leaves_the_old_file(tmp_path: Path, error: type[BaseException] | BaseException) -> None:
    file = tmp_path / "a.txt"
    for before in (None, "old"):
        if before is not None:
            file.write_text(before)
        with pytest.raises(error if isinstance(error, type) else type(error)):
            write_and_fail(file, error)
        assert left_in(tmp_path) == ([] if before is None else ["a.txt"])
    assert file.read_text() == "old"


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no such permissions")
def test_permissions_and_links_stay(tmp_path: Path) -> None:
    file, link = tmp_path / "a.txt", tmp_path / "link.txt"
    mask = os.umask(0o022)
    try:
        write_text(file, "1")
    finally:
        os.umask(mask)
    assert stat.S_IMODE(file.stat().st_mode) == 0o644
    file.chmod(0o640)
    link.symlink_to(file)
    write_text(link, "2")
    assert link.is_symlink()
    assert file.read_text() == "2"
    assert stat.S_IMODE(file.stat().st_mode) == 0o640


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="this system has no named pipes")
def test_a_pipe_is_written_to_directly(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    read: list[bytes] = []
    reader = threading.Thread(target=lambda: read.append(pipe.read_bytes()))
    reader.start()
    assert checked_output(pipe) == pipe
    write_text(pipe, "through")
    reader.join()
    assert read == [b"through"]
    assert stat.S_ISFIFO(pipe.stat().st_mode)


def test_what_is_refused_before_anything_is_written(tmp_path: Path) -> None:
    (tmp_path / "there.png").write_bytes(b"1")
    (tmp_path / "games.jsonl").write_bytes(b"2")
    os.link(tmp_path / "games.jsonl", tmp_path / "same.jsonl")

    def refusal(path: str, **how: object) -> str:
        with pytest.raises(OptionError) as caught:
            checked_output(tmp_path / path, option="--out", **how)
        message = str(caught.value)
        assert message.startswith("--out ")
        return message

    assert "no folder" in refusal("no/such/file.png")
    assert "is a folder" in refusal(".")
    assert "'.xyz'; .png or .svg is accepted" in refusal("p.xyz", suffixes=(".png", ".svg"))
    assert "--overwrite" in refusal("there.png")
    assert "is the file that is read" in refusal("games.jsonl", inputs=[tmp_path / "games.jsonl"], overwrite=True)
    assert "is the file that is read" in refusal("same.jsonl", inputs=[tmp_path / "games.jsonl"], overwrite=True)
    assert left_in(tmp_path) == ["games.jsonl", "same.jsonl", "there.png"]


def test_what_is_accepted(tmp_path: Path) -> None:
    (tmp_path / "there.png").write_bytes(b"1")
    assert checked_output(tmp_path / "there.png", overwrite=True) == tmp_path / "there.png"
    assert checked_output(tmp_path / "P.PNG", suffixes=(".png",)) == tmp_path / "P.PNG"
    assert checked_output(tmp_path / "chart", suffixes=(".png", ".svg")) == tmp_path / "chart.png"
    assert left_in(tmp_path) == ["there.png"]


@pytest.mark.skipif(sys.platform == "win32" or os.geteuid() == 0, reason="this user may write everywhere")
def test_a_folder_without_permission_is_refused(tmp_path: Path) -> None:
    tmp_path.chmod(0o500)
    try:
        with pytest.raises(OptionError, match="can't be written"):
            checked_output(tmp_path / "a.txt")
    finally:
        tmp_path.chmod(0o700)
