"""ONNX files: the part of a graph that leads from one input to one output."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import Path
from typing import TYPE_CHECKING, Any

from zshash._extras import needs
from zshash.images.extractor import digest, file_digest

if TYPE_CHECKING:
    from google.protobuf.message import Message
    from onnx import GraphProto, ModelProto, NodeProto, TensorProto

__all__ = ["OnnxModel", "read_model"]

LARGEST_FILE = 2**31  # a limit of the format; weights beyond it lie in files of their own


@dataclass(frozen=True)
class OnnxModel:
    """A graph with one input and one output.

    Attributes
    ----------
    content : bytes
        The graph in ONNX form.
    folder : Path
        Folder of the weights that are not in the content.
    output : str
        Name of the output.
    fingerprint : str
        Digest of the file, of its weights in other files, and of the chosen input and output.
    """

    content: bytes
    folder: Path
    output: str
    fingerprint: str


def read_model(path: Path, input: str | None = None, output: str | None = None) -> OnnxModel:
    """Read a file and keep the part of its graph from one input to one output.

    Parameters
    ----------
    path : Path
    input : str, optional
        Name of the input; by default the only input that the output needs.
    output : str, optional
        Name of an output or of any tensor inside; by default the only output.

    Raises
    ------
    ValueError
        If there is no such file, input or output, or the file is not ONNX.
    """
    model = _parse(path)
    try:
        files = [path, *_weight_files(model, path.parent)]
        output = _choose_output(model.graph, output)
        input = _cut(model.graph, input, output)
        parts = [file_digest(file) for file in files]
    except ValueError as error:
        raise ValueError(f"{path}: {error}") from error
    except OSError as error:
        raise ValueError(f"{error.filename}: {error.strerror} (a part of {path})") from error
    fingerprint = digest(*parts, input, output)
    return OnnxModel(model.SerializeToString(), path.parent, output, fingerprint)


def _parse(path: Path) -> "ModelProto":
    with needs("images"):
        import onnx
    if not path.is_file():
        raise ValueError(f"{path}: there is no such file")
    if path.stat().st_size > LARGEST_FILE:
        raise ValueError(f"{path}: too large for an ONNX file")
    try:
        model = onnx.load_model_from_string(path.read_bytes())
    except OSError as error:
        raise ValueError(f"{path}: {error.strerror}") from error
    except Exception as error:  # the parser has errors of its own
        raise ValueError(f"{path}: not an ONNX file, or damaged") from error
    if not model.graph.node or not model.graph.output:
        raise ValueError(f"{path}: not an ONNX file, or an empty one")
    return model


def _weight_files(model: "ModelProto", folder: Path) -> list[Path]:
    """Files beside the model that hold weights."""
    home = folder.resolve()
    names = {
        entry.value
        for tensor in _tensors(model)
        for entry in tensor.external_data
        if entry.key == "location"
    }
    files = [home / name for name in sorted(names)]
    for file in files:
        if not file.resolve().is_relative_to(home):
            raise ValueError(f"weights in a file of another folder ({file.name})")
        if not file.is_file():
            raise ValueError(f"its file of weights {file} is not there")
    return files


def _tensors(message: "Message") -> "Iterator[TensorProto]":
    """All tensors in a model, also those that its nodes, inner graphs and functions hold."""
    with needs("images"):
        from google.protobuf.message import Message
        from onnx import TensorProto
    waiting = [message]
    while waiting:
        part = waiting.pop()
        if isinstance(part, TensorProto):
            yield part
            continue
        for field, value in part.ListFields():
            if field.message_type is not None:
                waiting.extend([value] if isinstance(value, Message) else value)


def _choose_output(graph: "GraphProto", output: str | None) -> str:
    names: list[str] = [info.name for info in graph.output]
    if output is None:
        if len(names) > 1:
            raise ValueError(f"choose one of the outputs by output=: {', '.join(names)}")
        return names[0]
    inner = [name for node in graph.node for name in node.output if name]
    if output not in inner:
        near = [name for name in get_close_matches(output, inner) if name not in names]
        raise ValueError(f"no output {output!r}; it has {', '.join(names + near)}")
    return output


def _cut(graph: "GraphProto", input: str | None, output: str) -> str:
    """Remove all that the output does not need; return the name of the input."""
    with needs("images"):
        from onnx import ValueInfoProto
    stored = {tensor.name for tensor in graph.initializer}
    inputs = [info.name for info in graph.input if info.name not in stored]
    needed = _upstream(graph, output)
    chosen = _choose_input(inputs, [name for name in inputs if name in needed], input)
    _keep(graph.node, lambda node: not needed.isdisjoint(node.output))
    _keep(graph.input, lambda info: info.name in needed)
    _keep(graph.initializer, lambda tensor: tensor.name in needed)
    _keep(graph.output, lambda info: info.name == output)
    if not graph.output:
        graph.output.append(ValueInfoProto(name=output))
    return chosen


def _choose_input(inputs: Sequence[str], needed: Sequence[str], chosen: str | None) -> str:
    if chosen is not None and chosen not in inputs:
        raise ValueError(f"no input {chosen!r}; it has {', '.join(inputs)}")
    if chosen is None and len(needed) == 1:
        return needed[0]
    if chosen is None or list(needed) != [chosen]:
        raise ValueError(
            f"the output depends on the inputs {', '.join(needed) or '(none)'}, "
            "but must depend on one alone, the chosen one; choose another output"
        )
    return chosen


def _upstream(graph: "GraphProto", output: str) -> set[str]:
    """Names of the output and of all tensors that it is computed from."""
    makers = {name: node for node in graph.node for name in node.output if name}
    needed, waiting = {output}, [output]
    while waiting:
        maker = makers.get(waiting.pop())
        read = set(_reads(maker)) - needed if maker else set()
        needed |= read
        waiting.extend(read)
    return needed - {""}  # the name of an optional input that is left out


def _reads(node: "NodeProto") -> Iterator[str]:
    """Names of tensors that a node and the graphs inside it read."""
    yield from node.input
    for attribute in node.attribute:
        for graph in (attribute.g, *attribute.graphs):
            for inner in graph.node:
                yield from _reads(inner)
            yield from (info.name for info in graph.output)


def _keep(items: Any, wanted: Callable[[Any], bool]) -> None:
    """Remove unwanted items in place: weights may be too large to hold twice."""
    for place in reversed(range(len(items))):
        if not wanted(items[place]):
            del items[place]
