"""The tests on other versions than those of constraints.txt, or with more: `nox` (all), `nox -s oldest`, `nox -s python-3.13`."""

import nox

nox.options.default_venv_backend = "venv"
nox.options.error_on_missing_interpreters = False

OLDEST = ("numpy==2.0.0", "gymnasium==1.1.0", "pettingzoo==1.25.0")


@nox.session
def oldest(session: nox.Session) -> None:
    """The oldest versions of the core dependencies that pyproject.toml claims."""
    session.install("-e", ".[test]", *OLDEST)
    session.run("pytest", "-n", "auto", *(session.posargs or ["--deselect", "tests/test_docs.py"]))


@nox.session(python=["3.11", "3.12", "3.13", "3.14"], name="python")
def on_python(session: nox.Session) -> None:
    """The newest versions of everything."""
    session.install("-e", ".[test,docs]")
    session.run("pytest", "-n", "auto", *session.posargs)


@nox.session
def video(session: nox.Session) -> None:
    """RecordVideo, which needs moviepy (and with it an older Pillow than the rest)."""
    session.install("-e", ".[test]", "moviepy>=2.2")
    session.run("pytest", "tests/test_draw.py", "-k", "video", *session.posargs)
