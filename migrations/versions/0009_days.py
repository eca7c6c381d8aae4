"""The day of each game in the view of games, also where only the date is known."""

from __future__ import annotations

revision = "0009"
down_revision = "0008"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Nothing: each upgrade rebuilds the views from ``storage.schema.views``."""
