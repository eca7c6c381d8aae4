"""The lowest and the last clocks of games, so that lists of games need not read all plies."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0013"
down_revision = "0012"
branch_labels = None
depends_on = None

_PLIES = """
FROM segments t JOIN ply_lines l ON l.observation_id = t.observation_id AND l.line_no = 0
JOIN plies p ON p.id >= l.first_ply_id AND p.id < l.first_ply_id + l.ply_count AND p.ply BETWEEN t.from_ply AND t.to_ply
WHERE t.game_id = games.id"""
_LOWER = "min(coalesce(p.white_clock_ms, p.black_clock_ms), coalesce(p.black_clock_ms, p.white_clock_ms))"
_LEFT = "SELECT p.{0} {1} AND p.{0} IS NOT NULL ORDER BY t.seq DESC, p.id DESC LIMIT 1"


def upgrade() -> None:
    values = {
        "lowest_clock_ms": f"SELECT min({_LOWER}) {_PLIES}",
        "white_left_ms": _LEFT.format("white_clock_ms", _PLIES),
        "black_left_ms": _LEFT.format("black_clock_ms", _PLIES),
    }
    for name in values:
        op.add_column("games", sa.Column(name, sa.Integer(), nullable=True))
    op.execute(f"UPDATE games SET {', '.join(f'{name} = ({value})' for name, value in values.items())}")
