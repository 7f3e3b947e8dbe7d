"""The systemd units: systemd takes them, they are hardened, and their commands exist."""

import configparser
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from tests.cli.running import ROOT, here

UNITS = sorted((ROOT / "deploy" / "systemd").iterdir())
SERVICES = [unit for unit in UNITS if unit.suffix == ".service"]
INSTALLED = "/opt/basanite/bin/basanite"
HARDENED = {
    "NoNewPrivileges": "yes",
    "ProtectSystem": "strict",
    "ProtectHome": "yes",
    "PrivateTmp": "yes",
    "PrivateDevices": "yes",
    "CapabilityBoundingSet": "",
    "UMask": "0077",
    "User": "basanite",
}
BREAKS_THE_BOX = {"RestrictNamespaces", "SystemCallFilter", "ProtectProc", "ProcSubset", "ProtectKernelTunables"}


def service(unit):
    parser = configparser.RawConfigParser(strict=False, delimiters=("=",), inline_comment_prefixes=None)
    parser.optionxform = str
    parser.read_string(unit.read_text(encoding="utf-8"))
    return dict(parser["Service"])


def test_there_are_units_for_the_server_any_number_of_workers_and_a_nightly_backup():
    assert [unit.name for unit in UNITS] == [
        "basanite-backup.service",
        "basanite-backup.timer",
        "basanite-web.service",
        "basanite-worker@.service",
    ]


@pytest.mark.skipif(shutil.which("systemd-analyze") is None, reason="there is no systemd-analyze on this machine")
def test_systemd_finds_nothing_wrong_with_the_units(tmp_path):
    program = Path(sys.executable).with_name("basanite")
    for unit in UNITS:
        text = unit.read_text(encoding="utf-8").replace(INSTALLED, str(program))
        (tmp_path / unit.name).write_text(text, encoding="utf-8")
    found = subprocess.run(
        ["systemd-analyze", "verify", "--man=no", *sorted(tmp_path.iterdir())],
        capture_output=True,
        text=True,
        check=False,
    )
    told = [line for line in found.stderr.splitlines() if "basanite" in line]
    assert (found.returncode, told) == (0, [])


@pytest.mark.parametrize("unit", SERVICES, ids=lambda unit: unit.stem)
def test_a_service_may_do_no_more_than_it_needs(unit):
    set_ = service(unit)
    assert {name: set_.get(name) for name in HARDENED} == HARDENED
    assert "/var/lib/basanite" in set_["ReadWritePaths"].split()
    assert set_["EnvironmentFile"] == "-/etc/basanite/secrets"


@pytest.mark.parametrize("unit", [one for one in SERVICES if "backup" not in one.name], ids=lambda unit: unit.stem)
def test_what_scores_can_still_make_a_box(unit):
    assert BREAKS_THE_BOX.isdisjoint(service(unit))


@pytest.mark.parametrize("unit", SERVICES, ids=lambda unit: unit.stem)
def test_a_service_calls_a_command_with_options_that_exist(unit):
    command, rest = re.search(rf"{INSTALLED} (\w+) (.*)", service(unit)["ExecStart"]).groups()
    shown = here(command, "--help").stdout
    assert [option for option in re.findall(r"--[a-z-]+", rest) if option not in shown] == []
