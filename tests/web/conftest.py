"""The page of a made-up study, made once for all of pytest's workers."""

import os
import shutil
from pathlib import Path

import pytest
from filelock import FileLock

from tests.publish.publish_inputs import Study
from tests.web.browser import CHROMIUM


@pytest.fixture(scope="session")
def page(tmp_path_factory, program) -> Path:
    if CHROMIUM is None:
        pytest.skip("no chromium on this machine; install it to test the page in a browser")
    root = tmp_path_factory.getbasetemp()
    if "PYTEST_XDIST_WORKER" in os.environ:
        root = root.parent
    with FileLock(root / "page.lock"):
        if not (root / "page").exists():
            study = Study(tmp_path_factory.mktemp("study"), program)
            study.make_page().checked()
            study.publish.rename(root / "page")
    shutil.copytree(root / "page", copy := tmp_path_factory.mktemp("page") / "publish")
    return copy / "site/index.html"
