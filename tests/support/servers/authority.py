"""A certificate authority that nobody trusts but whoever is told to."""

from __future__ import annotations

import ssl
from datetime import UTC, datetime, timedelta
from ipaddress import ip_address
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat
from cryptography.x509.oid import NameOID

NOW = datetime.now(UTC)


def _certificate(
    name: str, issuer: str, key: ec.EllipticCurvePrivateKey, signer: ec.EllipticCurvePrivateKey
) -> bytes:
    """A certificate in PEM, of an authority where it names itself as its issuer."""
    named, by = (
        x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, each)]) for each in (name, issuer)
    )
    made = (
        x509.CertificateBuilder()
        .subject_name(named)
        .issuer_name(by)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(NOW - timedelta(days=1))
        .not_valid_after(NOW + timedelta(days=1))
        .add_extension(x509.BasicConstraints(name == issuer, None), critical=True)
        .add_extension(
            x509.SubjectAlternativeName([x509.IPAddress(ip_address("127.0.0.1"))]), critical=False
        )
        .sign(signer, hashes.SHA256())
    )
    return made.public_bytes(Encoding.PEM)


def make_authority(folder: Path) -> Path:
    """Write ``ca.pem``, and ``server.pem`` with certificate and key of 127.0.0.1; the folder."""
    own, server = (ec.generate_private_key(ec.SECP256R1()) for _ in range(2))
    (folder / "ca.pem").write_bytes(_certificate("Own CA", "Own CA", own, own))
    key = server.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())
    signed = _certificate("127.0.0.1", "Own CA", server, own)
    (folder / "server.pem").write_bytes(signed + key)
    return folder


def server_context(folder: Path) -> ssl.SSLContext:
    """What a server shows its certificate by."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(folder / "server.pem")
    return context
