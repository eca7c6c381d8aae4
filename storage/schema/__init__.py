"""Tables, views and revisions of an archive."""
