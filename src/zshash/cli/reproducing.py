"""The command that runs the studies."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import click
from tqdm import tqdm

from zshash.cli.options import (
    all_methods,
    files_option,
    json_option,
    method_names,
    tell_left_out,
)
from zshash.cli.parameters import Data, Integer, OutputFile, Text
from zshash.cli.terminal import print_json, refuse
from zshash.datasets import DataError
from zshash.evaluation.report.inline import plain
from zshash.evaluation.running import available_cores
from zshash.hashing.registry import METHODS
from zshash.scale import DeviceError
from zshash.studies import cnnh2014, mth2026, names2026, rivals2026
from zshash.studies.configuration import Study
from zshash.studies.data import Sources
from zshash.studies.experiments import Changes, Experiment
from zshash.studies.pages import PageReproduction
from zshash.studies.reproduction import PaperReproduction, Reproduction
from zshash.studies.zsh2016 import STUDY

__all__ = ["reproduce"]

ALL_METHODS = "all"
MTH = "mth"
OF_THE_PAPER = ("methods", "bits", "data", "training", "files")
ALONE = {  # studies whose experiments stand on a page of their own: its title and preface
    names2026.STUDY: (names2026.TITLE, names2026.PREFACE),
    rivals2026.STUDY: (rivals2026.TITLE, rivals2026.PREFACE),
    cnnh2014.STUDY: (cnnh2014.TITLE, cnnh2014.PREFACE),
}
ON_DEVICE = {MTH, *cnnh2014.STUDY.names}


@click.command()
@click.argument("experiments", nargs=-1, type=Text(), metavar="[EXPERIMENT]...")
@click.option("--all", "everything", is_flag=True, help="Run all experiments.")
@click.option(
    "--quick", is_flag=True, help="Run small versions of the experiments, on handwritten digits."
)
@click.option("--list", "listing", is_flag=True, help="List the experiments, and run none.")
@click.option(
    "--output",
    "-o",
    metavar="NAME",
    type=OutputFile(is_stem=True),
    help="Files to write: NAME.md, NAME.html and the folder NAME; for mth NAME.json, "
    "NAME-tables.md and NAME-tradeoff.svg. Runs that are stored there are not run again.  "
    "[default: reproduction, with --quick reproduction-quick; for mth transfer, for any-name, "
    "name-baselines, rivals and cnnh-pixels their own names, each with -quick, too]",
)
@click.option(
    "--seeds",
    type=Integer(1),
    help="Number of runs of each task.  [default: 5; 20 for seen-ratio and alignment; 1 or 5 for "
    "mth, by part]",
)
@click.option(
    "--method",
    "methods",
    multiple=True,
    type=click.Choice([ALL_METHODS, *METHODS], case_sensitive=False),
    metavar=f"[{ALL_METHODS}|{method_names[1:]}",
    help="Method to run in experiments that compare methods; may be repeated.",
)
@click.option(
    "--bits",
    multiple=True,
    type=Integer(8, 1024),
    help="Length of the codes in bits; may be repeated.",
)
@click.option(
    "--data",
    type=Data(),
    metavar="DATA",
    help="Data to search in place of the experiment's own, as for fit: an ILSVRC folder for the "
    "experiments imagenet and related, MIRFlickr for mirflickr.",
)
@click.option(
    "--training",
    type=Data(),
    metavar="DATA",
    help="Data to learn from in the experiment mirflickr, for instance an ILSVRC folder.",
)
@files_option
@click.option(
    "--jobs",
    type=Integer(1),
    help="Number of processes.  [default: one for each core; one with --device]",
)
@click.option(
    "--part",
    "parts",
    type=click.Choice(list(mth2026.PARTS)),
    multiple=True,
    help="Part of mth to run; may be repeated.  [default: all]",
)
@click.option(
    "--device",
    type=Text(),
    help='Device on which mth trains MTH, and cnnh-pixels its network, such as "cuda".  [default: '
    "the CPU]",
)
@click.option("--fresh", is_flag=True, help="Run everything again, stored runs included.")
@click.option(
    "--report-only", is_flag=True, help="Write the report from the stored runs, and run nothing."
)
@json_option
def reproduce(
    experiments: tuple[str, ...],
    everything: bool,
    listing: bool,
    output: Path | None,
    files: Path | None,
    jobs: int | None,
    fresh: bool,
    report_only: bool,
    as_json: bool,
    parts: tuple[str, ...],
    device: str | None,
    **changes: Any,
) -> None:
    """Run the experiments of the zero-shot hashing paper again, and write a report.

    EXPERIMENT is a name that --list shows, or the path of your own experiment in a TOML file.
    Features and word vectors are in the folder that the environment variable ZSHASH_DATA names, by
    default ../shared/data. After an interruption, give the same command again to go on. The report
    is written from the stored runs alone.

    mth is the study behind the method MTH: every method, with each category hidden in turn. It
    takes days, so --all leaves it out, and no other experiment can be named with it. The same
    holds for any-name, searches by names that nobody labelled, and for name-baselines, which
    compares them with related work; both take hours. The experiments
    whose names begin with rivals compare all methods and quantisers at equal bytes, and cnnh-pixels
    trains the network of CNNH on the pixels of CIFAR-10, which needs PyTorch; they, too, are named
    without others.
    """
    if listing:
        _print_list()
        return
    if fresh and report_only:
        raise click.UsageError(
            "--fresh and --report-only exclude each other: leave one of them out"
        )
    work: Reproduction
    if MTH in experiments:
        work = _study(experiments, everything, output, parts, device, fresh, **changes)
    else:
        refuse(("parts",), f"without {MTH}")
        if not ON_DEVICE & {*experiments}:
            refuse(("device",), f"without {' or '.join(sorted(ON_DEVICE))}")
        sources = Sources(files, progress=True, device=device or "cpu")
        work = _reproduction(experiments, everything, output, sources, fresh, changes)
    if ALL_METHODS in changes["methods"]:
        tell_left_out()
    if not report_only:
        try:
            _run(work, jobs or (1 if device else available_cores()))
        except DeviceError as error:
            raise click.BadParameter(str(error), param_hint="--device") from error
    elif not work.has_results():
        raise click.UsageError(f"{work.place} holds no run of this: leave --report-only out")
    _print_report(work, as_json, report_only)


def _study(
    experiments: tuple[str, ...],
    everything: bool,
    output: Path | None,
    parts: tuple[str, ...],
    device: str | None,
    fresh: bool,
    *,
    quick: bool,
    seeds: int | None,
    **_: Any,
) -> mth2026.MTHReproduction:
    """The study behind MTH."""
    if everything or set(experiments) != {MTH}:
        raise click.UsageError(f"{MTH} is a study of its own: name no other experiment with it")
    refuse(OF_THE_PAPER, f"with {MTH}")
    every = list(mth2026.PARTS.values())
    chosen = [mth2026.PARTS[name] for name in dict.fromkeys(parts)] or every
    size = mth2026.QUICK if quick else mth2026.FULL
    stem = _output(output, "transfer", quick)
    return mth2026.MTHReproduction(stem, every, chosen, size, seeds, device, fresh)


def _reproduction(
    experiments: tuple[str, ...],
    everything: bool,
    output: Path | None,
    sources: Sources,
    fresh: bool,
    changes: dict[str, Any],
) -> PaperReproduction:
    """Experiments of the paper, of a study with a page of its own, or a user's own."""
    wanted = _changes(**changes)
    study = _study_of(experiments, everything)
    chosen = [study.read(name, wanted) for name in _names(experiments, everything)]
    _refuse_same_names([experiment.name for experiment in chosen])
    _refuse_useless(wanted, chosen)
    if study in ALONE:
        stem = _output(output, chosen[0].name, wanted.quick)
        return PageReproduction(chosen, stem, sources, fresh, study.names, *ALONE[study])
    stem = _output(output, "reproduction", wanted.quick)
    return PaperReproduction(chosen, stem, sources, fresh, study.names)


def _study_of(experiments: tuple[str, ...], everything: bool) -> Study:
    """The study that has these experiments; a user's own are read as those of the paper."""
    for study in ALONE:
        named = set(experiments) & set(study.names)
        if named and (everything or set(experiments) != named):
            raise click.UsageError(
                f"{min(named)} is a study of its own: name no other experiment with it"
            )
        if named:
            return study
    return STUDY


def _print_report(work: Reproduction, as_json: bool, report_only: bool) -> None:
    judged = work.report()
    if as_json:
        told = {name: [vars(claim) for claim in claims] for name, claims in judged.items()}
        failed = {} if report_only else work.plan.impossible
        print_json({"claims": told, "not run": failed, "report": str(work.page)})
        return
    for name, claims in judged.items():
        for claim in claims:
            click.echo(f"{name:<16} {claim.verdict:<14} {plain(claim.statement)}")
    click.echo(f"Report: {work.files}")


def _names(experiments: tuple[str, ...], everything: bool) -> tuple[str, ...]:
    if everything and experiments:
        raise click.UsageError("--all runs all experiments: name none, or leave it out")
    if not everything and not experiments:
        raise click.UsageError(f"say which experiment: --all, or {', '.join(STUDY.names)}")
    return STUDY.names if everything else tuple(dict.fromkeys(experiments))


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
    chosen = all_methods() if ALL_METHODS in methods else tuple(dict.fromkeys(methods))
    for name in chosen:
        METHODS[name].check()
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
        raise click.UsageError(f"--{option} changes nothing in {names}: leave it out")


def _output(output: Path | None, usual: str, quick: bool) -> Path:
    """Stem of all files that are written."""
    if output is None:
        return Path(f"{usual}-quick" if quick else usual)
    stem = output.with_suffix("") if output.suffix in (".html", ".json", ".md") else output
    if not stem.name or stem.name == "..":
        raise click.BadParameter("give a name, such as report", param_hint="--output")
    return stem


def _run(work: Reproduction, jobs: int) -> None:
    """Run the missing runs and print what can not be run; if nothing can, that is an error."""
    plan = work.plan
    shared: dict[str, list[str]] = {}
    for name, reason in plan.impossible.items():
        shared.setdefault(reason, []).append(name)
    reasons = [f"{', '.join(names)} can not be run: {why}" for why, names in shared.items()]
    if reasons and not plan.jobs and not plan.n_finished:
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
                bar.set_postfix_str(job.task.label, refresh=False)
                bar.update()
    except KeyboardInterrupt:
        raise KeyboardInterrupt("The same command goes on from the runs that are stored.") from None
    except ChildProcessError as error:
        raise ChildProcessError(f"{error}: give the same command fewer --jobs") from None


def _print_list() -> None:
    for study in (STUDY, *ALONE):
        for name in study.names:
            experiment = study.read(name)
            n_runs = len(experiment.tasks) * experiment.seeds
            click.echo(f"{name:<16} {experiment.title} ({n_runs} runs)")
    n_runs = len(mth2026.plan(mth2026.FULL, list(mth2026.PARTS.values())))
    click.echo(f"{MTH:<16} {mth2026.TITLE} ({n_runs} runs)")
