"""One PPO engine for every method: collect, estimate advantages, update in minibatches.

The package lies where `diprl.train(…)` is looked for, so it can be called: it hands over to `diprl.model.train`.
"""

import sys
from importlib import import_module
from types import ModuleType
from typing import Any


class _CallablePackage(ModuleType):
    def __call__(self, *arguments: Any, **options: Any) -> Any:
        return import_module("diprl.model").train(*arguments, **options)


sys.modules[__name__].__class__ = _CallablePackage
