"""What chessd's Portuguese says where the rest of a line does not tell the same.

A win or a draw is told by its token, whatever the words; but ``*`` may be an adjourned game or an aborted one, and only
the words say which. The server's text is UTF-8, and clients may have made latin-1 of it.
Source: the messages of chessd (po/pt_BR.po).
"""

from __future__ import annotations

from contextlib import suppress

__all__ = ["CONTINUING", "RATED", "RUNNING", "UNRATED", "unended_key"]

RATED = "classificada"
UNRATED = r"n\S{1,2}o-classificada"
"""The words for rated and unrated, as part of a pattern."""
CONTINUING = "Continuando"
RUNNING = "Ainda em progresso"
"""What a movelist of a game that goes on ends with."""

_WHOLE = {
    "Jogo bughouse abortado": "aborted-bug",
    "Jogo adiado por acordo mútuo": "adjourned-agreed",
    "Jogo abortado por acordo mútuo": "aborted-agreed",
    "Jogo abortado por adjudicação": "aborted-adjudicated",
    "adiado": "adjourned-lost",
    "abortado": "aborted-lost",
}
_AFTER_NAME = {
    " perdeu a conexão; jogo adiado": "adjourned-lost",
    " perdeu a conexão; jogo abortado": "aborted-lost",
    " perderam a conexão, jogo adiado": "adjourned-lost",
}
_BEFORE_NAME = {
    "Jogo courtesyadiado por ": "adjourned-courtesy",
    "Jogo courstesyadiado por ": "adjourned-courtesy",
    "Jogo courtesyabortado por ": "aborted-courtesy",
    "Jogo bughouse courtesyabortado por ": "aborted-bug",
}
_COLOURS = ("Brancas", "Pretas")


def unended_key(words: str, white: str, black: str) -> tuple[str, str | None]:
    """The normalised reason of a game without a result, and the handle that it names.

    Args:
        words: as printed, latin-1 for the bytes. white, black: the handles; movelists name colours.
    Returns:
        Key ``unknown`` when the words are none of the known ones.
    """
    with suppress(UnicodeError):  # one byte a letter
        words = words.encode("latin-1").decode("utf-8")
    if words in _WHOLE:
        return _WHOLE[words], None
    names = ((white, white), (black, black), *zip((f"As {name}" for name in _COLOURS), (white, black), strict=True))
    for name, actor in names:
        if words.startswith(name) and words[len(name) :] in _AFTER_NAME:
            return _AFTER_NAME[words[len(name) :]], actor
    for before, key in _BEFORE_NAME.items():
        for name, actor in ((white, white), (black, black), *zip(_COLOURS, (white, black), strict=True)):
            if words == before + name:
                return key, actor
    return "unknown", None
