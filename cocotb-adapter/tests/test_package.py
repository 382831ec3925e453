"""What `pip install` gets is whole: the modules, the marker for type checkers, a namespace that others share."""

from __future__ import annotations

import shutil
import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path

import pytest

PROJECT = Path(__file__).parents[1]


def test_the_wheel_and_the_source_distribution_are_whole(tmp_path: Path) -> None:
    pytest.importorskip("build")
    pytest.importorskip("wheel")
    source = tmp_path / "source"
    ignored = shutil.ignore_patterns(".venv", "__pycache__", "build", "*.egg-info", ".mypy_cache")
    shutil.copytree(PROJECT, source, ignore=ignored)
    subprocess.run(
        [sys.executable, "-m", "build", "--no-isolation", "--outdir", str(tmp_path / "dist"), str(source)],
        check=True,
        capture_output=True,
    )
    (wheel,) = (tmp_path / "dist").glob("cocotbext_uscope-*.whl")
    (sdist,) = (tmp_path / "dist").glob("cocotbext?uscope-*.tar.gz")
    with zipfile.ZipFile(wheel) as archive:
        names = set(archive.namelist())
        metadata = next(archive.read(n).decode() for n in names if n.endswith("METADATA"))
    modules = {f"cocotbext/uscope/{p.name}" for p in (PROJECT / "src/cocotbext/uscope").glob("*.py")}
    assert modules | {"cocotbext/uscope/py.typed"} <= names
    assert "cocotbext/__init__.py" not in names, "other extensions of cocotb share the namespace"
    assert any(name.endswith("LICENSE") for name in names)
    assert "Classifier: Framework :: cocotb" in metadata and "Name: cocotbext-uscope" in metadata
    with tarfile.open(sdist) as archive:
        files = [name.split("/", 1)[-1] for name in archive.getnames()]
    assert {"pyproject.toml", "README.md", "LICENSE", "src/cocotbext/uscope/py.typed", "tests/test_vectors.py"} <= set(files)
    # and it works from where pip puts it, without this tree
    site = tmp_path / "site"
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(site)
    code = "import cocotbext.uscope as u; print(u.__file__); u.Trace"
    ran = subprocess.run(
        [sys.executable, "-c", code], env={"PYTHONPATH": str(site), "PATH": "/usr/bin:/bin"}, check=True, capture_output=True, text=True
    )
    assert ran.stdout.startswith(str(site))
