"""The command that runs this study; it goes on from the runs that are stored."""

from functools import partial
from pathlib import Path
from typing import Any

import click
from tqdm import tqdm

from zshash._extras import MissingExtra, needs
from zshash.datasets import DataError, read_cifar
from zshash.evaluation.runs import RunFile
from zshash.studies.cnnh2014.protocol import KEYS


@click.command()
@click.argument("data", type=click.Path(path_type=Path))
@click.option("--bits", type=click.IntRange(8, 1024), multiple=True, default=(12, 24, 32, 48))
@click.option("--classes/--no-classes", default=None, help="CNNH+ or CNNH alone.  [default: both]")
@click.option("--epochs", type=click.IntRange(1), default=60, show_default=True)
@click.option("--seeds", type=click.IntRange(1), default=1, show_default=True)
@click.option("--device", default="cpu", show_default=True, help='Such as "cuda".')
@click.option("--output", type=click.Path(path_type=Path), default=Path("cnnh.json"))
def main(
    data: Path,
    bits: tuple[int, ...],
    classes: bool | None,
    epochs: int,
    seeds: int,
    device: str,
    output: Path,
) -> None:
    """CNNH and CNNH+ from the pixels of CIFAR-10 in the folder DATA, by the paper's protocol."""
    try:
        with needs("torch"):
            from zshash.scale.device import find_device
            from zshash.studies.cnnh2014 import experiment, training
        find_device(device)
        pictures = read_cifar(data)
        store = RunFile(output, _key_of, _is_run)
    except (MissingExtra, DataError, RuntimeError) as error:
        raise click.UsageError(str(error)) from None
    variants = (False, True) if classes is None else (classes,)
    schedule = training.Schedule(epochs)
    tasks = [experiment.PixelRun(own, plus, schedule) for own in bits for plus in variants]
    for task, seed in ((task, seed) for seed in range(seeds) for task in tasks):
        if store.find(task, seed) is None:
            with tqdm(total=epochs, desc=task.label, disable=None) as bar:
                work = experiment.Work(pictures, device, partial(_advance, bar))
                store.add(task, "", task.run(seed, work))
            store.save()
    for run in store:
        name = experiment.label_of(run["bits"], run["classes"])
        click.echo(f"{name}  seed {run['seed']}  MAP {run['map']}")


def _advance(bar: "tqdm[Any]", loss: float) -> None:
    bar.set_postfix(loss=f"{loss:.3f}", refresh=False)
    bar.update()


def _key_of(run: dict[str, object]) -> tuple[object, ...]:
    return tuple(run[name] for name in KEYS)


def _is_run(run: dict[str, object]) -> bool:
    return {*KEYS, "map"} <= run.keys()


if __name__ == "__main__":
    main()
