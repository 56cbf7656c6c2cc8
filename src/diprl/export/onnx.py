"""An ONNX graph in double precision, built from single products and sums so that every bit stays as it is."""

import os
from collections.abc import Sequence
from typing import Any

import numpy as np

from diprl.errors import optional
from diprl.export import structure
from diprl.export.parity import Check, Written, compare, compare_networks
from diprl.program import Act, Condition, Discrete, Primitives, Program, Terminal
from diprl.program.ast import flatten, fold
from diprl.program.evaluate import entry_forms
from diprl.program.networks import Network

_OPSET, _IR = 13, 8


def check(written: Written) -> list[Check]:
    """Run the written file, where a runtime is installed."""
    os.environ.setdefault("ORT_DISABLE_TELEMETRY", "1")  # or it looks up a host on the network when imported
    try:
        import onnxruntime  # type: ignore[import-not-found]
    except ImportError:
        return [Check("graph", note="onnxruntime is not installed")]
    session = onnxruntime.InferenceSession(str(written.files[0]), providers=["CPUExecutionProvider"])
    feeds = {entry.name: getattr(written.samples, entry.name) for entry in session.get_inputs()}
    found: Any = session.run(None, feeds)[0]
    return [(compare_networks if written.networks else compare)("graph", written, found)]


def to_onnx(program: Program, networks: Sequence[Network] = ()) -> bytes:
    """The serialised model, from `features` (n, features) and perhaps more inputs to `action`."""
    onnx = optional("onnx", "ONNX export needs onnx: install it with: pip install 'diprl[onnx]'")
    kinds, helper = onnx.TensorProto, onnx.helper
    graph = _Graph(onnx)
    graph.add("Identity", [graph.tree(program, networks)], name="action")
    actions = program.signature.actions
    discrete = isinstance(actions, Discrete)
    shape = ["n"] if discrete else ["n", len(actions.low)]
    kind = kinds.INT64 if discrete else kinds.DOUBLE
    sizes = {"features": [len(program.signature.features)]}
    if networks:
        sizes["senses"] = [len(networks[0].mean)]
    elif isinstance(actions, Primitives):
        sizes["primitive_actions"] = [len(actions.names), len(actions.low)]
    inputs = [helper.make_tensor_value_info(name, kinds.DOUBLE, ["n", *size]) for name, size in sizes.items()]
    outputs = [helper.make_tensor_value_info("action", kind, shape)]
    made = helper.make_graph(graph.nodes, structure.prefix(program), inputs, outputs, graph.constants)
    model = helper.make_model(made, opset_imports=[helper.make_opsetid("", _OPSET)], ir_version=_IR)
    model.producer_name = "diprl"
    helper.set_model_props(model, {"program": str(program)})
    onnx.checker.check_model(model)
    return model.SerializeToString()


render = structure.one_file("onnx", to_onnx)


class _Graph:
    """Nodes and constants of a graph, while it is being built."""

    def __init__(self, onnx: Any) -> None:
        self._onnx = onnx
        self.nodes: list[Any] = []
        self.constants: list[Any] = []

    def add(self, operator: str, inputs: Sequence[str], name: str = "", **attributes: Any) -> str:
        """Append an operation and return the name of its result."""
        name = name or f"{operator.lower()}_{len(self.nodes)}"
        self.nodes.append(self._onnx.helper.make_node(operator, list(inputs), [name], **attributes))
        return name

    def constant(self, value: Any, kind: Any = np.float64) -> str:
        name = f"constant_{len(self.constants)}"
        self.constants.append(self._onnx.numpy_helper.from_array(np.asarray(value, kind), name))
        return name

    def column(self, source: str, index: int) -> str:
        return self.add("Gather", [source, self.constant(index, np.int64)], axis=1)

    def linear(self, weights: Sequence[float], bias: float, columns: Sequence[str]) -> str:
        """A linear form, added term by term as the interpreter does."""
        total = ""
        for weight, column in zip(weights, columns, strict=True):
            if weight != 0.0:
                term = self.add("Mul", [self.number(weight, columns), column])
                total = self.add("Add", [total, term]) if total else term
        if total and bias == 0.0:
            return total
        return self.add("Add", [total, self.number(bias, columns)]) if total else self.filled(bias, columns)

    def number(self, value: float, columns: Sequence[str]) -> str:
        """A factor or a summand that no optimiser leaves out.

        ONNX Runtime reads constants in 32 bits to find sums with 0 and products with 1, and drops them: a number that
        only looks like 0 or 1 in 32 bits must not be a constant of the graph.
        """
        looks_idle = abs(value) < 1e-44 or abs(value - 1.0) < 1e-6
        return self.filled(value, columns) if looks_idle else self.constant(value)

    def filled(self, value: float, columns: Sequence[str], kind: Any = np.float64) -> str:
        """A constant with one entry per observation; values that are not numbers must not spread into it."""
        always, constant = self.add("Equal", [columns[0], columns[0]]), self.constant(value, kind)
        return self.add("Where", [always, constant, constant])

    def as_column(self, vector: str) -> str:
        """A vector as a matrix of one column."""
        return self.add("Unsqueeze", [vector, self.constant([1], np.int64)])

    def clip(self, value: str, low: float, high: float) -> str:
        """Limit as the interpreter does, leaving what is not a number."""
        lower, upper = self.constant(low), self.constant(high)
        below, above = self.add("Less", [value, lower]), self.add("Greater", [value, upper])
        return self.add("Where", [below, lower, self.add("Where", [above, upper, value])])

    def tree(self, program: Program, networks: Sequence[Network]) -> str:
        """Leaves and selections from the last node to the root; returns the name of the chosen action."""
        actions = program.signature.actions
        columns = [self.column("features", index) for index in range(len(program.signature.features))]
        primitives = self.primitive_columns(program, networks)
        zero = self.constant(0.0) if program.conditions else ""

        def leaf(terminal: Terminal) -> str:
            if isinstance(terminal, Act) or isinstance(actions, Discrete):
                return self.filled(terminal.action, columns, np.int64)  # type: ignore[union-attr]
            rows = zip(entry_forms(terminal, columns, primitives), actions.low, actions.high, strict=True)
            entries = [self.as_column(self.clip(self.linear(*form), low, high)) for form, low, high in rows]
            return self.add("Concat", entries, axis=1)

        def choose(condition: Condition, then: str, orelse: str) -> str:
            test = self.add("Greater", [self.linear(condition.weights, condition.bias, columns), zero])
            return self.add("Where", [test if isinstance(actions, Discrete) else self.as_column(test), then, orelse])

        return fold(flatten(program.root), leaf, choose)

    def primitive_columns(self, program: Program, networks: Sequence[Network]) -> list[list[str]]:
        """For each primitive, the columns of its action."""
        actions = program.signature.actions
        if not isinstance(actions, Primitives):
            return []
        sources = [self.network(network) for network in networks]
        sources = sources or [self.column("primitive_actions", index) for index in range(len(actions.names))]
        return [[self.column(source, entry) for entry in range(len(actions.low))] for source in sources]

    def network(self, network: Network) -> str:
        centred = self.add("Sub", ["senses", self.constant(network.mean)])
        scale = self.constant(network.std) if len(network.std) > 1 else self.number(network.std[0], ["senses"])
        hidden = self.add("Div", [centred, scale])
        for number, (weights, bias) in enumerate(network.layers):
            product = self.add("MatMul", [hidden, self.constant(weights)])
            hidden = self.add("Add", [product, self.constant(bias)])
            if number < len(network.layers) - 1:
                hidden = self.add("Tanh", [hidden])
        limits = [self.constant(np.asarray(bound, np.float64)) for bound in (network.low, network.high)]
        return self.add("Min", [self.add("Max", [hidden, limits[0]]), limits[1]])
