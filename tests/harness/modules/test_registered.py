"""Every registered module: its schema, its form, and that it holds what its role promises."""

from pathlib import Path

import numpy as np
import pytest
from jsonschema import Draft202012Validator

from basanite import registry
from basanite.harness.modules.interfaces import Module
from basanite.harness.plan.modules import FITS, mismatch

NAMES = registry.names("modules")
OURS = [name for name in NAMES if registry.load("modules", name).make.__module__.startswith("basanite.harness.modules")]


def test_all_roles_are_there():
    assert {registry.load("modules", name).role for name in NAMES} == {
        "features", "preprocessor", "strong", "linear", "learner",
    }  # fmt: skip


@pytest.mark.req("H-5")
@pytest.mark.parametrize("name", NAMES)
def test_a_module_says_what_it_is(name):
    module = registry.load("modules", name)
    assert isinstance(module, Module)
    assert module.name == name
    assert module.summary
    assert not module.summary.endswith(".")
    assert module.needs in FITS
    Draft202012Validator.check_schema(dict(module.schema))
    assert module.schema.get("additionalProperties") is False
    assert module.code
    assert all(Path(file).is_file() for file in module.code)


@pytest.mark.parametrize("name", OURS)
def test_defaults_in_the_schema_are_those_of_the_code(name):
    module = registry.load("modules", name)
    stated = {key: entry["default"] for key, entry in module.schema["properties"].items() if "default" in entry}
    plain, written = module.make({}, 0), module.make(stated, 0)
    assert {key: str(value) for key, value in vars(plain).items()} == {
        key: str(value) for key, value in vars(written).items()
    }


@pytest.mark.req("H-5")
@pytest.mark.parametrize("name", OURS)
def test_a_module_does_what_its_role_promises(name, counts, food):
    module = registry.load("modules", name)
    made = module.make({}, 0)
    if module.role in ("features", "preprocessor"):
        items = ["a good soup", "a bad soup here"] if "words" in name + module.summary else np.ones((2, 3))
        made.fit(items)
        assert made.transform(items).shape[0] == 2
    elif module.role == "learner":
        made.fit(counts[:50])
        assert made.layers >= 3
        assert made.transform(counts[:5], 1).shape == made.transform(counts[:5]).shape
    else:
        target = food if module.scale == "rating" else (food >= 5).astype(float)
        made.fit(counts[:60], target[:60], made.grid()[0])
        assert np.isfinite(made.score(counts[60:75])).all()


@pytest.mark.req("A17")
def test_topics_need_counts_and_dense_codes_do_not_fit():
    lda, msda, shares = (registry.load("modules", name) for name in ("lda-ridge", "msda", "word-shares"))
    assert mismatch(lda, registry.load("modules", "bow").gives) == ""
    assert mismatch(lda, msda.gives) == "lda-ridge needs counts and gets dense"
    assert mismatch(lda, shares.gives) == "lda-ridge needs counts and gets nonneg"
    assert mismatch(msda, shares.gives) == ""


@pytest.mark.req("A15")
@pytest.mark.parametrize("name", [name for name in OURS if registry.load("modules", name).role in ("strong", "linear")])
def test_no_classifier_calls_its_scores_probabilities_unless_they_are(name):
    assert registry.load("modules", name).scale in ("margin", "rating")
