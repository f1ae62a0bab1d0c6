"""setuptools, with its working files in a temporary folder.

An ordinary build leaves ``build/`` and ``*.egg-info`` in the checkout, and a later build packs modules from
``build/`` that were removed from the source. The hooks are those of PEP 517 and PEP 660.
"""

from __future__ import annotations

import contextlib
import os
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from setuptools import build_meta

get_requires_for_build_wheel = build_meta.get_requires_for_build_wheel
get_requires_for_build_sdist = build_meta.get_requires_for_build_sdist
get_requires_for_build_editable = build_meta.get_requires_for_build_editable
build_editable = build_meta.build_editable


def build_wheel(*arguments: Any, **more: Any) -> str:
    """Builds the wheel; returns its name."""
    with _elsewhere():
        return build_meta.build_wheel(*arguments, **more)


def build_sdist(*arguments: Any, **more: Any) -> str:
    """Builds the source distribution; returns its name."""
    with _elsewhere():
        return build_meta.build_sdist(*arguments, **more)


def prepare_metadata_for_build_wheel(*arguments: Any, **more: Any) -> str:
    """Writes the metadata; returns the name of its folder."""
    with _elsewhere():
        return build_meta.prepare_metadata_for_build_wheel(*arguments, **more)


@contextlib.contextmanager
def _elsewhere() -> Iterator[None]:
    """Makes setuptools build in a temporary folder, by the extra configuration file that DIST_EXTRA_CONFIG names."""
    name = "DIST_EXTRA_CONFIG"
    before = os.environ.get(name)
    with tempfile.TemporaryDirectory(prefix="trainyard-build-") as folder:
        config = Path(folder, "extra.cfg")
        config.write_text(
            f"[build]\nbuild_base = {folder}/build\n[egg_info]\negg_base = {folder}\n"
        )
        os.environ[name] = str(config)
        try:
            yield
        finally:
            os.environ.pop(name)
            if before is not None:
                os.environ[name] = before
