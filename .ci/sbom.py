"""Prints what is installed beside this interpreter as a CycloneDX bill of materials."""

import json
from importlib.metadata import Distribution, distributions
from typing import Any


def component(one: Distribution) -> dict[str, Any]:
    name, version, about = one.metadata["Name"], one.version, one.metadata
    licence = about.get("License-Expression") or (about.get("License") or "").split("\n")[0]
    found = {"type": "library", "name": name, "version": version, "purl": f"pkg:pypi/{name.lower()}@{version}"}
    return found | ({"licenses": [{"license": {"name": licence[:100]}}]} if licence else {})


parts = sorted((component(one) for one in distributions()), key=lambda part: part["name"].lower())
subject = next(part for part in parts if part["name"] == "diprl")
rest = [part for part in parts if part is not subject]
bill = {"bomFormat": "CycloneDX", "specVersion": "1.5", "version": 1, "metadata": {"component": subject}}
print(json.dumps(bill | {"components": rest}, indent=2))
