"""The compose file: valid YAML, settings that exist, nothing open to the world, no secret inside."""

import json
import re

import pytest
import yaml
from tests.cli.running import ROOT, here

from basanite.campaign.settings import Settings

FILE = ROOT / "deploy" / "compose" / "compose.yaml"
ASKED = re.compile(r"\$\{(\w+):\?[^}]*\}")
USUAL = re.compile(r"\$\{\w+:-([^}]*)\}")
SECRETS = {
    "BASANITE_ADDRESS": "https://evaluation.example.org",
    "POSTGRES_PASSWORD": "one",
    "STORAGE_PASSWORD": "two-two-two",
}


@pytest.fixture(scope="module")
def services():
    return yaml.safe_load(FILE.read_text(encoding="utf-8"))["services"]


def filled(text):
    return USUAL.sub(r"\1", ASKED.sub(lambda found: SECRETS[found[1]], str(text)))


def test_it_has_a_database_a_store_the_server_two_workers_and_a_proxy_that_is_asked_for(services):
    assert set(services) == {"database", "storage", "buckets", "web", "worker", "proxy"}
    assert services["worker"]["deploy"] == {"replicas": 2}
    assert services["proxy"]["profiles"] == ["proxy"]


@pytest.mark.parametrize("name", ["web", "worker"])
def test_what_it_sets_are_settings_of_the_server_for_postgresql_and_object_storage(
    services, name, monkeypatch, tmp_path
):
    monkeypatch.chdir(tmp_path)
    given = {key: filled(value) for key, value in services[name]["environment"].items()}
    for key, value in given.items():
        monkeypatch.setenv(key, value)
    settings = Settings()
    known = {key.removeprefix("BASANITE_").lower().split("__")[0] for key in given}
    assert known <= set(Settings.model_fields)
    assert settings.database_url == "postgresql+psycopg://basanite:one@database/basanite"
    assert (settings.storage.files, settings.storage.sealed) == ("s3://files/season", "s3://sealed/season")
    assert settings.storage.secret == SECRETS["STORAGE_PASSWORD"]
    assert settings.encrypt_references
    assert settings.https


@pytest.mark.req("X-36")
def test_the_server_starts_behind_a_proxy_that_is_named_and_no_wider(services, monkeypatch, tmp_path):
    for key, value in services["web"]["environment"].items():
        if key in ("BASANITE_ADDRESS", "BASANITE_PROXIES"):
            monkeypatch.setenv(key, filled(value))
    words = services["web"]["command"][1:-1]
    assert here(*words, "season", "--check", cwd=tmp_path).code == 0
    (network,) = yaml.safe_load(FILE.read_text(encoding="utf-8"))["networks"]["outside"]["ipam"]["config"]
    monkeypatch.chdir(tmp_path)
    assert Settings().proxies == (network["subnet"],)
    assert services["proxy"]["networks"] == ["outside"]


def test_web_and_workers_share_the_vault_and_nothing_else(services):
    web, worker = (set(services[name]["volumes"]) for name in ("web", "worker"))
    assert web & worker == {"vault:/var/lib/basanite/vault"}


def test_nothing_but_the_proxy_listens_beyond_this_machine(services):
    open_ports = {name: one["ports"] for name, one in services.items() if "ports" in one and name != "proxy"}
    assert open_ports == {"web": ["127.0.0.1:8000:8000"]}
    assert all(services[name]["networks"] == ["inside"] for name in ("database", "storage", "buckets"))


def test_no_secret_stands_in_the_file_and_none_has_a_default(services):
    said = json.dumps(services)
    for name in ("POSTGRES_PASSWORD", "MINIO_ROOT_PASSWORD", "BASANITE_STORAGE__SECRET"):
        values = {one["environment"][name] for one in services.values() if name in one.get("environment", {})}
        assert values
        assert all(ASKED.fullmatch(value) for value in values)
    assert not re.search(r"\$\{\w*(PASSWORD|SECRET)\w*:-", said)


def test_images_are_plain_names(services):
    images = {one["image"] for one in services.values()}
    assert all("." not in image.partition(":")[0] for image in images)
