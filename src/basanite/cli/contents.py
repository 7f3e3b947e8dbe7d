"""What commands there are: by what people want to do, each with its module and one line (P-3)."""

from __future__ import annotations

from typing import Final

SECTIONS: Final = {
    "Score at home": {
        "validate": ("scoring.validate", "Find all problems of a submission, each with its place and its cure."),
        "score": ("scoring.score", "Score a submission against a reference, with intervals and breakdowns."),
        "compare": ("scoring.compare", "Tell which of several systems differ, with groups and rank ranges."),
        "power": ("scoring.power", "Tell how many units are enough, and what difference the present ones can show."),
        "across": (
            "scoring.across",
            "Rank systems over several tasks by a declared rule, and see what hangs on one task.",
        ),
        "advise": ("scoring.advise", "Tell which threshold would have been best, on a key that you hold."),
        "explore": ("scoring.explore", "List misses and false alarms and make a page of them, on a key that you hold."),
        "pack": ("scoring.pack", "Make a submission archive with the right name."),
    },
    "Prepare data": {
        "dataset": ("data.dataset", "Check a released data set, build packs from documents, make up one to rehearse."),
        "queries": ("data.queries", "List the queries of a pack with kind, subtype and domain, and all its problems."),
        "domains": ("data.domains", "Show the domains: definition, what belongs to each, and annotators' notes."),
        "convert": ("convert", "Turn files of TREC, WMT, STM, CTM, trec_eval and sacreBLEU into ours, and back."),
        "pool": ("scoring.pool", "Choose which documents of several runs to have judged, and weigh each run's part."),
    },
    "People judge and annotate": {
        "judge": ("judge", "Judging by people: schemes, rounds, crowd batches, agreement, judged systems."),
        "annotation": (
            "annotation",
            "Check the configuration of an annotation tool, compare versions, migrate records.",
        ),
    },
    "Machine reading": {
        "reading": ("reading", "Machine reading: check packages, reason with rules, and make reading tasks."),
    },
    "Learning algorithms and features": {
        "harness": ("harness", "Run evaluation plans: sealed splits, six conditions, teams' systems, claims."),
        "measure": ("measure", "Tell how well features represent data: measures, shift, comparison, a monitor."),
    },
    "Take part in a season": {
        "submit": ("submit", "Send a submission to a server; resume, wait for the answer, keep the receipt."),
        "verify": ("verify", "Check a receipt offline by keys you hold, and make its score again."),
        "decrypt": ("decrypt", "Open a file of a pack that was handed out encrypted, once its key is out."),
    },
    "Run a season": {
        "demo": ("demo", "Start a small season on this machine, with people to sign in as."),
        "admin": ("admin", "Organise a season: plan, people, data, truth, releases, appeals, the log."),
        "publish": ("operating.publish", "Make a static site of what a campaign has released."),
        "import": (
            "operating.import_campaign",
            "Read a campaign that another server exported: its history, nobody's rights.",
        ),
    },
    "Operate a server": {
        "serve": ("operating.serve", "Run the server of a season, with its worker beside it or elsewhere."),
        "worker": ("operating.worker", "Run jobs of a season: validate, score, compare, send mail."),
        "doctor": (
            "operating.doctor",
            "Tell what is installed, and what could keep a server from working, with cures.",
        ),
        "backup": ("operating.backup", "Write everything a server holds into one encrypted file, the vault apart."),
        "restore": ("operating.restore", "Put a backup back to an empty place, checked before it counts."),
    },
    "Look up": {
        "tasks": ("scoring.listing", "List the tasks, each with its settings."),
        "metrics": ("scoring.listing", "List the metrics, each with its citation."),
        "plugins": ("scoring.listing", "List everything that is registered, and by which package."),
        "completion": ("completion", "Print what lets your shell complete commands, options and names of tasks."),
    },
}
COMMANDS: Final = {name: words for section in SECTIONS.values() for name, (_, words) in section.items()}
