"""Easy School's options: what is accepted, and what a refusal says."""

from __future__ import annotations

from typing import Any

import pytest

import easyenvs
from easyenvs import school_v0


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"num_players": 1}, r"num_players=1 is not accepted: num_players must be an integer 2 … 6"),
        ({"num_players": 7}, r"num_players=7"),
        ({"num_players": 3.0}, r"num_players=3\.0"),
        ({"stack": "pick"}, r"stack='pick' is not accepted: stack must be one of 'choose', 'auto'"),
        ({"stack": None}, r"stack=None"),
        ({"max_cycles": 0}, r"max_cycles=0"),
        ({"reward": "points"}, r"reward='points'"),
        ({"engine": "rust"}, r"engine='rust'"),
    ],
)
def test_a_wrong_option_is_named_with_what_is_accepted(options: dict[str, Any], message: str) -> None:
    for make in (school_v0.env, school_v0.raw_env, lambda **o: school_v0.batch(2, **o)):
        with pytest.raises(easyenvs.OptionError, match=message):
            make(**options)


def test_an_option_of_the_other_game_is_unknown_here() -> None:
    accepted = r"school_v0 has no option 'num_rounds'; accepted are num_players, stack, max_cycles"
    with pytest.raises(TypeError, match=accepted):
        school_v0.env(num_rounds=3)


def test_the_defaults() -> None:
    env = school_v0.env()
    assert (env.rules.num_players, env.rules.stack, env.rules.max_decisions) == (3, "choose", 3000)
    assert [school_v0.env(num_players=n).max_num_agents for n in range(2, 7)] == [2, 3, 4, 5, 6]
