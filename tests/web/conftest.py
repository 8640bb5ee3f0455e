"""The page of a made-up study, made once for all that look at it."""

from pathlib import Path

import pytest

from tests.publish.publish_inputs import Study
from tests.web.browser import CHROMIUM


@pytest.fixture(scope="session")
def page(tmp_path_factory, program) -> Path:
    if CHROMIUM is None:
        pytest.skip("no chromium on this machine; install it to test the page in a browser")
    study = Study(tmp_path_factory.mktemp("study"), program)
    study.make_page().checked()
    return study.page
