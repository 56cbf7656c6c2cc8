"""Steps exported units for co-simulation with FMPy, a tool that knows nothing of diprl."""

from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from diprl.export import Samples, c_check
from diprl.export.c import call
from diprl.program import Discrete, Program


def step_unit(program: Program, unit: Path, samples: Samples) -> tuple[NDArray[Any], NDArray[Any], str]:
    """The action and the status after each step, and the signature that the unit tells."""
    fmpy = pytest.importorskip("fmpy", reason="FMPy is not installed")
    if c_check.compiler() is None:
        pytest.skip("no C compiler, so units hold sources only")
    from fmpy.fmi2 import FMU2Slave
    from fmpy.validation import validate_fmu

    assert validate_fmu(str(unit)) == []
    shape: Any = call(program, "")
    inputs, actions = [*range(shape["inputs"])], [*range(shape["inputs"], shape["inputs"] + shape["outputs"])]
    rows = samples.features
    if samples.primitive_actions is not None:
        rows = np.concatenate([rows, samples.primitive_actions.reshape(len(rows), -1)], axis=1)
    told: Any = fmpy.read_model_description(str(unit))
    with TemporaryDirectory() as folder:
        fmpy.extract(str(unit), folder)
        slave = FMU2Slave(
            None, guid=told.guid, unzipDirectory=folder, modelIdentifier=told.coSimulation.modelIdentifier
        )
        slave.instantiate()
        slave.setupExperiment(startTime=0.0)
        slave.enterInitializationMode()
        slave.exitInitializationMode()
        found, flags = [], []
        read: Any = slave.getInteger if isinstance(program.signature.actions, Discrete) else slave.getReal
        for time, row in enumerate(rows.tolist()):
            slave.setReal(inputs, row)
            slave.doStep(float(time), 1.0)
            found.append(read(actions))
            flags.append(slave.getInteger([actions[-1] + 1])[0])
        signature = slave.getString([actions[-1] + 2])[0].decode()
        slave.terminate()
        slave.freeInstance()
    action = np.array(found)
    return action[:, 0] if isinstance(program.signature.actions, Discrete) else action, np.array(flags), signature
