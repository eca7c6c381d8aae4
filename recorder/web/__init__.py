"""The archive as a site in the browser: ``ics-recorder web``. Nothing here is imported by other commands."""
