"""Checkpoints: the arrays of any pytree in one stored file."""

from pathlib import Path
from typing import Any

import jax
import jax.random as jr
import numpy as np
from numpy.typing import NDArray

from diprl.system.storage import load_arrays, save_arrays


def save_checkpoint(path: Path, tree: Any, facts: dict[str, Any]) -> None:
    """Write all arrays of a pytree; the checkpoint before stays as `.previous`."""
    save_arrays(path, named_arrays(tree), facts)


def load_checkpoint(path: Path, like: Any) -> tuple[Any, dict[str, Any]]:
    """The pytree of the same structure as `like` that was saved, and its facts."""
    arrays, facts = load_arrays(path, named_arrays(like))
    leaves, structure = jax.tree.flatten(like)
    restored = [from_numpy(array, leaf) for array, leaf in zip(arrays.values(), leaves, strict=True)]
    return jax.tree.unflatten(structure, restored), facts


def named_arrays(tree: Any) -> dict[str, NDArray[Any]]:
    """Every leaf as a NumPy array, named after its place in the tree."""
    leaves, _ = jax.tree_util.tree_flatten_with_path(tree)
    return {jax.tree_util.keystr(path): to_numpy(leaf) for path, leaf in leaves}


def to_numpy(leaf: Any) -> NDArray[Any]:
    return np.asarray(jr.key_data(leaf) if is_random_key(leaf) else leaf)


def from_numpy(array: NDArray[Any], like: Any) -> jax.Array:
    numbers = jax.numpy.asarray(array)
    return jr.wrap_key_data(numbers) if is_random_key(like) else numbers


def is_random_key(leaf: Any) -> bool:
    return isinstance(leaf, jax.Array) and jax.numpy.issubdtype(leaf.dtype, jax.dtypes.prng_key)
