"""Strangers' Python modules in a box: the same results, nothing of the host in sight, files that are opened listed."""

import numpy as np
import pytest
from tests.harness.foreign.programs import around
from tests.harness.small_modules import HERE, Components, Ridge, Scaled

from basanite.harness.foreign.modules import foreign_module, is_foreign
from basanite.harness.foreign.programs import Surroundings
from basanite.harness.steps.layout import ModuleError

assert around  # the fixture
ROWS = np.abs(np.random.default_rng(1).normal(size=(60, 6)))


def test_in_a_sealed_evaluation_every_strangers_module_is_a_program_and_ours_are_not(around):
    sealed = Surroundings(around.folder, sealed=True)
    assert is_foreign(f"{HERE}:RIDGE", sealed)
    assert not is_foreign("msda", sealed)
    assert not is_foreign("basanite.harness.modules.msda:MSDA", sealed)
    assert not is_foreign(f"{HERE}:RIDGE", around)
    assert is_foreign(f"{HERE}:RIDGE", Surroundings(around.folder, boxing="all"))
    assert (sealed.uses_sandbox, Surroundings(around.folder, boxing="off", sealed=True).uses_sandbox) == (True, True)


def test_a_module_in_a_box_gives_what_it_gives_outside(around):
    sealed = Surroundings(around.folder, sealed=True, limits=around.limits)
    pre, plain = foreign_module(f"{HERE}:SCALED", sealed).make({}, 0), Scaled({})
    pre.fit(ROWS)
    plain.fit(ROWS)
    np.testing.assert_array_equal(pre.transform(ROWS), plain.transform(ROWS))
    linear, alone = foreign_module(f"{HERE}:RIDGE", sealed).make({}, 0), Ridge({})
    assert linear.grid() == list(Ridge.points)
    linear.fit(ROWS, ROWS[:, 0], {"penalty": 10.0})
    alone.fit(ROWS, ROWS[:, 0], {"penalty": 10.0})
    np.testing.assert_allclose(linear.score(ROWS), alone.score(ROWS), rtol=1e-10)


def test_a_hosted_learner_shows_its_weights_as_plain_arrays(around):
    hosted = foreign_module(f"{HERE}:COMPONENTS", Surroundings(around.folder, boxing="all", limits=around.limits))
    learner, plain = hosted.make({"units": 4}, 0), Components({"units": 4})
    learner.fit(ROWS)
    plain.fit(ROWS)
    np.testing.assert_allclose(learner.transform(ROWS, 2), plain.transform(ROWS, 2), atol=1e-8)
    shapes = [layer["weights.npy"].shape for layer in learner.states()]
    assert shapes == [layer["weights"].shape for layer in plain.states()]


def test_a_file_that_nobody_declared_is_not_there_and_is_listed(around):
    (around.folder / "secret.txt").write_text("truth")
    hosted = foreign_module(f"{HERE}:SCALED", Surroundings(around.folder, boxing="all", limits=around.limits))
    made = hosted.make({"log": str(around.folder / "secret.txt")}, 0)
    with pytest.raises(ModuleError, match="exit code"):
        made.fit(ROWS)
    assert (around.folder / "secret.txt").read_text() == "truth"
