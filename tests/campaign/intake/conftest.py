"""What the tests of the doors share: a declaration that fits the small season's first window, and a file."""

import pytest

from basanite.campaign.model.plan import Declared


@pytest.fixture
def declared():
    return Declared(task="CLIR", label="sysA", type="contrastive")


@pytest.fixture
def stored(office, pack):
    return office.files.take(pack.perfect)
