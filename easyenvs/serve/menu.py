"""What can be played: the games, their numbers of players, and the policies that the command line has named."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path
from types import ModuleType
from typing import Final

from easyenvs.core.batch import make_rules
from easyenvs.core.errors import OptionError
from easyenvs.core.game import GameDefinition
from easyenvs.core.options import refuse_option
from easyenvs.core.policies import WEIGHTS_SUFFIX, agent_names, load_policy
from easyenvs.play.session import HUMAN, PolicyError, Session
from easyenvs.registry import find_game, games
from easyenvs.serve.errors import Refusal

MOST_PLAYERS: Final = 10
RULES_FILE: Final = "rules.md"


@dataclass(frozen=True)
class Offer:
    """A game that can be played.

    Attributes:
        game: the game.
        title: what it is called.
        rules_text: its rules, as the Markdown that `common.js` reads; "" for a game without.
        players: the numbers of players.
        policies: the names that `load_policy` knows, by the names that the page shows.
    """

    game: GameDefinition
    title: str
    rules_text: str
    players: tuple[int, ...]
    policies: dict[str, str]


class Menu:
    """The games that a server offers, and the policies, which are loaded here for the first time.

    Args:
        chosen: games, their ids or modules; none: all.
        policies: names of policies; none: "random" and the agents that ship with each game.
        also: names of further policies.

    Raises:
        ValueError: there is no such game or policy, or a policy that plays none of the games.
    """

    def __init__(
        self,
        chosen: Sequence[str | GameDefinition | ModuleType] = (),
        policies: Sequence[str] = (),
        also: Sequence[str] = (),
    ) -> None:
        found = [find_game(game) for game in chosen] or [game for game in games().values() if game.draw is not None]
        for game in found:
            if game.draw is None:
                refuse_option("game", game.id, "one with a module draw: this one has no pictures")
        by_game = _policies_by_game(found, policies, also)
        self._proven: set[tuple[str, int, str]] = set()
        self.offers = {game.id: _offer(game, by_game[game.id]) for game in found}

    def find(self, game: object) -> Offer:
        """A game by its id, or a Refusal."""
        if not isinstance(game, str) or game not in self.offers:
            raise Refusal(422, "unknown_game", f"{game!r} is not offered; games are {', '.join(self.offers)}")
        return self.offers[game]

    def seats(self, offer: Offer, seats: object) -> list[str]:
        """Seats that a game can be opened with: one "human", and names that are shown. Or a Refusal."""
        if not isinstance(seats, list) or not all(isinstance(seat, str) for seat in seats):
            raise Refusal(422, "bad_seats", f"seats are a list with {HUMAN!r} once and a policy for each other seat")
        if len(seats) not in offer.players:
            numbers = ", ".join(map(str, offer.players))
            raise Refusal(422, "bad_seats", f"{len(seats)} seats are given; {offer.title} is for {numbers}")
        if seats.count(HUMAN) != 1:
            raise Refusal(422, "bad_seats", f"{HUMAN!r} is given {seats.count(HUMAN)} times; one seat is yours")
        for seat in seats:
            if seat != HUMAN:
                self.policy(offer, seat)
        return seats

    def prove(self, offer: Offer, seats: Sequence[str]) -> None:
        """Let each policy of a new game decide once, where it has not yet; a Refusal if one can't: some play with certain
        numbers of players only."""
        for seat in seats:
            case = offer.game.id, len(seats), seat
            if seat == HUMAN or case in self._proven:
                continue
            try:
                Session(offer.game, [HUMAN] * len(seats), seed=0).hint(offer.policies[seat])
            except PolicyError as error:
                raise Refusal(422, "policy_failed", f"{seat} can't play this game: {error}") from error
            self._proven.add(case)

    def policy(self, offer: Offer, name: object) -> str:
        """What `load_policy` knows a policy by, or a Refusal."""
        if not isinstance(name, str) or name not in offer.policies:
            raise Refusal(422, "unknown_policy", f"{name!r} is not offered; policies are {', '.join(offer.policies)}")
        return offer.policies[name]


def _policies_by_game(
    found: Sequence[GameDefinition], policies: Sequence[str], also: Sequence[str]
) -> dict[str, list[str]]:
    by_game = {game.id: [] if policies else ["random", *agent_names(game)] for game in found}
    for name in dict.fromkeys([*policies, *also]):
        reasons = []
        for game in found:
            try:
                load_policy(name, game)
            except ValueError as error:  # it may play another of the games
                reasons.append(str(error))
            else:
                if name not in by_game[game.id]:
                    by_game[game.id].append(name)
        if len(reasons) == len(found):
            raise OptionError("; ".join(reasons))
    return by_game


def _offer(game: GameDefinition, policies: Sequence[str]) -> Offer:
    if not policies:
        refuse_option("policy", None, f"given for each game: none that was named plays {game.id}")
    rules = files(game.package) / RULES_FILE
    text = rules.read_text(encoding="utf-8") if rules.is_file() else ""
    title = text.partition("\n")[0].removeprefix("# ") or game.id
    return Offer(game, title, text, _players(game), _shown(policies))


def _players(game: GameDefinition) -> tuple[int, ...]:
    accepted = []
    for number in range(2, MOST_PLAYERS + 1):
        try:
            make_rules(game, {"num_players": number}, ())
        except OptionError:
            continue
        accepted.append(number)
    return tuple(accepted)


def _shown(policies: Sequence[str]) -> dict[str, str]:
    """By the name that is shown: of a weights file the file's own name, unless two files share it."""
    short = [Path(name).stem if name.endswith(WEIGHTS_SUFFIX) else name for name in policies]
    return {
        name if short.count(brief) > 1 or brief == HUMAN else brief: name
        for brief, name in zip(short, policies, strict=True)
    }
