"""The two engines of Easy School side by side: thousands of games, compared after every decision in everything that is
shown, with a count of the rare events that were met. A rule that only one of the engines gets wrong can't pass. Then:
no play goes on for longer than a bound that follows from the rules."""

from __future__ import annotations

from collections import Counter
from typing import Any, Final

import numpy as np
import numpy.typing as npt
import pytest

from easyenvs import school_v0
from easyenvs.core.batch import Batch
from easyenvs.school_v0.cards import COPIES, EXAMS, JOKER, SPECIAL, STRESS, Action, Phase
from tests.school_v0.positions import letters, position

STYLES: Final = ("uniform", "exam-happy", "stress-happy", "draw-greedy", "hoarding", "collecting jokers")
VARIANTS: Final[tuple[tuple[dict[str, Any], int, int], ...]] = (  # options, games, steps
    ({}, 6, 150),
    ({"stack": "auto", "reward": "win"}, 6, 100),
    ({"max_cycles": 13, "reward": "score"}, 8, 60),
    ({"max_cycles": 1, "stack": "auto"}, 30, 8),
)
LATE_VARIANTS: Final[tuple[tuple[dict[str, Any], int, int], ...]] = (  # from positions near the end of a semester
    ({"reward": "score"}, 24, 55),
    ({"stack": "auto"}, 24, 45),
    ({"max_cycles": 4, "reward": "win"}, 20, 20),
)

EXAM_IDS, STRESS_IDS = slice(Action.EXAM, None), slice(Action.STRESS, Action.EXAM)
TYPE_IDS = slice(Action.TYPE, Action.STRESS)

EXAM_KINDS: Final = tuple(f"exam of {size} with {jokers} jokers" for size in (3, 4, 5) for jokers in range(size))
ALWAYS_MET: Final = (
    *(f"first stress with {cards} cards" for cards in ("0", "1", "2", "3 or more")),
    *(f"second stress with {cards} cards" for cards in ("0", "1", "2", "3 or more")),
    "a victory card lost to drawn stress",
    "a joker of the victory pile lost to drawn stress",
    "a victory card lost to played stress",
    "a joker of the victory pile lost to played stress",
    "a second stress with nothing to lose",
    "special in a first draw",
    "special in a later draw",
    "special after a stress",
    "special in an exam",
    *EXAM_KINDS,
    "exam failed in a turn",
    "exam failed at the end of a semester",
    "no sixth card",
    "a sixth card unasked",
    "a sixth card that is a joker, unasked",
    "a sixth card that is a joker, chosen",
    "a sixth card of a used type",
    "stacking with a repeated type",
    "practice taken",
    "practice declined",
    "practice barred by stress",
    "practice at the end of a semester",
    "practice takes the cards for the own examination",
    "stress against face-up cards",
    "stress against face-up cards, asked",
    "stress against a victory pile alone",
    "stress against nothing",
    "a turn ends by itself with stress cards left",
    "semester end with an exam",
    "semester end with nobody able",
    "an exam declined at the end of a semester",
    "the seat of the stopped exam asked again",
    "cards trimmed by choice",
    "cards trimmed unasked",
    "a final exam taken",
    "a final exam declined",
    "no final exam",
    "a tie broken by pile size",
    "a shared win",
    "all level",
    "truncation",
    "truncation in an exam",
    "over with the last decision",
)
NOT_WITH_TWO: Final = ("several stress cards in a turn", "stress declined after the first")  # S12: one opponent


def choose(rng: np.random.Generator, games: Batch, style: str) -> npt.NDArray[np.intp]:
    """A legal action for every game (0 where one is over)."""
    weight = rng.random(games.legal.shape) * games.legal
    exams, stress, kinds = EXAM_IDS, STRESS_IDS, TYPE_IDS
    if style == "exam-happy":
        weight[:, exams] *= 100
        weight[:, Action.EXAM + 25 :] *= 2
        weight[:, Action.EXAM + 55 :] *= 2
    elif style == "stress-happy":
        weight[:, stress] *= 50
        weight[:, Action.DRAW] *= 5
        weight[:, exams] *= 0.2
    elif style == "draw-greedy":
        weight[:, Action.DRAW] *= 20
    elif style == "hoarding":  # never takes an examination or practises; stops early and picks from the pool
        weight[:, exams] *= 0.01
        weight[:, Action.STOP] *= 10
        weight[:, kinds] *= np.where(games.phase == Phase.PRACTICE, 0.001, 5)[:, None]
    elif style == "collecting jokers":
        keeps = (games.phase == Phase.DISCARD) | (games.phase == Phase.KEEP)
        weight[:, Action.TYPE + JOKER] *= np.where(keeps, 0.01, 100)
        weight[:, exams] *= [100.0**jokers / 1000 for _, jokers in EXAMS]
    chosen: npt.NDArray[np.intp] = weight.argmax(axis=1)
    return chosen


def late(players: int, rng: np.random.Generator, decisions: int, *, last_card: bool = False) -> dict[str, Any]:
    """A random position near the end of a semester: every zone filled, the special close to the deck's top.

    last_card: the second special is the next card, and nobody can take an examination.
    """
    cards = [kind for kind in range(SPECIAL) for _ in range(COPIES[kind])]
    order = [cards[i] for i in rng.permutation(len(cards))]
    plain, stressed = [kind for kind in order if kind != STRESS], [kind for kind in order if kind == STRESS]
    level = rng.random() < 0.3  # victory piles that are worth the same, or nearly

    def some(low: int, high: int, source: list[int] = plain) -> list[int]:
        return [source.pop() for _ in range(min(len(source), int(rng.integers(low, high))))]

    face_up: list[list[int]] = []
    victory: list[list[int]] = []
    for _ in range(players):
        most = 3 if last_card else (3, 5, 10)[rng.integers(3)] if players < 5 else 7
        wanted = [] if last_card else [JOKER] * 3 * (rng.random() < 0.25) + [*range(JOKER)] * (rng.random() < 0.1)
        hand = some(0, most)
        for kind in wanted:
            if kind in plain:
                plain.remove(kind)
                hand.append(kind)
        face_up.append(hand)
    spare = Counter(plain)
    for seat in range(players):
        pile: list[int]
        if level:
            pile = [[], [0], [5], [5, 5], [5, 1], [3, 3], [0, 1, 2], [5, 4, 4]][rng.integers(8)]
            pile = list(victory[seat - 1]) if seat and rng.random() < 0.5 else list(pile)
            pile = pile if all(spare[kind] >= pile.count(kind) for kind in pile) else []
            for kind in pile:
                spare[kind] -= 1
                plain.remove(kind)
        else:
            pile = sorted(some(0, (1, 4, 9)[rng.integers(3)]), key=lambda kind: kind != JOKER)
        victory.append(pile)
    pool = some(0, (1, 5)[rng.integers(2)])
    stress = [int(rng.integers(0, 4)) * int(rng.random() < 0.4) for _ in range(players)]
    if rng.random() < 0.15:  # more of them than opponents
        stress[int(rng.integers(players))] = players
    del stressed[: sum(stress)]
    rest = [*plain, *stressed]
    rest = [rest[i] for i in rng.permutation(len(rest))]
    semester = 1 if rng.random() < 0.4 and not last_card else 2
    before = 0 if last_card else (0, 2, 6)[rng.integers(3)]
    deck = letters(rest[:before]) + "E"
    if semester == 1:
        between = int(rng.integers(0, 9))
        deck += letters(rest[before : before + between]) + "E"
        before += between
    deck += letters(rest[before : before + 10])
    return position(
        [letters(hand) for hand in face_up],
        victory=[letters(pile) for pile in victory],
        pool=letters(pool),
        stress=stress,
        deck=deck,
        semester=semester,
        player=int(rng.integers(players)),
        seed=int(rng.integers(2**63)),
        decisions=decisions,
    )


def size_text(cards: int) -> str:
    return str(cards) if cards < 3 else "3 or more"


def can_take(cards: list[int]) -> bool:
    kinds = sum(count > 0 for count in cards[:JOKER])
    return kinds > 0 and kinds + cards[JOKER] >= 3


class Events:
    """Counts what happened between two snapshots of one game."""

    def __init__(self) -> None:
        self.met: Counter[str] = Counter()

    def note(self, before: dict[str, Any], action: int, after: dict[str, Any]) -> None:
        phase, seat, players = before["phase"], before["player"], before["num_players"]
        if action >= Action.EXAM:
            self._note_exam(before, *EXAMS[action - Action.EXAM], after)
        elif action >= Action.STRESS:
            self._note_stress(before, (seat + action - Action.STRESS + 1) % players, after)
        elif action == Action.DRAW:
            self._note_draw(before, after)
        elif action == Action.STOP:
            self.met["practice declined"] += phase == "practice"
            self.met["stress declined after the first"] += phase == "relax"
            self.met["an exam declined at the end of a semester"] += phase == "exam" and before["semester"] == 2
            self.met["a final exam declined"] += phase == "exam" and before["semester"] == 3
        else:
            self._note_type(before, action - Action.TYPE, after)
        if after["semester"] > before["semester"]:
            self._note_special(after)
        opponents = len(before["named"]) + (Action.STRESS <= action < Action.EXAM)
        self.met["a turn ends by itself with stress cards left"] += (
            phase in ("turn", "relax", "discard")
            and opponents == players - 1
            and before["turn_player"] != after["turn_player"]
            and after["stress"][before["turn_player"]] > 0
        )
        self.met["cards trimmed unasked"] += after["semester"] == 2 and any(
            sum(had) > 3 and sum(has) == 3 and sum(count > 0 for count in had) == 1 and other != seat
            for other, (had, has) in enumerate(zip(before["face_up"], after["face_up"], strict=True))
        )
        if after["phase"] == "over":
            self._note_end(after)

    def _note_draw(self, before: dict[str, Any], after: dict[str, Any]) -> None:
        met, seat, top = self.met, before["player"], before["deck"][0]
        if top == STRESS:
            cards = sum(before["face_up"][seat])
            which = "second" if before["stress_drawn"] else "first"
            met[f"{which} stress with {size_text(cards)} cards"] += 1
            lost = len(before["victory"][seat]) - len(after["victory"][seat])
            assert lost == (cards < (2 if before["stress_drawn"] else 1) and len(before["victory"][seat]) > 0)
            met["a victory card lost to drawn stress"] += lost
            met["a joker of the victory pile lost to drawn stress"] += lost and before["victory"][seat][-1] == JOKER
            met["a second stress with nothing to lose"] += (
                which == "second" and not cards and not before["victory"][seat]
            )
        elif top == SPECIAL:
            met["special in a first draw"] += before["phase"] == "turn"
            met["special in a later draw"] += before["phase"] == "draw" and not before["stress_drawn"]
            met["special after a stress"] += before["stress_drawn"] == 1

    def _note_exam(self, before: dict[str, Any], types: tuple[int, ...], jokers: int, after: dict[str, Any]) -> None:
        met, seat, size = self.met, before["player"], len(types) + jokers
        final = before["semester"] == 3
        if size == 3 and before["deck"][0] in (STRESS, SPECIAL):
            met["exam failed in a turn"] += before["deck"][0] == STRESS and not before["closing"]
            met["exam failed at the end of a semester"] += before["deck"][0] == STRESS and before["closing"]
            met["special in an exam"] += before["deck"][0] == SPECIAL
            met["the seat of the stopped exam asked again"] += before["deck"][0] == SPECIAL and (
                after["phase"],
                after["player"],
            ) == ("exam", seat)
            return
        met[f"exam of {size} with {jokers} jokers"] += 1
        met["a final exam taken"] += final
        for other, cards in enumerate(before["face_up"]):
            met["practice barred by stress"] += (
                other != seat and before["stress"][other] > 0 and any(cards[kind] for kind in types)
            )
        if size == 5:
            left = list(before["face_up"][seat])
            for kind in (*types, *[JOKER] * jokers):
                left[kind] -= 1
            kinds = [kind for kind, count in enumerate(left) if count]
            met["no sixth card"] += not kinds
            met["a sixth card unasked"] += len(kinds) == 1
            met["a sixth card that is a joker, unasked"] += kinds == [JOKER]

    def _note_stress(self, before: dict[str, Any], target: int, after: dict[str, Any]) -> None:
        met, cards, pile = self.met, before["face_up"][target], before["victory"][target]
        met["stress against face-up cards"] += any(cards)
        met["stress against face-up cards, asked"] += (after["phase"], after["player"]) == ("discard", target)
        met["stress against a victory pile alone"] += not any(cards) and bool(pile)
        met["stress against nothing"] += not any(cards) and not pile
        met["several stress cards in a turn"] += before["phase"] == "relax"
        lost = len(pile) > len(after["victory"][target])
        met["a victory card lost to played stress"] += lost
        met["a joker of the victory pile lost to played stress"] += lost and pile[-1] == JOKER

    def _note_type(self, before: dict[str, Any], kind: int, after: dict[str, Any]) -> None:
        met, phase, seat = self.met, before["phase"], before["player"]
        met["a sixth card that is a joker, chosen"] += phase == "sixth" and kind == JOKER
        met["a sixth card of a used type"] += phase == "sixth" and kind in before["exam_types"]
        met["stacking with a repeated type"] += phase == "stack" and 2 in before["claimed"]
        met["practice taken"] += phase == "practice"
        met["practice at the end of a semester"] += phase == "practice" and before["closing"]
        met["cards trimmed by choice"] += phase == "keep"
        if phase == "practice" and before["closing"]:
            turn, players = before["turn_player"], before["num_players"]
            waits = (before["examinee"] - turn) % players < (seat - turn) % players
            cards = list(before["face_up"][seat])
            cards[kind] -= 1
            met["practice takes the cards for the own examination"] += (
                waits and can_take(before["face_up"][seat]) and not can_take(cards)
            )

    def _note_special(self, after: dict[str, Any]) -> None:
        first = after["semester"] == 2
        asked = after["phase"] == "exam"
        self.met["semester end with an exam"] += first and asked
        self.met["semester end with nobody able"] += first and not asked
        self.met["no final exam"] += not first and not asked

    def _note_end(self, after: dict[str, Any]) -> None:
        met, clock = self.met, after["rules"]["max_cycles"]
        if after["truncated"]:
            met["truncation"] += 1
            met["truncation in an exam"] += any(after["claimed"]) or after["examinee"] is not None
            return
        met["over with the last decision"] += clock is not None and after["decisions"] == clock * after["num_players"]
        order = sorted(zip(after["scores"], map(len, after["victory"]), strict=True), reverse=True)
        met["a tie broken by pile size"] += order[0][0] == order[1][0] and order[0][1] > order[1][1]
        met["a shared win"] += order[0] == order[1]
        met["all level"] += order[0] == order[-1]


def compare(fast: Batch, slow: Batch, step: int) -> list[dict[str, Any]]:
    """Everything that a batch shows, from both engines. Returns the snapshots."""
    for name in (
        "player", "legal", "legal_words", "terminated", "truncated", "rewards", "scores", "final_scores", "seeds",
        "decisions", "phase", "game_index", "first_seeds",
    ):  # fmt: skip
        ours, theirs = getattr(fast, name), getattr(slow, name)
        assert ours.dtype == theirs.dtype, name
        np.testing.assert_array_equal(ours, theirs, err_msg=name)
    np.testing.assert_array_equal(fast.ranks(), slow.ranks())
    snapshots = [fast.snapshot(i) for i in range(fast.num_games)]
    for i, snapshot in enumerate(snapshots):
        assert snapshot == slow.snapshot(i)
    seat = None if step % 2 else (step // 2) % fast.num_players
    view, same_view = fast.view(seat), slow.view(seat)
    for name in ("flat", "bits"):
        ours, theirs = fast.encoder(name)(view), slow.encoder(name)(same_view)
        assert ours.dtype == theirs.dtype
        np.testing.assert_array_equal(ours, theirs)
    if step % 10 == 0 or step < 3:
        for name in ("flat", "bits"):
            np.testing.assert_array_equal(fast.observe(name, seat=seat), slow.observe(name, seat=seat))
        assert fast.observe("text", seat=seat) == slow.observe("text", seat=seat)
        ours, theirs = fast.observe("dict", seat=seat), slow.observe("dict", seat=seat)
        assert ours.keys() == theirs.keys()
        for key in ours:
            np.testing.assert_array_equal(ours[key], theirs[key])
    return snapshots


def play_in_lockstep(
    players: int, style: str, variant: dict[str, Any], num_games: int, steps: int, seed: int, *, start_late: bool
) -> tuple[Counter[str], int]:
    """The events that were met, and the number of games that came to an end."""
    rng = np.random.default_rng(seed)
    fast, slow = (
        school_v0.batch(num_games, num_players=players, seed=seed, engine=engine, **variant)
        for engine in ("numpy", "python")
    )
    most = fast.rules.max_decisions

    def restore(game: int) -> None:
        left = int(rng.choice([1, rng.integers(1, most + 1)])) if "max_cycles" in variant else most
        snapshot = late(players, rng, most - left, last_card=left == 1)
        for games in (fast, slow):
            games.restore(game, snapshot)

    for game in range(num_games if start_late else 0):
        restore(game)
    events = Events()
    before, ended = compare(fast, slow, 0), 0
    for step in range(1, steps):
        actions = choose(rng, fast, style)
        fast.step(actions)
        slow.step(actions)
        after = compare(fast, slow, step)
        for game in range(num_games):
            events.note(before[game], int(actions[game]), after[game])
        over = np.flatnonzero(fast.player < 0)
        ended += len(over)
        if len(over) and not start_late:
            for games in (fast, slow):
                games.reset(where=over)
        for game in over.tolist():
            if start_late:
                restore(game)
            after[game] = fast.snapshot(game)
            assert after[game] == slow.snapshot(game)
        before = after
    return events.met, ended


@pytest.mark.parametrize("players", range(2, 7))
def test_the_engines_are_equal_after_every_decision(players: int) -> None:
    met: Counter[str] = Counter()
    games = 0
    for number, style in enumerate(STYLES):
        for start_late, variants in ((False, VARIANTS), (True, LATE_VARIANTS)):
            for index, (variant, size, steps) in enumerate(variants):
                seed = 10_000 * players + 1000 * start_late + 100 * number + index
                found, ended = play_in_lockstep(players, style, variant, size, steps, seed, start_late=start_late)
                met += found
                games += ended
    required = ALWAYS_MET if players == 2 else ALWAYS_MET + NOT_WITH_TWO
    missing = [event for event in required if not met[event]]
    assert not missing, f"never met with {players} players: {missing}; met: {dict(met)}"
    assert games > 800


def test_whole_games_from_the_deal_to_the_end_are_equal() -> None:
    """With the standard rules, all the way."""
    for players in range(2, 7):
        fast, slow = (
            school_v0.batch(8, num_players=players, seed=players, engine=engine, autoreset=True)
            for engine in ("numpy", "python")
        )
        rng = np.random.default_rng(players)
        ended = 0
        for step in range(330):
            actions = choose(rng, fast, "uniform")
            fast.step(actions)
            slow.step(actions)
            ended += int(fast.terminated.sum())
            for name in ("player", "legal_words", "terminated", "rewards", "scores", "final_scores", "seeds"):
                np.testing.assert_array_equal(getattr(fast, name), getattr(slow, name), err_msg=name)
            if step % 20 == 0:
                compare(fast, slow, step)
        assert ended >= 8


@pytest.mark.parametrize("players", [2, 5])
def test_steps_in_some_of_the_games_are_equal_too(players: int) -> None:
    fast, slow = (school_v0.batch(12, num_players=players, seed=4, engine=engine) for engine in ("numpy", "python"))
    rng = np.random.default_rng(players)
    for step in range(80):
        where = rng.permutation(12)[: rng.integers(1, 12)]
        actions = choose(rng, fast, "exam-happy")[where]
        for games in (fast, slow):
            games.step(actions, where=where)
        compare(fast, slow, step)


@pytest.mark.parametrize("players", [2, 4])
def test_resample_and_copies_are_equal_too(players: int) -> None:
    rng = np.random.default_rng(players)
    fast, slow = (school_v0.batch(20, num_players=players, seed=3, engine=engine) for engine in ("numpy", "python"))
    for game in range(10):
        snapshot = late(players, rng, 0)
        for games in (fast, slow):
            games.restore(game, snapshot)
    for step in range(120):
        actions = choose(rng, fast, "draw-greedy" if step % 2 else "exam-happy")
        fast.step(actions)
        slow.step(actions)
        if step % 5 == 0:
            seat = None if step % 2 else step % players
            pair = [games.resample(seat, seed=step).take([3, 3, 7, 15]) for games in (fast, slow)]
            for _ in range(4):
                compare(pair[0], pair[1], 10)
                more = choose(rng, pair[0], "uniform")
                for games in pair:
                    games.step(more)


def test_keys_of_policies_do_not_depend_on_the_engine() -> None:
    fast, slow = (school_v0.batch(5, seed=3, engine=engine) for engine in ("numpy", "python"))
    np.testing.assert_array_equal(fast.policy_keys(7), slow.policy_keys(7))


# ------------------------------------------------------------------------------------------------- every game ends


def bounds(players: int) -> dict[str, int]:
    """S14. How often each kind of decision can be made in a game, in terms that only the deck's cards bound.

    Cards turned up (draws, examinations of three): all but those under the second special, and one for each of the
    seats that take a final examination. A stress card comes into play once: it makes its drawer discard two cards at
    most, and, when it is played, its target one; so the pool gets 3 · 22 cards and what examinations of three turn up,
    and no more can be picked. A card in front of a seat was dealt, turned up or picked, so that bounds the cards which
    examinations use (one of six cards asks for seven decisions at most, each uses three or more) or vacation takes.
    """
    turned_up = 110 - 3 * players - 10 + players
    stress = COPIES[STRESS]
    picks = 3 * stress + turned_up
    cards = 3 * players + turned_up + picks
    return {
        "turned up": turned_up,
        "stop drawing": turned_up,
        "pick": picks,
        "exam, sixth, stack, keep": cards * 7 // 6,
        "practice": (players - 1) * cards // 3,
        "stress": stress,
        "stop stress": stress,
        "discard": 3 * stress,
        "exam declined": 2 * players,
    }


LONG_STYLES: Final = (
    "uniform",
    "hoarding",
    "pool first",
    "stress and pool",
    "deck last",
    "practice and keep",
    "first id",
    "last id",
)


def dawdle(rng: np.random.Generator, games: Batch, style: str) -> npt.NDArray[np.intp]:
    """Play that is meant to go on for as long as possible."""
    legal, phase = games.legal, games.phase
    weight = rng.random(legal.shape)
    exams, stress, kinds = EXAM_IDS, STRESS_IDS, TYPE_IDS
    if style == "hoarding":
        return choose(rng, games, style)
    if style == "pool first":  # everything that costs no card of the deck
        weight[:, kinds] *= 1000
        weight[:, Action.STOP] *= 100
        weight[:, exams] *= 0.01
    elif style == "stress and pool":
        weight[:, stress] *= 1000
        weight[:, kinds] *= 100
        weight[:, Action.STOP] *= np.where(phase == Phase.RELAX, 0.01, 1)
    elif style == "deck last":
        weight[:, Action.DRAW] *= 0.001
        weight[:, Action.EXAM : Action.EXAM + 25] *= 0.01
        weight[:, Action.EXAM + 55 :] *= 100
    elif style == "practice and keep":
        weight[:, exams] *= np.where(phase == Phase.TURN, 0.001, 100)[:, None]
        weight[:, Action.DRAW] *= np.where(phase == Phase.DRAW, 3, 0.1)
    elif style == "first id":
        weight = np.tile(np.arange(legal.shape[1], 0, -1.0), (len(legal), 1))
    elif style == "last id":
        weight = np.tile(np.arange(1.0, legal.shape[1] + 1), (len(legal), 1))
    chosen: npt.NDArray[np.intp] = (weight * legal).argmax(axis=1)
    return chosen


@pytest.mark.parametrize("players", range(2, 7))
def test_no_play_goes_on_for_longer_than_the_rules_bound_it(players: int) -> None:
    limits = bounds(players)
    assert sum(limits.values()) < 1000 * players  # R6: by default no game is truncated
    longest: Counter[str] = Counter()
    for number, style in enumerate(LONG_STYLES):
        games = school_v0.batch(25, num_players=players, seed=number)
        rng = np.random.default_rng(number)
        made = {kind: np.zeros(25, dtype=int) for kind in limits}
        turned_up = np.zeros(25, dtype=int)
        while (running := games.player >= 0).any():
            phase, actions = games.phase, dawdle(rng, games, style)
            draw, stop, exam = actions == Action.DRAW, actions == Action.STOP, actions >= Action.EXAM
            of_type = (actions >= Action.TYPE) & (actions < Action.STRESS)
            three = exam & (actions < Action.EXAM + 25)
            turned_up += (draw | three) & running
            for kind, those in (
                ("turned up", draw | three),
                ("stop drawing", stop & (phase == Phase.DRAW)),
                ("pick", of_type & (phase == Phase.TURN)),
                ("exam, sixth, stack, keep", exam & ~three),
                ("exam, sixth, stack, keep", of_type & np.isin(phase, [Phase.SIXTH, Phase.STACK, Phase.KEEP])),
                ("practice", phase == Phase.PRACTICE),
                ("stress", (actions >= Action.STRESS) & ~exam),
                ("stop stress", stop & (phase == Phase.RELAX)),
                ("discard", phase == Phase.DISCARD),
                ("exam declined", stop & (phase == Phase.EXAM)),
            ):
                made[kind] += those & running
            games.step(actions)
        assert games.terminated.all()
        total = sum(made.values())
        np.testing.assert_array_equal(total, games.decisions)  # every decision is of one of these kinds
        for kind, limit in limits.items():
            assert made[kind].max() <= limit, (style, kind)
            longest[kind] = max(longest[kind], int(made[kind].max()))
        for i in range(25):
            assert len(games.snapshot(i)["deck"]) == 110 - 3 * players - turned_up[i]
    never = [kind for kind in limits if not longest[kind]]
    assert never == (["stop stress"] if players == 2 else []), longest
