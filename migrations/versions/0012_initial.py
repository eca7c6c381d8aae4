"""The oldest schema that this program upgrades. New archives are made from ``storage.schema.tables``, not from here."""

from __future__ import annotations

revision = "0012"
down_revision = None
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Nothing: no archive is older, and an empty file becomes a new one."""
