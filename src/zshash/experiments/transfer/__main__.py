"""``python -m zshash.experiments.transfer OUTPUT``: run what is missing, then write the tables."""

from pathlib import Path

import click
from tqdm import tqdm

from zshash._extras import MissingExtra
from zshash.datasets import DataError
from zshash.experiments.transfer.parts import FULL, PARTS, QUICK, plan
from zshash.experiments.transfer.records import Records
from zshash.experiments.transfer.report import files, write_report
from zshash.experiments.transfer.running import run
from zshash.scale import DeviceError

__all__ = ["main"]


@click.command()
@click.argument("output", type=click.Path(path_type=Path))
@click.option("--quick", is_flag=True, help="A try on handwritten digits, in half a minute.")
@click.option(
    "--part",
    "parts",
    type=click.Choice(list(PARTS)),
    multiple=True,
    help="A part of the study, may be repeated; by default all of them.",
)
@click.option(
    "--seeds",
    type=click.IntRange(min=1),
    help="Seeds of each part; by default as many as the study has.",
)
@click.option("--device", help='Where MTH is trained, such as "cuda"; by default on the CPU.')
@click.option("--report-only", is_flag=True, help="Run nothing, write the tables.")
def main(
    output: Path,
    quick: bool,
    parts: tuple[str, ...],
    seeds: int | None,
    device: str | None,
    report_only: bool,
) -> None:
    """Hide each category in its turn, and see who finds it.

    Runs go to OUTPUT.json, in a folder that is made where it is missing; those in there already are
    not run again. Tables of all of them go to OUTPUT-tables.md, and a figure to
    OUTPUT-tradeoff.svg.
    """
    study = QUICK if quick else FULL
    if quick and seeds is None:
        seeds = 1
    try:
        output.parent.mkdir(parents=True, exist_ok=True)
        records = Records(files(output).records)
        if not report_only:
            cells = records.missing(plan(study, parts or list(PARTS), seeds))
            for _ in tqdm(run(cells, records, study, device), total=len(cells), unit="run"):
                pass
        write_report(list(records), output)
    except (DataError, DeviceError, MissingExtra, OSError) as error:
        raise click.ClickException(str(error)) from error


if __name__ == "__main__":
    main()
