"""Webhooks over https: the address is pinned, and the certificate must be the name's all the same (X-10)."""

import datetime
import ssl

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

from basanite.campaign.notices.messages import UndeliverableError
from basanite.campaign.notices.webhook_calls import Call, call


@pytest.fixture(scope="module")
def certificate(tmp_path_factory):
    """A certificate for hook.example that signs itself, in a file with its key."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "hook.example")])
    now = datetime.datetime.now(datetime.UTC)
    made = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(1)
        .not_valid_before(now - datetime.timedelta(days=1))
        .not_valid_after(now + datetime.timedelta(days=1))
        .add_extension(x509.SubjectAlternativeName([x509.DNSName("hook.example")]), critical=False)
        .add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
        .sign(key, hashes.SHA256())
    )
    path = tmp_path_factory.mktemp("certificate") / "both.pem"
    plain = serialization.NoEncryption()
    secret = key.private_bytes(serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, plain)
    path.write_bytes(made.public_bytes(serialization.Encoding.PEM) + secret)
    return path


@pytest.fixture
def secured(called, certificate):
    """The web server, speaking https as hook.example."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate)
    called.socket = context.wrap_socket(called.socket, server_side=True)
    return called


def ring(server, host):
    asked = []

    def resolve(name, port):
        asked.append(name)
        return ["127.0.0.1"]

    call(Call(f"https://{host}:{server.server_port}/ok", b"{}", {}), resolve=resolve, loopback=True)
    return asked


def test_a_name_with_a_trusted_certificate_is_called_at_the_pinned_address(secured, certificate, monkeypatch):
    monkeypatch.setenv("SSL_CERT_FILE", str(certificate))
    assert ring(secured, "hook.example") == ["hook.example"]
    assert [path for path, _, _ in secured.calls] == ["/ok"]


def test_a_certificate_of_another_name_or_of_nobody_is_refused(secured, certificate, monkeypatch):
    with pytest.raises(UndeliverableError, match="certificate"):
        ring(secured, "hook.example")
    monkeypatch.setenv("SSL_CERT_FILE", str(certificate))
    with pytest.raises(UndeliverableError, match="certificate"):
        ring(secured, "other.example")
    assert secured.calls == []
