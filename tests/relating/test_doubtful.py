"""A person's decisions, and folding: no group holds two games that contradict each other."""

import itertools
from dataclasses import replace

from recorder.model import Game
from recorder.relating.duplicates import DuplicateGroup, ProbableDuplicate, fold
from recorder.relating.grouping import Decided
from recorder.relating.merge import merge_games

from .scenes import games_of, played


def test_decisions_join_groups_of_keys() -> None:
    decided = Decided(frozenset({("a", "c"), ("c", "d"), ("a", "elsewhere")}))
    assert decided.join([["a", "b"], ["c"], ["d"], ["e"]]) == [[0, 1, 2], [3]]
    assert Decided().join([["a"], ["b"]]) == [[0], [1]]


def test_decisions_that_contradict_each_other_keep_groups_apart() -> None:
    decided = Decided(frozenset({("a", "b"), ("b", "c")}), frozenset({("a", "c")}))
    assert decided.join([["a"], ["b"], ["c"]]) == [[0, 1], [2]]
    assert decided.part(["x", "a"], ["c"])
    assert not decided.part(["a"], ["b"])


def _probable_duplicate(key: str, other: str) -> ProbableDuplicate:
    return ProbableDuplicate(key, other, 20, 20, 20, 5.0, 40, (), ())


def test_a_game_that_fits_two_that_contradict_each_other_is_folded_into_one() -> None:
    facts = {"a": (1, 40), "b": (1, 40), "c": (1, 20), "d": (1, 30)}
    pairs = [_probable_duplicate(*pair) for pair in itertools.product("ab", "cd")]
    for order in itertools.permutations(pairs):
        stays = fold([DuplicateGroup(list(order), frozenset(itertools.product("ab", "cd")), facts)], facts)
        assert len(stays) == 2, "four views of two games"
        assert set(stays) == {"c", "d"}
        assert set(stays.values()) == {"a", "b"}
    every = frozenset(itertools.combinations("abcd", 2))
    assert fold([DuplicateGroup(pairs, every, facts)], facts) == {"b": "a", "c": "a", "d": "a"}
    assert fold([DuplicateGroup(pairs, every, facts)], {"b", "d"}) == {"d": "b"}


def _copy(game: Game, name: str) -> Game:
    """The same game as another log shows it."""
    seen = [replace(one, source=one.source and one.source._replace(sha256=name)) for one in game.observations]
    return replace(game, key=name * 20, observations=seen)


def test_a_decision_separates_what_several_logs_show_alike() -> None:
    game = max(played(games_of("a01_standard", "observer_Watcher")), key=lambda one: len(one.plies))
    copies = [_copy(game, name) for name in "abcd"]
    (whole,) = merge_games(copies)
    assert len(whole.merged_from) == 4
    apart = frozenset((min("b", name) * 20, max("b", name) * 20) for name in "acd")
    (rest,) = merge_games(copies, decided=Decided(apart=apart))
    assert rest.merged_from == [name * 20 for name in "acd"]
