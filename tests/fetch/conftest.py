"""Fixtures of the tests of fetching.

`fetch` and `refused` are for models, `fetch_corpus` and `refused_corpus` for corpora.
"""
# ruff: noqa: F401 - fixtures are imported

from tests.fetch.fetch_models import (
    fetch_fixture,
    folder_fixture,
    hub_fixture,
    no_pauses,
    refused_fixture,
)
from tests.fetch.fetch_sources import archive_fixture, fetch_corpus, refused_corpus, server_fixture
