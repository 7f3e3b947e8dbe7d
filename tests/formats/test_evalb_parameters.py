"""Parameter files of evalb: what they say is taken over, and what they cannot say is named."""

import pytest

from basanite.errors import SettingError
from basanite.formats.texts.trees import Parameters, read_parameters

FILE = """\
##--- a comment
DEBUG 0
MAX_ERROR 10
CUTOFF_LEN 25
LABELED 1
DELETE_LABEL TOP
DELETE_LABEL ,

DELETE_LABEL_FOR_LENGTH -NONE-
EQ_LABEL ADVP PRT
EQ_WORD Erste erste
QUOTE_LABEL ''
"""


def test_a_file_says_what_is_deleted_and_equal(tmp_path):
    path = tmp_path / "our.prm"
    path.write_text(FILE)
    assert read_parameters(path) == Parameters(
        ("TOP", ","), ("-NONE-",), (("ADVP", "PRT"),), (("Erste", "erste"),), ("''",), 25
    )


def test_what_is_given_in_another_way_or_not_at_all_is_a_remark(tmp_path):
    path = tmp_path / "our.prm"
    path.write_text("LABELED 0\nDISC_ONLY 1\n")
    assert [remark.split()[0] for remark in read_parameters(path).remarks] == ["LABELED", "DISC_ONLY"]
    path.write_text("LABELED 1\nDISC_ONLY 0\n")
    assert read_parameters(path).remarks == ()


def test_all_faults_are_named_at_once(tmp_path):
    path = tmp_path / "our.prm"
    path.write_text("DELETE_LABEL\nEQ_LABEL A\nCUTOFF_LEN many\nDELETE TOP\n\0\n")
    with pytest.raises(SettingError) as error:
        read_parameters(path)
    for words in ("line 1: DELETE_LABEL takes 1", "line 2: EQ_LABEL takes 2", "line 3: 'many'", "line 4 has", "line 5"):
        assert words in str(error.value)


def test_an_empty_file_deletes_and_equals_nothing(tmp_path):
    path = tmp_path / "our.prm"
    path.write_text("")
    assert read_parameters(path) == Parameters()
