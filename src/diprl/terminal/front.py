"""The front as a table: size against score, an arrow at the program to take."""

from rich.table import Table

from diprl.search.front import Front
from diprl.terminal.printing import plain_table

MOST_ROWS = 12
INTERVAL = 1.96
"""Standard errors on either side of a mean that make a 95% interval."""


def front_table(front: Front) -> Table:
    """A row for each size, or for a dozen of them where there are more."""
    table = plain_table("", "numbers", "conditions", "score", "95% interval", justify="right")
    for index in shown_rows(front):
        entry = front.entries[index]
        low, high = (entry.mean + sign * INTERVAL * entry.error for sign in (-1, 1))
        sizes = str(entry.program.coefficients), str(entry.program.conditions)
        arrow = "→" if index == front.picked else ""
        table.add_row(arrow, *sizes, f"{entry.mean:.2f}", f"{low:.2f} to {high:.2f}")
    return table


def shown_rows(front: Front) -> list[int]:
    """The first, the last and the program to take, with others evenly between them."""
    count = len(front)
    even = {round(row * (count - 1) / (MOST_ROWS - 1)) for row in range(MOST_ROWS)}
    return sorted(even | {front.picked})
