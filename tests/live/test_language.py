"""The language of ``--observe``."""

import re
from fractions import Fraction
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recorder.errors import PolicyError
from recorder.live.policy.language import (
    CATEGORIES,
    FIELDS,
    TITLES,
    WORDS,
    And,
    Category,
    Compare,
    Expression,
    Not,
    Or,
    Plays,
    Word,
    format_policy,
    parse_handles,
    parse_policy,
    words_of,
)
from recorder.rules.variants import SPEEDS, VARIANTS, read_category

PAGE = (Path(__file__).parents[2] / "docs/reference/observe.md").read_text(encoding="utf-8")


def examples(kind: str) -> list[str]:
    """Return the lines of the page's code blocks of one kind."""
    blocks = re.findall(rf"^```{kind}\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)
    assert blocks
    return [line for block in blocks for line in block.splitlines()]


def test_the_example_of_the_command_line() -> None:
    assert parse_policy("rated & (blitz | standard) & rating > 2000") == And(
        (
            Word("rated"),
            Or((Category("blitz"), Category("standard"))),
            Compare("rating", ">", Fraction(2000)),
        )
    )


@pytest.mark.parametrize(
    ("text", "tree"),
    [
        ("RATED", Word("rated")),
        ("not guest", Not(Word("guest"))),
        ("!!gm", Not(Not(Word("gm")))),
        ("rated and(blitz)", And((Word("rated"), Category("blitz")))),
        ("rated && blitz || guest", Or((And((Word("rated"), Category("blitz"))), Word("guest")))),
        ("! rated & blitz", And((Not(Word("rated")), Category("blitz")))),
        ("wild(22)|Wild/fr", Or((Category("wild(22)"), Category("wild/fr")))),
        ('"Seirawan/0"', Category("seirawan/0")),
        ("base>=0.5", Compare("base", ">=", Fraction(1, 2))),
        ("number==12", Compare("number", "=", Fraction(12))),
        ("player Morphy", Plays("player", "Morphy")),
        ('white "and"', Plays("white", "and")),
        ("black 123", Plays("black", "123")),
        ("player rated", Plays("player", "rated")),
        ("(rated & blitz) & guest", And((And((Word("rated"), Category("blitz"))), Word("guest")))),
    ],
)
def test_trees(text: str, tree: Expression) -> None:
    assert parse_policy(text) == tree
    assert parse_policy(format_policy(tree)) == tree


@pytest.mark.parametrize(
    "word", [*(variant.name for variant in VARIANTS), *sorted(SPEEDS), "non-standard", "zh", "3check", "koth"]
)
def test_every_word_that_a_server_prints_can_be_chosen(word: str) -> None:
    assert parse_policy(f"rated & {word.title()}") == And((Word("rated"), Category(word)))
    assert format_policy(Category(word)) == word


@pytest.mark.parametrize("text", examples("policy"))
def test_examples_of_the_page_are_read(text: str) -> None:
    tree = parse_policy(text)
    assert parse_policy(format_policy(tree)) == tree


def test_the_page_names_every_word() -> None:
    table = PAGE[PAGE.index("| part |") : PAGE.index("Signs are")]
    words = set(re.findall(r"[a-z0-9_]+", " ".join(re.findall(r"`([^`]*)`", table))))
    assert {*WORDS, *TITLES, *CATEGORIES, *FIELDS} <= words


@pytest.mark.parametrize("line", examples("refused"))
def test_refusals_of_the_page(line: str) -> None:
    text, _, message = line.rpartition(" | Column ")
    with pytest.raises(PolicyError) as caught:
        parse_policy(text)
    assert str(caught.value) == f"Column {message}"


@pytest.mark.parametrize(
    ("text", "column", "expected"),
    [
        ("", 1, "empty"),
        ("   ", 1, "empty"),
        ("rated &", 8, "found the end"),
        ("& rated", 1, "expected a word"),
        ("rated)", 6, "closes nothing"),
        ("rated $ blitz", 7, "is unexpected"),
        ('player "Mor', 8, "closing"),
        ("2000 < rating", 1, "a number stands behind its sign"),
        ("rating > blitz", 10, "expected a number"),
        ("rating > 2000abc", 10, "expected a number"),
        ("player &", 8, "expected a handle"),
        ('player "two words"', 8, "is no handle"),
        ('""', 1, "must have a name"),
        ("Morphy", 1, "player Morphy"),
        ("Kungfu", 1, 'for a type that only your server has "Kungfu"'),
        ("capablanka", 1, "did you mean capablanca?"),
        ("rating > " + "9" * 30, 10, "more than 20 digits"),
    ],
)
def test_errors_name_the_column_and_what_was_expected(text: str, column: int, expected: str) -> None:
    with pytest.raises(PolicyError, match=re.escape(expected)) as caught:
        parse_policy(text)
    assert caught.value.column == column


def test_deep_nesting_is_refused() -> None:
    assert parse_policy("(" * 100 + "rated" + ")" * 100) == Word("rated")
    for text in ("(" * 5000 + "rated", "!" * 5000 + "rated"):
        with pytest.raises(PolicyError, match="nested more than 100 deep"):
            parse_policy(text)
    with pytest.raises(PolicyError, match="characters"):
        parse_policy("rated & " * 20_000)


pieces = st.sampled_from(
    [
        *"<>=!&|()\"' ",
        "rated",
        "rating",
        "blitz",
        "player",
        "and",
        "or",
        "not",
        "2000",
        "0.5",
        "wild/fr",
        "wild(2)",
        "Xy",
    ]
)


@given(st.text(max_size=60) | st.lists(pieces, max_size=25).map(" ".join) | st.lists(pieces, max_size=25).map("".join))
def test_any_text_is_read_or_refused(text: str) -> None:
    problem: PolicyError | None = None
    try:
        tree = parse_policy(text)
    except PolicyError as error:
        problem = error
    if problem is None:
        assert parse_policy(format_policy(tree)) == tree
    else:
        assert problem.column is None or 1 <= problem.column <= len(text) + 1
        assert "\n" not in str(problem)


leaves: st.SearchStrategy[Expression] = st.one_of(
    st.sampled_from([*WORDS, *TITLES]).map(Word),
    st.sampled_from([*CATEGORIES, "wild/fr", "wild(22)", "seirawan/0", "some thing"]).map(Category),
    st.builds(
        Compare,
        st.sampled_from(FIELDS),
        st.sampled_from(["<", "<=", ">", ">=", "=", "!="]),
        st.integers(0, 10**7).map(lambda value: Fraction(value, 1000)),
    ),
    st.builds(
        Plays, st.sampled_from(["player", "white", "black"]), st.from_regex(r"[A-Za-z0-9_-]{1,20}", fullmatch=True)
    ),
)


def joined(inner: st.SearchStrategy[Expression]) -> st.SearchStrategy[Expression]:
    parts = st.lists(inner, min_size=2, max_size=4).map(tuple)
    return st.one_of(inner.map(Not), parts.map(And), parts.map(Or))


@given(st.recursive(leaves, joined, max_leaves=20))
def test_a_tree_as_written_is_parsed_as_the_same_tree(tree: Expression) -> None:
    assert parse_policy(format_policy(tree)) == tree


def test_trees_with_different_meanings_are_not_equal() -> None:
    assert parse_policy("rated & gm") != parse_policy("rated | gm")
    assert parse_policy("rated") != parse_policy('"rated"')


def test_words_are_found_anywhere_in_an_expression() -> None:
    assert words_of(parse_policy("(blitz | !examined) & (gm | rating > 1 | player private)")) == {"examined", "gm"}


def test_handles() -> None:
    assert parse_handles("\n".join(examples("handles"))) == ("Morphy", "Steinitz")
    assert parse_handles("a\nA # again\n\r\nb_1-x\n") == ("a", "b_1-x")
    assert parse_handles("") == ()
    with pytest.raises(PolicyError, match="Line 2 of the list of handles holds 'two words'"):
        parse_handles("one\ntwo words\n")


@given(st.text(max_size=80))
def test_any_list_of_handles_is_read_or_refused(text: str) -> None:
    try:
        handles = parse_handles(text)
    except PolicyError:
        return
    assert parse_handles("\n".join(handles)) == handles


def test_words_for_variants_are_those_of_the_name_table() -> None:
    speeds_and_families = {"wild", "nonstandard"}
    for name in CATEGORIES:
        variant = read_category(name)
        assert name in speeds_and_families if variant is None else variant in ("chess", name)
