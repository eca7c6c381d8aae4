"""Alembic's script directory, packaged: ``storage.schema`` runs it, no ``alembic.ini`` is needed."""
