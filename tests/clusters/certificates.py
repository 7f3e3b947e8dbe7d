"""Certificates for a cluster: one who signs, and one certificate for all of its processes and users."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID


def write_certificates(folder: Path) -> Path:
    """A folder with ca.pem, cert.pem and key.pem, signed by somebody of its own."""
    folder.mkdir()
    signer, own = (ec.generate_private_key(ec.SECP256R1()) for _ in range(2))
    ca = _certificate("signer", signer, "signer", signer, authority=True)
    certificate = _certificate("worker", own, "signer", signer, authority=False)
    for name, one in (("ca.pem", ca), ("cert.pem", certificate)):
        (folder / name).write_bytes(one.public_bytes(serialization.Encoding.PEM))
    plain = (serialization.PrivateFormat.PKCS8, serialization.NoEncryption())
    key = folder / "key.pem"
    key.write_bytes(own.private_bytes(serialization.Encoding.PEM, *plain))
    key.chmod(0o600)
    return folder


def _certificate(name, key, issuer, signer, *, authority):
    now = datetime.now(UTC)
    return (
        x509.CertificateBuilder()
        .subject_name(x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, name)]))
        .issuer_name(x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, issuer)]))
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - timedelta(hours=1))
        .not_valid_after(now + timedelta(days=1))
        .add_extension(x509.BasicConstraints(ca=authority, path_length=None), critical=True)
        .sign(signer, hashes.SHA256())
    )
