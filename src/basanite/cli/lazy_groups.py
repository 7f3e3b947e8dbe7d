"""Groups whose commands are imported when they are called: `reading`, `harness`, `measure` and `material`."""

from __future__ import annotations

from typing import Final

import click

from basanite.cli.groups import LazyGroup
from basanite.cli.options import example

READING_SECTIONS: Final = {
    "Packages and reading tasks": {
        "new": ("reading_packages", "Make a new package, small and in order, to be filled with your own."),
        "check": ("reading", "Check a reading package and list every problem with file, line and fix."),
        "schema": ("reading", "Print the JSON Schema of package.toml, for editors."),
        "register": ("reading", "Record the hashes of new documents."),
        "next": ("reading_packages", "Say which texts and statements are worth annotating next."),
        "gold": ("reading_packages", "Derive gold answers from annotations and rules, as the next version."),
        "baseline": ("reading_packages", "Answer a package's queries by its patterns: a score to beat."),
        "generate": ("reading", "Generate a reading task from a package as an RDF graph."),
        "export": ("reading", "Export annotations, constraints or queries in standard formats."),
        "release": ("reading", "Build a release with license, citation and checksums, without sealed parts."),
        "effort": ("reading", "Show or log the effort that a use case, or a system adapted to it, has taken."),
        "adaptation": ("reading_packages", "Draw the scores of adapted systems against the effort they took."),
    },
    "Reasoning": {
        "infer": ("reasoner", "Derive what follows from statements, and list contradictions."),
        "explain": ("reasoner", "Show the derivation of a statement, down to the text."),
        "contexts": ("reasoner", "Find the largest consistent sets among contradictory statements."),
        "combinations": ("reasoner", "Rank combinations of events that explain a total."),
        "answer": ("reasoner", "Answer queries from statements and rules."),
    },
}
MATERIAL_SECTIONS: Final = {
    "With a reference that you hold": {
        "advise": ("held_key", "Find the best decision threshold by cross-validation."),
        "explore": ("held_key", "List misses and false alarms, and write a page to explore them."),
    },
    "Queries and domains": {
        "queries": ("queries", "List the queries of a pack with kind, subtype and domain, and check the pack."),
        "domains": ("queries", "Show the domains: definition, scope and annotators' notes."),
    },
}
HARNESS_SECTIONS: Final = {
    "Run a plan": {
        "check": ("harness", "Check a plan before it runs, and name the claims that its design cannot decide."),
        "schema": ("harness", "Print the JSON Schema of plans, for editors."),
        "run": ("harness", "Run a plan, every condition for every team, and write the result folder."),
        "status": ("harness", "Show the progress of a run and the status of each part."),
        "calibrate": ("harness_calibration", "Count how often verdicts on constructed data are as constructed."),
    },
    "Seal it": {
        "seal": ("harness", "Draw a plan's secret seed and print the commitment to it."),
        "unseal": ("harness", "Verify a commitment after its seal has been published."),
    },
    "Freeze and hand over": {
        "freeze": ("harness_frozen", "Record the hashes of a system's code or parameters, and sign off on changes."),
        "export": ("harness_frozen", "Export the preprocessed sets of a plan for teams."),
        "submissions": ("harness_frozen", "Write what a run predicted as submissions, and score them as such."),
        "bundle": ("harness_frozen", "Build a bundle that runs a plan at a team's site."),
        "sign": ("harness_frozen", "Sign the result of a bundle, so that changes can be detected."),
        "verify": ("harness_frozen", "Verify a result folder that a team sent back."),
    },
    "Examine results": {
        "analyse": ("harness_report", "Test a plan's claims on a result folder."),
        "compare": ("harness_report", "List the differences between two result folders of one plan."),
        "progress": ("harness_report", "Compare two evaluations of the same teams, run by run."),
        "report": ("harness_report", "Write a report of a result folder as HTML or slides."),
    },
}
MEASURE_SECTIONS: Final = {
    "Commands": {
        "extract": ("measure_models", "Take features of a local model's layers from pictures or texts."),
        "run": ("measure", "Measure a set of features, by class and by group, with confidence intervals."),
        "shift": ("measure", "Mix a target into a source step by step, and see which measures respond."),
        "compare": (
            "measure",
            "Compare several sets or models, with and without transformations, against a proxy metric.",
        ),
        "study": ("measure_models", "Run a study: models on data sets, proxies, measures, correlations, a shift."),
        "monitor": ("measure", "Monitor batches of new data: alarms, the share of new data, recommended action."),
    },
}


@click.group(
    cls=LazyGroup,
    sections=READING_SECTIONS,
    epilog=example("basanite reading check nfl"),
    context_settings={"help_option_names": ["-h", "--help"]},
)
def reading() -> None:
    """Machine reading: check packages, reason with rules, and make reading tasks."""


@click.group(
    cls=LazyGroup,
    sections=HARNESS_SECTIONS,
    epilog=example("basanite harness run quick.toml"),
    context_settings={"help_option_names": ["-h", "--help"]},
)
def harness() -> None:
    """Run evaluation plans: data, sealed splits, six conditions, teams' systems, claims."""


@click.group(
    cls=LazyGroup,
    sections=MEASURE_SECTIONS,
    epilog=example("basanite measure run seen.npz"),
    context_settings={"help_option_names": ["-h", "--help"]},
)
def measure() -> None:
    """Measure how well a model's features represent data, from features and labels alone."""


@click.group(
    cls=LazyGroup,
    sections=MATERIAL_SECTIONS,
    epilog=example("basanite material advise clir --reference key/ --submission Alpha.tgz"),
    context_settings={"help_option_names": ["-h", "--help"]},
)
def material() -> None:
    """IARPA MATERIAL: threshold advice, error analysis, query packs and domains."""
