"""Send a server pictures and requests that are broken in every way, and check its answers.

    python benchmarks/uploads.py [--cases 10000] [--seed 0] [--case NUMBER] [--quick]

A collection of digits is served by `zshash serve --writable` in a separate process. Most cases
are pictures of every kind that is read, with flipped bits, cut off, lengthened, spliced, or with
other numbers in their heads, searched with or added. The others are decompression bombs, wrong
types, broken forms, senseless JSON and features, false lengths, broken chunks, and clients that
disconnect. Slow clients run in the background, and many clients at once come last. Faults are:

- an answer with a status of 500 or more (but 505, which says that a request is of another version
  of HTTP), none within 30 seconds, or one that holds a path of the server's disk
- a complete request without an answer, and an uncaught error
- a plain search, made after every 500 cases, with a wrong result
- a server that dies, that needs 200 MB more than after the first cases, that keeps connections or
  temporary files, that refuses none of too many clients, or that does not stop properly
- a collection in which `verify` finds damage at the end, or that has a copy of a picture that
  belongs to no item

A fault names its case; `--case` sends only this case.
"""

import argparse
import json
import sys
import tempfile
import time
from collections import Counter, defaultdict
from collections.abc import Iterable
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import quote

from uploading.client import SECONDS, Answer, ask, trickle
from uploading.pictures import bombs
from uploading.requests import HEAD, Request, framed, make
from uploading.serving import ServerProcess

from zshash import Collection
from zshash.collection import Query
from zshash.collection.storage.files import COPIES
from zshash.studies.demo import make_collection

N_DIGITS, N_FOUND = 1797, 10
AT_ONCE, CROWD = 4, 80
MOST_MEGABYTES = 200.0
MOST_DESCRIPTORS = 20
SLOW = 25.0  # seconds that slow clients keep trying


class Truth(NamedTuple):
    """A search, and its right results."""

    picture: bytes
    found: list[tuple[int, float]]
    named: list[int]


def make_truth(folder: Path) -> Truth:
    """Make the collection, and search it before the server starts."""
    own = f"id < {N_DIGITS}"
    with make_collection(folder) as collection:
        picture = collection.thumbnail(100)
        assert picture is not None
        queries = [Query(picture=picture, k=N_FOUND), Query(name="zero", k=N_FOUND)]
        found, named = collection.search_each(queries, where=own)
    pairs = [(match.id, match.score) for match in found]
    return Truth(picture, pairs, [match.id for match in named])


def check_search(port: int, truth: Truth) -> list[str]:
    """Check that the server still finds the right results."""
    where = f"where={quote(f'id < {N_DIGITS}')}&k={N_FOUND}"
    faults = []
    by_picture = framed(f"/api/v1/search?{where}", "image/jpeg", truth.picture)
    by_name = framed(f"/api/v1/search?name=zero&{where}", None, b"", "GET")
    for what, content in (("picture", by_picture), ("name", by_name)):
        answer = ask(port, Request("search", what, content))
        if answer.status != 200:
            faults.append(f"a plain search by {what}: {answer.status} {answer.body[:200]!r}")
            continue
        results = json.loads(answer.body)["results"]
        pairs = [(result["id"], result["score"]) for result in results]
        is_right = (
            pairs == truth.found if what == "picture" else [i for i, _ in pairs] == truth.named
        )
        if not is_right:
            faults.append(f"a plain search by {what} finds {pairs}")
    return faults


class Run:
    """Cases against a server, and their outcomes.

    Parameters
    ----------
    server : ServerProcess
    folder : Path
        Folder of the collection.
    seed : int
    """

    def __init__(self, server: ServerProcess, folder: Path, seed: int) -> None:
        self.server, self.seed = server, seed
        self.counts: dict[str, Counter[int]] = defaultdict(Counter)
        self.seconds: Counter[str] = Counter()
        self.faults: list[str] = []
        self._secret = str(folder.parent).encode()

    def try_all(self, numbers: Iterable[int]) -> None:
        """Send some cases, a few at a time."""
        with ThreadPoolExecutor(AT_ONCE) as pool:
            for request, fault, answer, seconds in pool.map(self._try, numbers):
                self.counts[request.kind][answer.status] += 1
                self.seconds[request.kind] += seconds  # type: ignore[assignment]
                self.faults += fault

    def _try(self, number: int) -> tuple[Request, list[str], Answer, float]:
        request, started = make(self.seed, number), time.monotonic()
        try:
            answer = ask(self.server.port, request)
        except OSError as error:
            answer = Answer(-1, str(error).encode())
        wrong = self._judge(request, answer)
        name = f"case {number} of seed {self.seed} ({request.kind}: {request.about})"
        return request, [f"{name}: {wrong}"] * bool(wrong), answer, time.monotonic() - started

    def _judge(self, request: Request, answer: Answer) -> str:
        if answer.status >= 500 and not (answer.status == 505 and request.kind == "framing"):
            return f"status {answer.status}: {answer.body[:200]!r}"
        if answer.status < 0:
            return f"no answer within {SECONDS:g} s {answer.body[:200]!r}"
        if self._secret in answer.body:
            return f"tells of the disk: {answer.body[:200]!r}"
        if answer.status == 0 and request.answered and not request.leaves:
            return "the connection ended without an answer"
        return ""

    def try_crowd(self) -> None:
        """Send more large pictures at once than there is room for; some must be refused."""
        content = framed("/api/v1/search", "image/png", bombs()["png just small enough"])
        request = Request("crowd", "at once", content)
        with ThreadPoolExecutor(CROWD) as pool:
            answers = list(pool.map(lambda _: ask(self.server.port, request), range(CROWD)))
        self.counts["crowd"].update(answer.status for answer in answers)
        statuses = {answer.status for answer in answers}
        if 429 not in statuses or not statuses <= {200, 422, 429}:
            self.faults.append(f"a crowd got {sorted(statuses)}")

    def try_slowly(self) -> dict[str, Answer]:
        """Run slow clients, all at once; returns the answer that each gets."""
        line = b"POST /api/v1/%b HTTP/1.1\r\n" + HEAD
        line += b"Content-Length: 5000\r\nContent-Type: %b\r\n"
        form = b"multipart/form-data; boundary=x"
        clients = {
            "slow body": (line % (b"search", b"image/png") + b"\r\n", b"a"),
            "body that never comes": (line % (b"search", b"application/json") + b"\r\n", b""),
            "slow form": (line % (b"search", form) + b"\r\n--x\r\n", b"A"),
            "slow upload": (line % (b"items", form) + b"\r\n--x\r\n", b"A"),
            "slow head": (line % (b"search", b"image/png"), b"A"),
            "silence": (b"", b""),
        }
        with ThreadPoolExecutor(len(clients)) as pool:
            answers = {
                name: pool.submit(trickle, self.server.port, head, piece, SLOW)
                for name, (head, piece) in clients.items()
            }
        return {name: answer.result() for name, answer in answers.items()}

    def note_slow(self, found: "Future[dict[str, Answer]]") -> None:
        """Count the slow clients; the server must have refused all of them."""
        for name, answer in found.result().items():
            self.counts["slow"][answer.status] += 1
            if answer.status not in (0, 400, 408):
                self.faults.append(f"{name}: status {answer.status} after {SLOW:g} s")

    def check_process(self, memory: float, descriptors: int) -> None:
        """Check memory, files and connections against those after the first cases."""
        ends = time.monotonic() + SECONDS
        while (now := self.server.memory()[0]) > memory + MOST_MEGABYTES:
            if time.monotonic() > ends:  # what nobody waits for any more has long been finished
                break
            time.sleep(0.2)
        if now > memory + MOST_MEGABYTES:
            self.faults.append(f"{now:.0f} MB of memory, and {memory:.0f} MB after the first cases")
        if self.server.descriptors() > descriptors + MOST_DESCRIPTORS:
            self.faults.append(f"{self.server.descriptors()} open files, and {descriptors} before")


def run_all(run: Run, truth: Truth, n_cases: int, batch: int) -> None:
    """Send all cases, and check the server after each batch."""
    server, memory, descriptors = run.server, 0.0, 0
    with ThreadPoolExecutor(1) as slow:
        slow_ones = [slow.submit(run.try_slowly)]
        for start in range(0, n_cases, batch):
            run.try_all(range(start, min(start + batch, n_cases)))
            if not server.is_alive:
                run.faults.append(f"the server died in cases {start} to {start + batch - 1}")
                return
            run.faults += check_search(server.port, truth)
            if not start:
                memory, descriptors = server.memory()[0], server.descriptors()
            run.check_process(memory, descriptors)
            if len(run.faults) > 100:
                break
            if slow_ones[-1].done() and start + batch < n_cases:
                slow_ones.append(slow.submit(run.try_slowly))
        for found in slow_ones:
            run.note_slow(found)
    run.try_crowd()
    run.faults += check_search(server.port, truth)
    run.check_process(memory, descriptors)
    now, most = server.memory()
    print(f"memory: {memory:.0f} MB after {batch} cases, {now:.0f} MB now, {most:.0f} MB at most")


def check_rest(run: Run, folder: Path) -> str:
    """Stop the server, check what it leaves, and return a line about it."""
    run.faults += [f"an error that nobody caught: {line}" for line in run.server.complaints()]
    status = run.server.stop()
    if status:
        run.faults.append(f"the server ended with status {status}")
    left = list(run.server.temporary.iterdir())
    run.faults += [f"a temporary file that was left: {path.name}" for path in left]
    with Collection.open(folder) as collection:
        run.faults += [f"verify: {problem}" for problem in collection.verify()]
        sources = {item.source for item in collection.items() if item.id >= N_DIGITS}
        copies = {str(path) for path in (folder / COPIES).iterdir()}
        if sources != copies:
            run.faults.append(f"{len(sources)} pictures were added, and there are {len(copies)}")
        return f"{len(collection) - N_DIGITS} pictures were added, each with its copy"


def print_table(run: Run) -> None:
    """Print how often each kind of case got each status."""
    statuses = sorted({status for own in run.counts.values() for status in own})
    heads = {0: "closed", -1: "none"}
    print(f"{'':<14}{'cases':>7}" + "".join(f"{heads.get(s, s):>8}" for s in statuses))
    total: Counter[int] = Counter()
    for kind, own in sorted(run.counts.items()):
        total += own
        print(f"{kind:<14}{own.total():>7}" + "".join(f"{own[s] or '':>8}" for s in statuses))
    print(f"{'all':<14}{total.total():>7}" + "".join(f"{total[s] or '':>8}" for s in statuses))


def main() -> None:
    """Send all cases, print the outcomes, and fail if there was a fault."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--cases", type=int, default=10_000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--case", type=int, help="send only this case, and show its answer")
    parser.add_argument("--quick", action="store_true", help="a few hundred, to see that it works")
    options: Any = parser.parse_args()
    n_cases, batch = (300, 100) if options.quick else (options.cases, 500)
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch) / "digits"
        truth = make_truth(folder)
        with ServerProcess(folder, Path(scratch)) as server:
            run = Run(server, folder, options.seed)
            started = time.monotonic()
            if options.case is None:
                run_all(run, truth, n_cases, batch)
            else:
                print(make(options.seed, options.case))
                print(ask(server.port, make(options.seed, options.case)))
                run.try_all([options.case])
            print(f"{n_cases} cases in {time.monotonic() - started:.0f} s")
            print(check_rest(run, folder))
    print_table(run)
    for fault in run.faults[:20]:
        print(fault, file=sys.stderr)
    if run.faults:
        print(f"{len(run.faults)} faults", file=sys.stderr)
    sys.exit(bool(run.faults))


if __name__ == "__main__":
    main()
