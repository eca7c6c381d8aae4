"""``ics-recorder publish``: an archive in a shared PostgreSQL database."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from recorder.archive.sharing.publishing import TEXTS, publish_archive
from recorder.cli.options import Command, archive_option, json_option
from recorder.cli.output import long_work, print_json, say
from recorder.text import plural

if TYPE_CHECKING:
    from recorder.archive.sharing.publishing import Published


def _check_url(_context: click.Context, _param: click.Parameter, value: str) -> str:
    from storage.publish.connection import url_error

    if (wrong := url_error(value)) is not None:
        raise click.UsageError(wrong)
    return value


@click.command(
    "publish",
    cls=Command,
    epilog="""\b
Examples:
  ics-recorder publish postgresql://db.example.org/chess
  ics-recorder publish --dry-run postgresql:///chess
  ics-recorder --db club.sqlite publish 'postgresql:///?service=chess'
""",
)
@click.argument("url", metavar="URL", callback=_check_url)
@click.option(
    "--with-text",
    type=click.Choice(TEXTS),
    show_default="as published before, else public",
    help="Chat to publish: kibitz and whisper, or none.",
)
@click.option("-n", "--dry-run", is_flag=True, help="Report what would change; change nothing.")
@json_option
@archive_option
def command(url: str, with_text: str | None, dry_run: bool, as_json: bool, where: str) -> None:
    """Copy the archive into a PostgreSQL database for analysts.

    Games, plies, events and analyses are copied as `db share` writes them: without log bytes, paths, tells and typed
    input. The first run makes the tables and views. Later runs copy what has changed, and continue an interrupted run.
    Several archives can be in one database.

    URL is postgresql://USER@HOST:PORT/DATABASE without a password: give that in PGPASSWORD, ~/.pgpass or the service
    file. PostgreSQL 15 or newer and the extra `postgres` are needed. In Python, recorder.Tables(URL) reads the
    database.
    """
    with long_work(steps=True) as progress:
        published = publish_archive(where, url, with_text=with_text, dry_run=dry_run, progress=progress)
    if as_json:
        print_json({"dry_run": dry_run} | published._asdict())
    else:
        say(_summary(published, dry_run=dry_run))
        if with_text is None and published.with_text == "none":
            say("No chat is published, as before; --with-text public publishes it.")


def _summary(published: Published, *, dry_run: bool) -> str:
    if published.unchanged:
        return f"Nothing to publish: the archive of {plural(published.games, 'game')} has not changed."
    counts = f"{published.added:,} added, {published.changed:,} changed, {published.deleted:,} deleted"
    words = f"{plural(published.games, 'game')}: {counts}"
    if dry_run:
        return f"{words}; nothing was published."
    analyses = f", {plural(published.analyses, 'analysis', 'analyses')}" if published.analyses else ""
    return f"Published. {words}; copied {plural(published.plies, 'ply', 'plies')}{analyses}."
