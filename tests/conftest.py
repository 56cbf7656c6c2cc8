"""Settings that every test shares."""

import os

from hypothesis import settings
from jaxtyping import install_import_hook

from tests import shapes

# A busy machine is not a failure. Continuous integration tries the same examples every time, so that a change is judged
# by what it changed; everybody else goes on looking for new ones.
settings.register_profile("default", deadline=None, derandomize=bool(os.environ.get("CI")))
settings.load_profile("default")

install_import_hook(shapes.MODULES, shapes.CHECKER)
