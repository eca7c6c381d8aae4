"""A shared database: archives in PostgreSQL, for many analysts. Needs the extra ``postgres``."""
