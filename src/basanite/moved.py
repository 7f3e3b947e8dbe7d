"""Modules under their old names: plans, notebooks and other programs that import them go on to work.

An old name gives the very module that now holds its contents, so that there is one copy of each class and setting.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from importlib import import_module
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec
from types import ModuleType
from typing import Final

NEW_NAMES: Final = {
    "basanite.backends": "basanite.representation.backends",
    "basanite.backends.torch": "basanite.representation.backends.torch",
    "basanite.harness.analysis.analysing": "basanite.harness.analysis.run_analysis",
    "basanite.harness.analysis.progress": "basanite.harness.analysis.comparison",
    "basanite.harness.building": "basanite.harness.pipeline",
    "basanite.harness.data.sealing": "basanite.harness.data.seals",
    "basanite.harness.deep": "basanite.harness.modules",
    "basanite.harness.deep.autoencoder": "basanite.harness.modules.autoencoder",
    "basanite.harness.deep.subspaces": "basanite.harness.modules.subspaces",
    "basanite.harness.deep.training": "basanite.harness.modules.torch_blocks",
    "basanite.harness.engine": "basanite.harness.steps",
    "basanite.harness.engine.graph": "basanite.harness.steps.graph",
    "basanite.harness.engine.processes": "basanite.harness.steps.graph",
    "basanite.harness.engine.store": "basanite.harness.steps.store",
    "basanite.harness.foreign.adapters": "basanite.harness.foreign.modules",
    "basanite.harness.foreign.calls": "basanite.harness.foreign.programs",
    "basanite.harness.foreign.description": "basanite.harness.foreign.exchange",
    "basanite.harness.frozen.freezing": "basanite.harness.frozen.freeze",
    "basanite.harness.frozen.keys": "basanite.harness.frozen.signatures",
    "basanite.harness.frozen.trained": "basanite.harness.frozen.facts",
    "basanite.harness.modules.strong": "basanite.harness.modules.machines",
    "basanite.harness.modules.topics": "basanite.harness.modules.lda",
    "basanite.harness.recording": "basanite.harness.records",
    "basanite.harness.reporting": "basanite.harness.report",
    "basanite.harness.reporting.background": "basanite.harness.report.background",
    "basanite.harness.reporting.beyond": "basanite.harness.report.report",
    "basanite.harness.reporting.building": "basanite.harness.report.report",
    "basanite.harness.reporting.report": "basanite.harness.report.report",
    "basanite.harness.reporting.results": "basanite.harness.report.results",
    "basanite.harness.reporting.states": "basanite.harness.report.states",
    "basanite.harness.summary": "basanite.harness.records",
    "basanite.harness.video.contrast": "basanite.harness.video.codebook",
    "basanite.harness.video.pictures": "basanite.harness.video.codebook",
    "basanite.harness.video.writing": "basanite.harness.video.data",
    "basanite.metrics.dice": "basanite.kernel",
    "basanite.metrics.judgement.baselines": "basanite.metrics.judgement.formulas",
    "basanite.metrics.judgement.intraclass": "basanite.metrics.judgement.agreement",
    "basanite.metrics.representation": "basanite.representation.measures",
    "basanite.metrics.representation.backends": "basanite.representation.backends.blas",
    "basanite.metrics.representation.classes": "basanite.representation.measures.results",
    "basanite.metrics.representation.clustering": "basanite.representation.measures.cluster_measures",
    "basanite.metrics.representation.cosine": "basanite.representation.measures.ferm",
    "basanite.metrics.representation.draws": "basanite.representation.measures.resamples",
    "basanite.metrics.representation.everything": "basanite.representation.measures.all_measures",
    "basanite.metrics.representation.ferm": "basanite.representation.measures.ferm",
    "basanite.metrics.representation.passes": "basanite.representation.measures.sums",
    "basanite.metrics.representation.results": "basanite.representation.measures.results",
    "basanite.metrics.representation.transfer": "basanite.representation.measures.transfer",
    "basanite.metrics.retrieval.dense_ranking": "basanite.metrics.retrieval.ranking",
    "basanite.metrics.retrieval.detection": "basanite.metrics.retrieval.query_value",
    "basanite.metrics.text.speech_alignment": "basanite.metrics.text.speech",
    "basanite.reports.model": "basanite.reports.report",
    "basanite.representation.models": "basanite.representation",
    "basanite.representation.models.extraction": "basanite.representation.model_features",
    "basanite.representation.models.robustness": "basanite.representation.model_features",
    "basanite.representation.models.training": "basanite.representation.model_features",
    "basanite.synthetic.files": "basanite.synthetic",
    "basanite.synthetic.files.transforms": "basanite.synthetic.transforms",
}


class MovedModules(MetaPathFinder, Loader):
    """Finds a module of ours by its old name."""

    def __init__(self) -> None:
        self.specs: dict[str, ModuleSpec | None] = {}

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """The specification of an old name; nothing for all others."""
        return ModuleSpec(fullname, self) if fullname in NEW_NAMES else None

    def create_module(self, spec: ModuleSpec) -> ModuleType:
        """The module under its new name."""
        module = import_module(NEW_NAMES[spec.name])
        self.specs[spec.name] = module.__spec__
        return module

    def exec_module(self, module: ModuleType) -> None:
        """Give it back its own specification, which the import under the old name has replaced; it has run already."""
        if module.__spec__ is not None and module.__spec__.name in self.specs:
            module.__spec__ = self.specs.pop(module.__spec__.name)


def find_moved() -> None:
    """Let old names be found; before all other places, since a folder of the new name could hold a file of the old."""
    sys.meta_path.insert(0, MovedModules())
