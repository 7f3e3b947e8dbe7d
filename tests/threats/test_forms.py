"""A form that was cut off is no form: nothing of it is taken for a whole file (X-2)."""

from __future__ import annotations

import pytest

from basanite.campaign.model.refusals import RefusedError
from basanite.server.pages.forms import _parse_pieces, _UploadReader

FORM = (
    b'--xyz\r\nContent-Disposition: form-data; name="csrf"\r\n\r\ntoken\r\n'
    b'--xyz\r\nContent-Disposition: form-data; name="file"; filename="a.tgz"\r\n\r\nsome bytes\r\n--xyz--\r\n'
)
WHOLE = len(FORM.rstrip())


def taken(data, folder):
    return _parse_pieces(_UploadReader(folder, 1000, lambda token: None), "xyz", iter([data]))


def test_a_whole_form_is_taken(tmp_path):
    found = taken(FORM, tmp_path)
    assert (found.path.read_bytes(), found.form.raw("csrf")) == (b"some bytes", "token")


@pytest.mark.parametrize("length", [*range(0, WHOLE, 7), WHOLE - 1])
def test_a_form_that_ends_early_is_refused_and_leaves_nothing(tmp_path, length):
    with pytest.raises(RefusedError, match="form is incomplete"):
        taken(FORM[:length], tmp_path)
    assert list(tmp_path.iterdir()) == []
