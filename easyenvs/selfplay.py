"""Self-play against earlier selves: a pool of opponents, of which every new game draws one.

Give a `Pool` as `opponents` to `easyenvs.sb3.VecEnv` or to the Gymnasium environments, and add copies of the learner to it
while it trains. Rules of sampling:

    latest        the newest member
    uniform       every member is as likely (fictitious self-play: Heinrich, Lanctot & Silver 2015)
    prioritised   in proportion to (1 − p)², where p is how well the learner does against the member, 0 … 1 (the "hard"
                  weighting of prioritised fictitious self-play: Vinyals et al. 2019)

    M games
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import numpy as np

from easyenvs.core import chance
from easyenvs.core.arrays import F64, U64, Index
from easyenvs.core.game import GameDefinition
from easyenvs.core.options import choice_option, integer_option
from easyenvs.core.policies import Policy, load_policy
from easyenvs.core.weights import NetworkPolicy, load_weights, save_weights

RULES: Final = ("latest", "uniform", "prioritised")
PRIOR_GAMES: Final = 20.0  # a new member counts as if it had drawn so many
MEMORY: Final = 2000.0  # games after which old results have faded
FLOOR: Final = 0.02  # weight of a member that always loses: it stays known to be weak
MAX_MEMBERS: Final = 10**6


@dataclass
class Member:
    """One opponent of a pool, and how the learner does against it."""

    policy: Policy
    name: str
    fixed: bool  # never dropped
    games: float = 0.0  # those that have not faded
    total: float = 0.0  # of the learner's places in them, 0 … 1
    played: int = 0

    @property
    def learner_wins(self) -> float:
        """How well the learner does against it: 0 always last, 1 always first."""
        return (self.total + PRIOR_GAMES / 2) / (self.games + PRIOR_GAMES)


class Pool:
    """Opponents of which every new game draws one, for all seats but the learner's.

    Args:
        game: the game they play.
        members: the first ones: policies or names. They are never dropped.
        rule: "latest", "uniform" or "prioritised".
        size: how many members that were added later are kept at most; the oldest go first. None: all.
    """

    def __init__(
        self,
        game: GameDefinition,
        members: Sequence[Policy | str] = ("random",),
        *,
        rule: str = "prioritised",
        size: int | None = 20,
    ) -> None:
        self.game = game
        self.rule: str = choice_option("rule", rule, RULES)
        self.size = None if size is None else integer_option("size", size, 1, MAX_MEMBERS)
        self.members: list[Member] = []
        self.policies: list[
            Policy
        ] = []  # by the numbers that `draw` gives; those of dropped members stay, for running games
        self._number: list[int] = []  # of each member
        for policy in members:
            self._append(
                load_policy(policy, game), policy if isinstance(policy, str) else f"member {len(self.members)}", True
            )
        if not self.members:
            raise ValueError("a pool needs one member at least")

    def __len__(self) -> int:
        return len(self.members)

    def _append(self, policy: Policy, name: str, fixed: bool) -> None:
        self.members.append(Member(policy, name, fixed))
        self._number.append(len(self.policies))
        self.policies.append(policy)

    def add(self, policy: Policy, name: str) -> None:
        """A new member, the latest. If there are too many, the oldest that was added so is dropped for new games."""
        self._append(policy, name, False)
        added = [index for index, member in enumerate(self.members) if not member.fixed]
        if self.size is not None and len(added) > self.size:
            del self.members[added[0]], self._number[added[0]]

    def weights(self) -> F64:
        """How likely each member is to be drawn: [members], with the sum 1."""
        if self.rule == "latest":
            weights = np.zeros(len(self.members))
            weights[-1] = 1.0
            return weights
        if self.rule == "uniform":
            return np.full(len(self.members), 1.0 / len(self.members))
        hard = np.array([max((1.0 - member.learner_wins) ** 2, FLOOR) for member in self.members])
        result: F64 = hard / hard.sum()
        return result

    def draw(self, keys: U64) -> Index:
        """An opponent's number for every new game: `policies[number]` plays. keys: uint64 [M], its only randomness."""
        key = chance.derive_array(chance.DOMAIN_OPPONENT, keys, 0)
        uniform = (key >> np.uint64(11)).astype(np.float64) * 2.0**-53
        member = np.searchsorted(self.weights().cumsum()[:-1], uniform, side="right")
        return np.array(self._number, dtype=np.intp)[member]

    def note(self, members: Index, placement: F64) -> None:
        """Games are over: the opponents' numbers and the learner's placement rewards −1 … 1, [M] each."""
        for number in np.unique(members).tolist():
            if number not in self._number:  # dropped meanwhile
                continue
            member = self.members[self._number.index(number)]
            places = (placement[members == number] + 1.0) / 2.0
            fade = max(0.0, 1.0 - len(places) / MEMORY)
            member.games = member.games * fade + len(places)
            member.total = member.total * fade + float(places.sum())
            member.played += len(places)

    # ------------------------------------------------------------------------------------------ files

    def save(self, folder: str | Path) -> None:
        """Write the pool into a folder: `pool.json`, and a weights file for every network in it.

        Raises:
            ValueError: a member is neither a network nor named; nothing has been written.
        """
        folder = Path(folder)
        described: list[dict[str, Any]] = []
        files: list[tuple[Path, NetworkPolicy]] = []
        for member in self.members:
            entry: dict[str, Any] = {"name": member.name, "fixed": member.fixed}
            entry |= {"games": member.games, "total": member.total, "played": member.played}
            if isinstance(member.policy, NetworkPolicy):
                entry["file"] = f"{len(described):06d}.npz"
                entry["temperature"] = member.policy.temperature
                files.append((folder / entry["file"], member.policy))
            elif not self._is_named(member):
                raise ValueError(
                    f"the pool's member {member.name!r} ({member.policy!r}) can't be saved: networks and named policies can"
                )
            described.append(entry)
        folder.mkdir(parents=True, exist_ok=True)
        for path, policy in files:
            save_weights(path, policy.layers, policy.about)
        text = json.dumps({"game": self.game.id, "rule": self.rule, "size": self.size, "members": described}, indent=2)
        fresh = folder / "pool.json.new"
        fresh.write_text(text + "\n")
        fresh.replace(folder / "pool.json")

    def _is_named(self, member: Member) -> bool:
        try:
            return load_policy(member.name, self.game) is member.policy
        except ValueError:
            return False

    @classmethod
    def load(cls, folder: str | Path, game: GameDefinition) -> Pool:
        """The pool that `save` wrote.

        Raises:
            ValueError: the folder holds no pool of this game.
        """
        folder = Path(folder)
        try:
            state = json.loads((folder / "pool.json").read_text())
            if state["game"] != game.id:
                raise ValueError(f"it is of {state['game']}, not of {game.id}")
            pool = cls(game, rule=state["rule"], size=state["size"])
            pool.members, pool.policies, pool._number = [], [], []
            for entry in state["members"]:
                policy: Policy = (
                    load_weights(folder / entry["file"], temperature=entry["temperature"])
                    if "file" in entry
                    else load_policy(entry["name"], game)
                )
                pool._append(policy, entry["name"], entry["fixed"])
                member = pool.members[-1]
                member.games, member.total, member.played = entry["games"], entry["total"], entry["played"]
        except (OSError, KeyError, TypeError, ValueError) as error:
            raise ValueError(f"{str(folder)!r} holds no pool: {error}") from error
        return pool
