"""The origin of plies whose times a comment of an engine's program has, in the view of plies."""

from __future__ import annotations

revision = "0012"
down_revision = "0011"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Nothing: each upgrade rebuilds the views from ``storage.schema.views``."""
