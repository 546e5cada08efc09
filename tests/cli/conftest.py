"""Commands never read the configuration of the user who runs the tests; TLS and password files for guarded servers."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from ipaddress import ip_address
from pathlib import Path

import bcrypt
import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

PASSWORD = "pass:wörd"


@pytest.fixture(autouse=True)
def own_home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Set an empty configuration folder. Return the path of its qmon.toml."""
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    for name in ("QMON_PASSWORD", "PGPASSWORD", "QMON_DEBUG", "QMON_LOG"):
        monkeypatch.delenv(name, raising=False)
    return tmp_path / "config" / "qmon" / "qmon.toml"


@pytest.fixture(scope="module")
def users(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a file with one name in it, as htpasswd writes it."""
    path = tmp_path_factory.mktemp("users") / "users"
    hashed = bcrypt.hashpw(PASSWORD.encode(), bcrypt.gensalt(4)).decode().replace("$2b$", "$2y$")
    path.write_text(f"# who may\n\nprometheus:{hashed}\n")
    return path


@pytest.fixture(scope="module")
def certificate(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """Return a self-signed certificate for 127.0.0.1, and its key."""
    folder = tmp_path_factory.mktemp("tls")
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "qmon")])
    began = datetime.now(UTC) - timedelta(hours=1)
    made = (
        x509.CertificateBuilder(name, name, key.public_key(), x509.random_serial_number())
        .not_valid_before(began)
        .not_valid_after(began + timedelta(days=1))
        .add_extension(x509.SubjectAlternativeName([x509.IPAddress(ip_address("127.0.0.1"))]), critical=False)
        .sign(key, hashes.SHA256())
    )
    encoding, plain = serialization.Encoding.PEM, serialization.NoEncryption()
    (folder / "cert.pem").write_bytes(made.public_bytes(encoding))
    (folder / "key.pem").write_bytes(key.private_bytes(encoding, serialization.PrivateFormat.PKCS8, plain))
    return folder / "cert.pem", folder / "key.pem"
