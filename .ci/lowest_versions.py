"""Print the lowest version of every dependency that pyproject.toml admits, for pip to install."""

import re
import tomllib
from pathlib import Path

project = tomllib.loads(Path("pyproject.toml").read_text())["project"]
for dependency in project["dependencies"] + project["optional-dependencies"]["test"]:
    name, lowest = re.fullmatch(r"([\w.,\[\]-]+)>=([\w.]+)(?:,<[\w.]+)?", dependency).groups()
    print(f"{name}=={lowest}")
