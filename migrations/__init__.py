"""Alembic's script directory, packaged: ``storage.schema.upgrade`` runs it, no ``alembic.ini`` is needed."""
