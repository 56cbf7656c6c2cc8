"""A small command-line program around exported C, for trying it by hand."""

from collections.abc import Sequence

from diprl.export import structure
from diprl.export.networks import Network
from diprl.program import Discrete, Primitives, Program


def render(program: Program, networks: Sequence[Network] = ()) -> dict[str, str]:
    return {f"{structure.prefix(program)}_main.c": main(program, networks)}


def main(program: Program, networks: Sequence[Network] = ()) -> str:
    """A `main` that reads observations from standard input and prints actions and their status."""
    name, actions = structure.prefix(program), program.signature.actions
    constant = name.upper()
    extra = f"{constant}_SENSES" if networks else "0"
    if isinstance(actions, Primitives) and not networks:
        extra = f"{constant}_PRIMITIVES * {constant}_ACTUATORS"
    variables, act = "", f'printf("%d", {name}_play(input));'
    if not isinstance(actions, Discrete):
        function = "play" if networks or not isinstance(actions, Primitives) else "blend"
        inputs = "input" if extra == "0" else f"input, input + {constant}_FEATURES"
        variables = f"    double action[{len(actions.low)}];\n    int entry;\n"
        act = f"{name}_{function}({inputs}, action);\n{_PRINT.format(width=len(actions.low))}"
    return _MAIN.format(name=name, size=f"{constant}_FEATURES + {extra}", variables=variables, act=act)


_PRINT = """        for (entry = 0; entry < {width}; entry++) {{
            printf("%.17g ", action[entry]);
        }}"""

_MAIN = """/* Reads observations from standard input; prints an action and the status of its input. */
#include <stdio.h>

#include "{name}.h"

int main(void)
{{
    double input[{size} + 1];
    int read = 0;
{variables}
    while (scanf("%lf", &input[read]) == 1) {{
        read++;
        if (read < {size}) {{
            continue;
        }}
        read = 0;
        {act}
        printf(" status %d\\n", {name}_status(input));
    }}
    return 0;
}}
"""
