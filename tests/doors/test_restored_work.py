"""After a restore a worker takes up everything that was unfinished when the backup was made (X-28)."""

from __future__ import annotations

import json

import pytest
from click.testing import CliRunner
from tests.cli.running import ROOT
from tests.doors.stage import staged
from tests.doors.test_calendar_rules import BASE, CONTENT

from basanite.cli import app
from basanite.cli.office import GivenClock


@pytest.mark.req("X-28")
@pytest.mark.timeout(300)
def test_a_worker_that_works_until_idle_finishes_what_a_backup_held_unfinished(tmp_path):
    (tmp_path / "backup.key").write_text("0f" * 32)
    key = ("--key", tmp_path / "backup.key")
    with staged(tmp_path / "season", BASE.read_text(encoding="utf-8"), "2018-01-23 12:00") as base:
        base.sign("data")
        where = ["--task", "CLIR", "--dataset", "DEV", "--language", "1A", "--queryset", "QUERY1"]
        base.two_agree("reference", "add", ROOT / "examples" / "clir" / "key", *where, "--reason", "first")
        for label in ("one", "two"):
            assert base.post("bea", CONTENT, "DEV", label=label).status_code == 201
        base.command("backup", tmp_path / "all.backup", *key, "--vault-to", tmp_path / "vault.copy")
        clock = base.clock

    def command(*words):
        line = [*map(str, words), "--data", str(tmp_path / "restored"), "--json"]
        ended = CliRunner().invoke(app, line, obj=GivenClock(clock))
        assert ended.exit_code == 0, (words, ended.output, ended.exception)
        return json.loads(ended.stdout)

    command("restore", tmp_path / "all.backup", *key, "--vault-from", tmp_path / "vault.copy")
    assert command("worker", "--until-idle", "--limit", "240")["left"] == 0
    kinds = [one["kind"] for one in command("admin", "events", "--limit", "1000")["events"]]
    assert kinds.count("submission.scored") == 2, sorted(set(kinds))
