"""``ics-recorder conformance``: run any program against the cases of the protocol specification."""

from __future__ import annotations

from contextlib import nullcontext
from typing import TYPE_CHECKING

import click

from recorder.cli.options import Command, force_option, json_option
from recorder.cli.output import print_json, print_table, say
from recorder.conformance.runner import SETS
from recorder.errors import ExitCode
from recorder.text import clean, plural

if TYPE_CHECKING:
    from recorder.conformance.runner import ConformanceRun


@click.command(
    "conformance",
    cls=Command,
    context_settings={"ignore_unknown_options": True, "allow_interspersed_args": False},
    epilog="""\b
Examples:
  ics-recorder conformance python -m recorder.conformance
  ics-recorder conformance --rule S12 --rule B1-3 ./my-reader
  ics-recorder conformance --set valid --junit results.xml ./my-reader --stdio

\b
With --rule S12-4 the first example prints:
  Rule   Passed  Failed  Not supported
  S12-4       2       0              0
  own reader 0.1.0: 2 cases: 2 passed, 0 failed, 0 not supported.
""",
)
@click.argument("program", metavar="COMMAND...", nargs=-1, required=True, type=click.UNPROCESSED)
@click.option(
    "--rule",
    "rules",
    multiple=True,
    metavar="RULE",
    help="Run only the cases of this rule (S12-7) or family of rules (S12); repeatable.",
)
@click.option(
    "--set", "groups", multiple=True, type=click.Choice(SETS), help="Run only the cases of this set; repeatable."
)
@click.option("--junit", metavar="FILE", help="Also write the results to this file as JUnit XML.")
@force_option
@json_option
@click.pass_context
def command(
    ctx: click.Context,
    program: tuple[str, ...],
    rules: tuple[str, ...],
    groups: tuple[str, ...],
    junit: str | None,
    force: bool,
    as_json: bool,
) -> None:
    """Test a protocol reader with the specification's cases.

    Starts COMMAND once. Writes each case as one line to its standard input, and reads one JSON line from its standard
    output within 10 s. docs/protocol/conformance.md describes these lines. The exit status is 1 if a case fails or none
    passes.
    """
    from exporters.base import open_output
    from recorder.conformance.runner import json_of, junit_of, load_cases, run_cases, select_cases

    cases = select_cases(load_cases(), rules, groups)
    if not cases:
        raise click.UsageError("No case has this rule and set; docs/protocol lists the rules.")
    with nullcontext() if junit is None else open_output(junit, force) as out:
        run = run_cases(program, cases)
        if out is not None:
            out.write(junit_of(run))
    if as_json:
        print_json(json_of(run))
    else:
        _print(run)
    if not run.passed:
        ctx.exit(ExitCode.FINDINGS)


def _print(run: ConformanceRun) -> None:
    from recorder.conformance.runner import CaseOutcome, count_by_rule

    columns = ("Rule", "Passed", "Failed", "Not supported")
    print_table(columns, count_by_rule(run), right=columns[1:])
    for result in run.results:
        if result.outcome is CaseOutcome.FAILED:
            say(clean(f"{result.case.name} failed: {result.reason}"))
    counts = ", ".join(f"{run.count(outcome)} {outcome.value}" for outcome in CaseOutcome)
    say(clean(f"{run.claim.program}: {plural(len(run.results), 'case')}: {counts}."))
