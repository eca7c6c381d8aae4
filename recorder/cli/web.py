"""``ics-recorder web``: the archive as a site in the browser."""

from __future__ import annotations

from pathlib import Path

import click

from recorder.cli.options import Command, Rare, archive_option
from recorder.cli.output import say
from recorder.cli.recording_options import journal_dir_option
from recorder.errors import ExportError
from recorder.filters import read_duration_ms


@click.command(
    "web",
    cls=Command,
    epilog="""\b
Examples:
  ics-recorder web --db games.sqlite --open
  ics-recorder web --port 8080
  ics-recorder web --host 0.0.0.0 --token-file token.txt
""",
)
@archive_option
@journal_dir_option
@click.option(
    "--host",
    default="127.0.0.1",
    metavar="HOST",
    show_default=True,
    help="Address to listen on. With another one, other computers reach the site and need the token.",
)
@click.option(
    "--port",
    type=click.IntRange(0, 65535),
    default=8000,
    metavar="PORT",
    show_default=True,
    help="Port to listen on; 0: any free one.",
)
@click.option("--open", "open_browser", is_flag=True, help="Open the site in the default browser.")
@click.option(
    "--token-file",
    type=click.Path(dir_okay=False, path_type=Path),
    metavar="FILE",
    help="File with the token that readers must give once; without it, ICS_RECORDER_WEB_TOKEN.",
)
@click.option(
    "--trust-proxy",
    cls=Rare,
    is_flag=True,
    help="A proxy in front of the site decides who reads it: accept any host name, and make no token.",
)
@click.option(
    "--live-delay",
    cls=Rare,
    metavar="TIME",
    default="0",
    help="Show each move in /live.pgn so much later, such as 15m; the page Live shows it at once.",
)
def command(
    where: str,
    journal_dir: Path,
    host: str,
    port: int,
    open_browser: bool,
    token_file: Path | None,
    trust_proxy: bool,
    live_delay: str,
) -> None:
    """Serve the archive as a site: search, replay and watch games.

    The site reads the archive and the journals in --journal-dir and never writes them. It keeps the columnar copy and
    the index of positions beside the archive up to date. Its address is printed to stdout; Ctrl-C ends it. Requires the
    extra `web`.

    Only this computer reaches the site by default. With another --host, readers must give a token once, in a form or in
    the header `Authorization: Bearer TOKEN`: that of --token-file or ICS_RECORDER_WEB_TOKEN, or a new one that is
    printed. Lines of logs, tells and comments are shown on this computer only: elsewhere, and with --trust-proxy, the
    site shows what `db share` keeps. /live.pgn has the games in progress, for broadcasts.
    """
    from recorder.live.net.sockets import Address

    try:
        from recorder.web.server import read_token, serve
    except ModuleNotFoundError as error:
        name = (error.name or "").partition(".")[0]
        if name not in ("uvicorn", "starlette", "jinja2", "markupsafe", "anyio", "h11"):
            raise
        raise ExportError(f"The site needs {name}: pip install 'ics-recorder[web]'.") from error
    try:
        token = read_token(token_file)
    except ValueError as error:
        raise click.UsageError(str(error)) from None

    try:
        delay_ms = read_duration_ms(live_delay)
    except ExportError as error:
        raise click.BadParameter(str(error), param_hint="--live-delay") from error

    def started(url: str, made: str | None) -> None:
        click.echo(url)
        if made is not None:
            say(f"Token: {made}")
        say("Ctrl-C ends the site.")
        if open_browser:
            click.launch(url)

    serve(
        where,
        journal_dir,
        Address(host, port),
        token=token,
        behind_proxy=trust_proxy,
        delay_ms=delay_ms,
        started=started,
    )
