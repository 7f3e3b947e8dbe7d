"""Manifests for Kubernetes: what they name exists, they are hardened, hold no secret, and kustomize takes them."""

from __future__ import annotations

import json
import re
import shutil
import subprocess

import pytest
import yaml
from tests.cli.running import ROOT, here

from basanite.campaign.settings import Settings

FOLDER = ROOT / "deploy" / "kubernetes"
ORDER = yaml.safe_load((FOLDER / "kustomization.yaml").read_text("utf-8"))
SECRETS = {
    "BASANITE_DATABASE": "postgresql+psycopg://basanite:one@database/basanite",
    "BASANITE_STORAGE__KEY_ID": "basanite",
    "BASANITE_STORAGE__SECRET": "two-two-two",
}
"""What the secret holds, as the page and the comment say."""


def manifests():
    for name in ORDER["resources"]:
        for found in yaml.safe_load_all((FOLDER / name).read_text("utf-8")):
            yield found["kind"], found["metadata"]["name"], found


ALL = {(kind, name): found for kind, name, found in manifests()}
PODS = {name: found["spec"]["template"]["spec"] for (kind, name), found in ALL.items() if kind == "Deployment"}


def test_every_manifest_is_listed_and_has_what_each_kind_must_have():
    assert {path.name for path in FOLDER.iterdir()} == {*ORDER["resources"], "kustomization.yaml"}
    assert len(ALL) == len(list(manifests()))
    assert all({"apiVersion", "kind", "metadata"} <= found.keys() for found in ALL.values())


@pytest.mark.req("Y-5")
def test_the_server_starts_with_the_settings_of_the_manifests(monkeypatch, tmp_path):
    given = {**ALL["ConfigMap", "basanite"]["data"], **SECRETS}
    assert {key.removeprefix("BASANITE_").lower().split("__")[0] for key in given} <= set(Settings.model_fields)
    monkeypatch.chdir(tmp_path)
    for key, value in given.items():
        monkeypatch.setenv(key, value)
    settings = Settings()
    assert (settings.storage.sealed, settings.https, settings.encrypt_references) == ("s3://sealed/season", True, True)
    for key in ("BASANITE_DATABASE", *(key for key in given if "STORAGE" in key)):
        monkeypatch.delenv(key)
    (web,) = PODS["web"]["containers"]
    monkeypatch.setenv("BASANITE_VAULT", str(tmp_path / "vault"))
    ended = here(*web["args"][1:-1], "season", "--check", cwd=tmp_path)
    assert ended.code == 0, ended.stderr


def test_commands_probes_and_ports_are_those_that_there_are():
    (web,), (worker,) = (PODS[name]["containers"] for name in ("web", "worker"))
    assert here(worker["args"][1], "--help").code == 0
    source = (ROOT / "src" / "basanite" / "server" / "app.py").read_text("utf-8")
    for probe in ("readinessProbe", "livenessProbe"):
        asked = web[probe]["httpGet"]
        assert f'@HEALTH.get("{asked["path"]}")' in source
        assert asked["port"] in {port["name"] for port in web["ports"]}
    service = ALL["Service", "web"]["spec"]
    labels = ALL["Deployment", "web"]["spec"]["template"]["metadata"]["labels"]
    assert service["selector"].items() <= labels.items()
    assert ALL["NetworkPolicy", "calls-of-web"]["spec"]["ingress"] == [{"ports": [{"port": 8000}]}]


@pytest.mark.parametrize("name", PODS)
def test_pods_are_hardened_and_mount_what_they_name(name):
    pod = PODS[name]
    (container,) = pod["containers"]
    assert pod["securityContext"]["runAsNonRoot"] is True
    assert (pod["automountServiceAccountToken"], container["image"]) == (False, "basanite")
    allowed = container["securityContext"]
    assert (allowed["allowPrivilegeEscalation"], allowed["readOnlyRootFilesystem"]) == (False, True)
    assert allowed["capabilities"] == {"drop": ["ALL"]}
    assert {one["name"] for one in container["volumeMounts"]} == {one["name"] for one in pod["volumes"]}
    found = ALL["Deployment", name]["spec"]
    assert found["selector"]["matchLabels"] == found["template"]["metadata"]["labels"]


def test_only_workers_have_a_profile_of_their_own_and_it_is_the_one_that_ships():
    assert PODS["web"]["securityContext"]["seccompProfile"] == {"type": "RuntimeDefault"}
    profile = PODS["worker"]["securityContext"]["seccompProfile"]
    assert profile["type"] == "Localhost"
    assert (ROOT / "deploy" / "compose" / profile["localhostProfile"]).is_file()


def test_no_secret_stands_in_a_manifest_and_the_image_is_named_by_digest():
    text = json.dumps([*ALL.values()])
    assert ("Secret", "basanite") not in ALL
    assert not re.search(r"password|secret\W+:\W+\w{4}", text, re.IGNORECASE)
    (image,) = ORDER["images"]
    assert re.fullmatch(r"sha256:0{64}", image["digest"])  # nobody else decides which


@pytest.mark.skipif(shutil.which("kubectl") is None, reason="there is no kubectl on this machine")
def test_kustomize_takes_them_and_sets_namespace_and_digest():
    done = subprocess.run(["kubectl", "kustomize", FOLDER], capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 0, done.stderr
    built = list(yaml.safe_load_all(done.stdout))
    assert len(built) == len(ALL)
    assert {one["metadata"].get("namespace") for one in built if one["kind"] != "Namespace"} == {"basanite"}
    assert done.stdout.count("image: basanite@sha256:") == len(PODS)
