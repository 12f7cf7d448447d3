"""The paper's experiments, by one command."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import click
from tqdm import tqdm

from zshash.cli.options import files_option, json_option, method_names
from zshash.cli.terminal import OutputFile, print_json
from zshash.datasets import DataError
from zshash.experiments.reproduction import (
    NAMES,
    Changes,
    Experiment,
    Reproduction,
    Sources,
    available_cores,
    read_experiment,
)
from zshash.experiments.reproduction.report.inline import plain
from zshash.hashing.registry import METHODS

__all__ = ["reproduce"]

ALL_METHODS = "all"


@click.command()
@click.argument("experiments", nargs=-1, metavar="[EXPERIMENT]...")
@click.option("--all", "everything", is_flag=True, help="Run all experiments.")
@click.option("--quick", is_flag=True, help="Run small versions, on handwritten digits.")
@click.option("--list", "listing", is_flag=True, help="List the experiments and run none.")
@click.option(
    "--output",
    "-o",
    metavar="NAME",
    type=OutputFile(is_stem=True),
    help="Where to write: NAME.md, NAME.html and the folder NAME. Runs that it holds are not run "
    "again.  [default: reproduction, or reproduction-quick]",
)
@click.option(
    "--seeds",
    type=click.IntRange(1),
    help="Runs of each task.  [default: 5, of seen-ratio and alignment 20]",
)
@click.option(
    "--method",
    "methods",
    multiple=True,
    type=click.Choice([ALL_METHODS, *METHODS], case_sensitive=False),
    metavar=f"[{ALL_METHODS}|{method_names[1:]}",
    help="Method, several times for several of them, where an experiment compares methods.",
)
@click.option(
    "--bits",
    multiple=True,
    type=click.IntRange(8, 1024),
    help="Bits of a code, several times for several lengths.",
)
@click.option(
    "--data",
    metavar="DATA",
    help="Search this data, as for fit, in place of the experiment's own: an ILSVRC folder for "
    "imagenet and related, MIRFlickr for mirflickr.",
)
@click.option(
    "--training",
    metavar="DATA",
    help="Learn from this data in mirflickr, from ILSVRC for instance.",
)
@files_option
@click.option(
    "--jobs",
    default=available_cores(),
    type=click.IntRange(1),
    help="Processes to work in.  [default: one for each core]",
)
@click.option("--fresh", is_flag=True, help="Run again what has been run.")
@click.option(
    "--report-only", is_flag=True, help="Write the report from what has been run, and run nothing."
)
@json_option
def reproduce(
    experiments: tuple[str, ...],
    everything: bool,
    listing: bool,
    output: Path | None,
    files: Path | None,
    jobs: int,
    fresh: bool,
    report_only: bool,
    as_json: bool,
    **changes: Any,
) -> None:
    """Run the experiments of the zero-shot hashing paper again, and write a report.

    EXPERIMENT is one of those that --list shows, or a configuration of your own in TOML. Features
    and word vectors are in the folder that the environment variable ZSHASH_DATA names, by default
    ../shared/data. An interrupted run goes on where it ended; the report is written from the
    results alone.
    """
    if listing:
        _print_list()
        return
    if fresh and report_only:
        raise click.UsageError("--fresh and --report-only exclude each other")
    wanted = _changes(**changes)
    chosen = [read_experiment(name, wanted) for name in _names(experiments, everything)]
    _refuse_same_names([experiment.name for experiment in chosen])
    _refuse_useless(wanted, chosen)
    output = _output(output, wanted.quick)
    work = Reproduction(chosen, output, Sources(files, progress=True), fresh)
    if not report_only:
        _run(work, jobs)
    elif not work.has_results():
        raise click.UsageError(
            f"{output / 'runs'} holds no result of this: leave --report-only out"
        )
    judged = work.report()
    told = {name: [vars(claim) for claim in claims] for name, claims in judged.items()}
    if as_json:
        failed = {} if report_only else work.plan.impossible
        print_json({"claims": told, "not run": failed, "report": f"{output}.html"})
        return
    for name, claims in judged.items():
        for claim in claims:
            click.echo(f"{name:<16} {claim.verdict:<14} {plain(claim.statement)}")
    click.echo(f"Report: {output}.html and {output}.md, from the results in {output}/runs")


def _names(experiments: tuple[str, ...], everything: bool) -> tuple[str, ...]:
    if everything and experiments:
        raise click.UsageError("--all runs all experiments: name none, or leave it out")
    if not everything and not experiments:
        raise click.UsageError(f"say which experiment: --all, or {', '.join(NAMES)}")
    return NAMES if everything else tuple(dict.fromkeys(experiments))


def _changes(
    quick: bool,
    seeds: int | None,
    methods: tuple[str, ...],
    bits: tuple[int, ...],
    data: str | None,
    training: str | None,
) -> Changes:
    if quick and (data or training):
        raise click.UsageError("--quick has data of its own: leave --data and --training out")
    chosen = tuple(METHODS) if ALL_METHODS in methods else tuple(dict.fromkeys(methods))
    return Changes(quick, seeds, chosen, tuple(sorted(set(bits))), data, training)


def _refuse_same_names(names: list[str]) -> None:
    several = sorted({name for name in names if names.count(name) > 1})
    if several:
        raise click.UsageError(f"two experiments are called {several[0]}: rename a file")


def _refuse_useless(wanted: Changes, experiments: Sequence[Experiment]) -> None:
    """An option that changes nothing is a mistake."""
    unused = [set(wanted.without_effect(experiment.tasks)) for experiment in experiments]
    for option in sorted(set.intersection(*unused)):
        names = ", ".join(experiment.name for experiment in experiments)
        raise click.UsageError(f"{option} changes nothing in {names}: leave it out")


def _output(output: Path | None, quick: bool) -> Path:
    """The stem of all that is written."""
    if output is None:
        return Path("reproduction-quick" if quick else "reproduction")
    stem = output.with_suffix("") if output.suffix in (".html", ".md") else output
    if not stem.name or stem.name == "..":
        raise click.BadParameter("give a name, such as report", param_hint="--output")
    return stem


def _run(work: Reproduction, jobs: int) -> None:
    """Run what is missing, and say what can not be run; nothing at all is a mistake."""
    plan = work.plan
    shared: dict[str, list[str]] = {}
    for name, reason in plan.impossible.items():
        shared.setdefault(reason, []).append(name)
    reasons = [f"{', '.join(names)} can not be run: {why}" for why, names in shared.items()]
    if len(plan.impossible) == len(work.experiments):
        raise DataError("; ".join(reasons))
    for reason in reasons:
        click.echo(reason, err=True)
    bar = tqdm(
        total=len(plan.jobs) + plan.n_finished,
        initial=plan.n_finished,
        desc="runs",
        disable=None,
        smoothing=0.1,
    )
    try:
        with bar:
            for job in work.run(jobs):
                bar.set_postfix_str(f"{job.task.method}, {job.task.bits} bits", refresh=False)
                bar.update()
    except KeyboardInterrupt:
        click.echo("\nInterrupted. The same command goes on from what has been run.", err=True)
        raise


def _print_list() -> None:
    for name in NAMES:
        experiment = read_experiment(name)
        n_runs = len(experiment.tasks) * experiment.seeds
        click.echo(f"{name:<16} {experiment.title} ({n_runs} runs)")
