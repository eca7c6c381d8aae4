"""Starts, observations, offers, clocks, examined games: both ways."""

import pytest

from recorder.dialects.notices import (
    format_created,
    format_creating,
    format_header,
    format_observing,
    parse_created,
    parse_creating,
    parse_examine,
    parse_header,
    parse_notice,
    parse_observing,
    parse_partner,
)
from recorder.events import (
    CreatingLine,
    ExamineNotice,
    GameCreated,
    GameHeader,
    GameNotice,
    GameNoticeKind,
    Line,
    ObservingEnded,
    ObservingStarted,
    PartnerPlays,
    RatingText,
)
from tests.dialects.lines import recognise

K = GameNoticeKind


@pytest.mark.parametrize(
    ("text", "facts"),
    [
        (
            "Creating: gbtami (1708) ggbtami (++++) unrated blitz 5 0",
            ("gbtami", (1708, "1708"), "ggbtami", (None, "++++"), None, False, "blitz", 5, 0, False),
        ),
        (
            "Creating: ahanft ( 191) EnnMal ( 989) rated blitz 7 3",
            ("ahanft", (191, "191"), "EnnMal", (989, "989"), None, True, "blitz", 7, 3, False),
        ),
        (
            "Creating: A (1467P) [white] B (----) rated wild/fr 2 12 (adjourned)",
            ("A", (1467, "1467P"), "B", (None, "----"), True, True, "wild/fr", 2, 12, True),
        ),
        (
            "Creating: A (2158E) [black] B (----) rated blitz bughouse 2 12",
            ("A", (2158, "2158E"), "B", (None, "----"), False, True, "blitz bughouse", 2, 12, False),
        ),
    ],
)
def test_creating(text: str, facts: tuple[object, ...]) -> None:
    got = parse_creating(Line(text, 0))
    assert isinstance(got, CreatingLine)
    assert (
        got.first,
        got.first_rating[::-1],
        got.second,
        got.second_rating[::-1],
        got.first_is_white,
        got.rated,
        got.category,
        got.base_min,
        got.increment_s,
        got.adjourned,
    ) == facts
    assert format_creating(got) == text


@pytest.mark.parametrize(
    ("text", "facts"),
    [
        ("{Game 107 (A vs. B) Creating unrated blitz match.}", (107, "A", "B", False, "blitz", False, False)),
        ("{Game 166 (xufei vs. c) Continuing rated blitz match.}", (166, "xufei", "c", True, "blitz", True, False)),
        ("{Game 3 (A vs. B) Creating rated wild/8a simul.}", (3, "A", "B", True, "wild/8a", False, True)),
        (
            "{Game 3 (A vs. B) Creating rated blitz bughouse match.}",
            (3, "A", "B", True, "blitz bughouse", False, False),
        ),
        ("{Game 3 (A vs. B) Creating match.}", (3, "A", "B", None, None, False, False)),
        (
            "{Game 3 (A vs. B) Creating unrated slow chess960 match.}",
            (3, "A", "B", False, "slow chess960", False, False),
        ),
    ],
)
def test_created(text: str, facts: tuple[object, ...]) -> None:
    got = parse_created(Line(text, 0))
    assert isinstance(got, GameCreated)
    assert (got.game_no, got.white, got.black, got.rated, got.category, got.continued, got.simul) == facts
    assert format_created(got) == text


def test_created_without_a_type_as_lasker_may_write() -> None:
    (event,) = recognise("{Game 3 (A vs. B) Creating unrated  match.}")
    assert isinstance(event, GameCreated)
    assert (event.rated, event.category) == (False, None)


def test_a_token_behind_it_makes_no_end_of_it() -> None:
    (event,) = recognise("{Game 3 (A vs. B) Creating rated blitz match.} *")
    assert isinstance(event, GameCreated)


def test_created_with_ratings_and_a_token() -> None:
    got = parse_created(Line("{Game 3 (A(1500) vs. B (1600)) Creating rated blitz match.} *", 0))
    assert isinstance(got, GameCreated)
    assert (got.white, got.black) == ("A", "B")


@pytest.mark.parametrize(
    ("text", "facts"),
    [
        ("Game 463: A (2243) B (2158E) rated standard 45 45", (463, "A", 2243, "B", 2158, True, "standard", 45, 45)),
        ("Game 1: L (   0) L (   0) unrated untimed 0 0", (1, "L", 0, "L", 0, False, "untimed", 0, 0)),
        (
            "Game 4: T (----) G (++++) unrated blitz crazyhouse 3 0",
            (4, "T", None, "G", None, False, "blitz crazyhouse", 3, 0),
        ),
    ],
)
def test_header(text: str, facts: tuple[object, ...]) -> None:
    got = parse_header(Line(text, 0))
    assert isinstance(got, GameHeader)
    assert (
        got.game_no,
        got.white,
        got.white_rating.value,
        got.black,
        got.black_rating.value,
        got.rated,
        got.category,
        got.base_min,
        got.increment_s,
    ) == facts
    assert format_header(got) == text


def test_the_rating_keeps_its_text() -> None:
    got = parse_header(Line("Game 463: A (2158E) B (----) rated standard 45 45", 0))
    assert isinstance(got, GameHeader)
    assert got.white_rating == RatingText("2158E", 2158)


@pytest.mark.parametrize(
    ("text", "kind", "game"),
    [
        ("You are now observing game 463.", ObservingStarted, 463),
        ("Adding game 12 to observation list", ObservingStarted, 12),
        ("Removing game 12 from observation list.", ObservingEnded, 12),
        ("Game 1 (which you were observing) has no examiners.", ObservingEnded, 1),
        ("You are no longer observing game 5.", ObservingEnded, 5),
    ],
)
def test_observing(text: str, kind: type, game: int) -> None:
    got = parse_observing(Line(text, 0))
    assert isinstance(got, kind)
    assert isinstance(got, ObservingStarted | ObservingEnded)
    assert got.game_no == game
    reread = parse_observing(Line(format_observing(got), 0))
    assert isinstance(reread, kind)


NOTICES = [
    ("X offers you a draw.", K.DRAW_OFFER, None, "X", None),
    ("Game 39: X offers a draw.", K.DRAW_OFFER, 39, "X", None),
    ("Offering a draw to Steinitz.", K.DRAW_OFFER, None, None, None),
    ("Game 39: X declines the draw request.", K.DRAW_DECLINED, 39, "X", None),
    ("Capablanca declines your draw offer.", K.DRAW_DECLINED, None, "Capablanca", None),
    ("Capablanca declines draw request.", K.DRAW_DECLINED, None, "Capablanca", None),
    ("Game 39: X accepts the draw request.", K.DRAW_ACCEPTED, 39, "X", None),
    ("You accept the draw request from X.", K.DRAW_ACCEPTED, None, None, None),
    ("Game 39: X withdraws the draw request.", K.OFFER_OTHER, 39, "X", None),
    ('X would like to abort the game; type "abort" to accept.', K.ABORT_REQUEST, None, "X", None),
    ("Game 4: X requests to abort the game.", K.ABORT_REQUEST, 4, "X", None),
    ("Requesting to abort game 1.", K.ABORT_REQUEST, 1, None, None),
    ("X requests to adjourn game 5.", K.ADJOURN_REQUEST, 5, "X", None),
    ("X would like to take back 2 half move(s).", K.TAKEBACK_REQUEST, None, "X", 2),
    ("Game 97: X requests to take back 1 half move(s).", K.TAKEBACK_REQUEST, 97, "X", 1),
    ("Game 1: TestGuestB requests to take back 2 half-move(s).", K.TAKEBACK_REQUEST, 1, "TestGuestB", 2),
    ("Game 97: X proposes a different number (3) of half-move(s) to take back.", K.TAKEBACK_REQUEST, 97, "X", 3),
    ("X proposes a different number (3) of half-move(s).", K.TAKEBACK_REQUEST, None, "X", 3),
    ("X accepts the takeback request.", K.TAKEBACK_ACCEPTED, None, "X", None),
    ("You accept the takeback request from X.", K.TAKEBACK_ACCEPTED, None, None, None),
    ("Declining the takeback request from X.", K.TAKEBACK_DECLINED, None, None, None),
    ("X has declined the takeback request.", K.TAKEBACK_DECLINED, None, "X", None),  # chessd
    ("Capablanca declines your abort request.", K.ABORT_DECLINED, None, "Capablanca", None),  # FatICS
    ("X declines abort request.", K.ABORT_DECLINED, None, "X", None),  # FICS 1.6.2, Lasker
    ("X accepts the abort request.", K.ABORT_ACCEPTED, None, "X", None),  # FICS
    ("Game 1: X accepts the abort request.", K.ABORT_ACCEPTED, 1, "X", None),
    ("You accept the abort request from X.", K.ABORT_ACCEPTED, None, None, None),
    ("Accepting the abort request from X.", K.ABORT_ACCEPTED, None, None, None),
    ("X withdraws abort request.", K.OFFER_OTHER, None, "X", None),
    ("X declines the adjourn request.", K.ADJOURN_DECLINED, None, "X", None),
    ("X accepts your adjourn request.", K.ADJOURN_ACCEPTED, None, "X", None),
    ("X requests to pause the game.", K.PAUSE_REQUEST, None, "X", None),
    ("Pause request sent.", K.PAUSE_REQUEST, None, None, None),
    ("X accepts the pause request.", K.PAUSE_ACCEPTED, None, "X", None),
    ("You accept the pause request from X.", K.PAUSE_ACCEPTED, None, None, None),
    ("X declines pause request.", K.PAUSE_DECLINED, None, "X", None),
    ("You decline the pause request from X.", K.PAUSE_DECLINED, None, None, None),
    ("X requests to unpause the game.", K.UNPAUSE_REQUEST, None, "X", None),  # Lasker, chessd
    ("Game 4: X requests to unpause the game.", K.UNPAUSE_REQUEST, 4, "X", None),
    ("Unpause request sent.", K.UNPAUSE_REQUEST, None, None, None),
    ("X accepts the unpause request.", K.UNPAUSE_ACCEPTED, None, "X", None),
    ("You accept the unpause request from X.", K.UNPAUSE_ACCEPTED, None, None, None),
    ("X declines the unpause request.", K.UNPAUSE_DECLINED, None, "X", None),
    ("You decline the unpause request from X.", K.UNPAUSE_DECLINED, None, None, None),
    ("X withdraws unpause request.", K.OFFER_OTHER, None, "X", None),
    ("X accepted pause. Game clock paused.", K.PAUSED, None, "X", None),
    ("Game 4: Game clock paused.", K.PAUSED, 4, None, None),
    ("Game clock resumed.", K.RESUMED, None, None, None),
    ("60 seconds were added to your opponents clock", K.TIME_ADDED, None, None, 60),
    ("60 seconds were added to your opponent's clock", K.TIME_ADDED, None, None, 60),
    ("Your opponent has added 60 seconds to your clock.", K.TIME_ADDED, None, None, 60),
    ("X has added 60 seconds to Y's clock.", K.TIME_ADDED, None, "X", 60),
    ("Game 236: X added 300 seconds to Y's clock.", K.TIME_ADDED, 236, "X", 300),
    ("Game 145: Your opponent, X, has lost contact or quit.", K.DISCONNECTED, 145, "X", None),
    ("You have added 5 seconds to Capablanca's clock.", K.TIME_ADDED, None, None, 5),
    ("Opponent has timeseal; checking if (s)he's lagging.", K.LAGGING, None, None, None),
    ("Game 12: X has lagged for 30 seconds.", K.LAGGING, 12, "X", 30),
    ("Illegal move (e5).", K.ILLEGAL_MOVE, None, None, None),
    ("Illegal move.", K.ILLEGAL_MOVE, None, None, None),
    ("It is not your move.", K.ILLEGAL_MOVE, None, None, None),
    ("Your opponent has lost contact or quit.", K.DISCONNECTED, None, None, None),
    ("Your opponent, Zukertort, has lost contact or quit.", K.DISCONNECTED, None, "Zukertort", None),
    ("Game 107: A disconnection will be considered a forfeit.", K.DISCONNECT_RULE, 107, None, None),
    ("No ratings adjustment done.", K.RATING_CHANGE, None, None, None),
    ("Lightning rating adjustment: 1325 --> 1316", K.RATING_CHANGE, None, None, None),
    ("Sorry, game 12 is a private game.", K.PRIVATE_GAME, 12, None, None),
]


@pytest.mark.parametrize(("text", "kind", "game", "actor", "value"), NOTICES)
def test_notices(text: str, kind: K, game: int | None, actor: str | None, value: int | None) -> None:
    got = parse_notice(Line(text, 0))
    assert isinstance(got, GameNotice)
    assert (got.kind, got.game_no, got.actor, got.value) == (kind, game, actor, value)
    assert got.text == text
    assert recognise(text) == [got], "and nothing else takes the line first"


EXAMINE = [
    ("Game 29: TibetianTick goes forward 22 moves.", "forward", 29, "TibetianTick", 22),
    ("Kramnik goes forward 1 move.", "forward", None, "Kramnik", 1),
    ("Game 29: guesttick backs up 9999 moves.", "backward", 29, "guesttick", 9999),
    ("Game 0: Kramnik reverts to mainline.", "revert", 0, "Kramnik", None),
    ("Game 3: X reverts to main line move 5.", "revert", 3, "X", 5),
    ("Game 3: X commits the subvariation.", "commit", 3, "X", None),
    ("Game 1: LectureBot moves: Nf3", "move", 1, "LectureBot", None),
    ("Kramnik moves: e4", "move", None, "Kramnik", None),
    ("Game 0: End of game.", "forward", 0, None, None),
    ("You're at the beginning of the game.", "backward", None, None, None),
    ("Entering setup mode.", "setup-begin", None, None, None),
    ("Entering examine(setup) mode.", "setup-begin", None, None, None),
    ("Game is validated - entering examine mode.", "setup-end", None, None, None),
    ("BLACK to move", "setup", None, None, None),
    ("Board set up by FEN.", "setup", None, None, None),
    ("Board set up as starting position.", "setup", None, None, None),
    ("Board cleared.", "setup", None, None, None),
    ("There is no white king.", "refused", None, None, None),
    ("The position is not valid - staying in setup mode.", "refused", None, None, None),
    ("You are still setting up the position.", "refused", None, None, None),
    ("You can't move backward yet, the postion is still being set up.", "refused", None, None, None),
    ("You cannot go forward; no moves are stored.", "refused", None, None, None),
    ("You cannot go forward unless you are on the main line.", "refused", None, None, None),
    ("Starting a game in examine (scratch) mode.", "start", None, None, None),
    ("Entering examine mode for game 12.", "start", 12, None, None),
    ("puzzlebot has made you an examiner of game 127.", "examiner", 127, "puzzlebot", None),
    ("GuestXk is now examiner of game 1.", "examiner", 1, "GuestXk", None),
    ("LectureBot stopped examining game 1.", "end", 1, "LectureBot", None),
    ("There are no examiners.", "end", None, None, None),
    ("Game 127: Black checkmated 1-0", "result", 127, None, None),
    ("Game 127: Still in progress *", "result", 127, None, None),
]


@pytest.mark.parametrize(("text", "kind", "game", "actor", "value"), EXAMINE)
def test_examine(text: str, kind: str, game: int | None, actor: str | None, value: int | None) -> None:
    got = parse_examine(Line(text, 0))
    assert isinstance(got, ExamineNotice)
    assert (got.kind, got.game_no, got.actor, got.value) == (kind, game, actor, value)
    assert got.text == text
    assert recognise(text) == [got]


def test_the_partners_game() -> None:
    text = "Your partner is playing game 59 (GuestXYBH vs. GuestVBTD)."
    got = parse_partner(Line(text, 0))
    assert isinstance(got, PartnerPlays)
    assert (got.partner_game_no, got.white, got.black) == (59, "GuestXYBH", "GuestVBTD")
    assert parse_partner(Line(f"A kibitzes: {text}", 0)) is None
