"""The console that everything is printed to."""

from typing import Any

from rich.console import Console
from rich.table import Table


def plain_console(**options: Any) -> Console:
    """A console that prints [brackets] and :names: as they are: paths and names are the user's, not markup."""
    return Console(markup=False, emoji=False, **options)


def plain_table(*columns: str, **options: Any) -> Table:
    """An empty table without lines."""
    table = Table(box=None, pad_edge=False, header_style="bold")
    for name in columns:
        table.add_column(name, **options)
    return table
