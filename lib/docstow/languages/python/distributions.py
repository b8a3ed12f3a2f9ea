"""Distributions of Python whose names are not what is imported of them, by what is."""

from __future__ import annotations

from collections.abc import Mapping

#: Of those that are used most; others have the name that is imported, or a wheel that says it.
IMPORTED_AS: Mapping[str, tuple[str, ...]] = {
    "Bio": ("biopython",),
    "Crypto": ("pycryptodome",),
    "Cryptodome": ("pycryptodomex",),
    "MySQLdb": ("mysqlclient",),
    "OpenSSL": ("pyopenssl",),
    "PIL": ("pillow",),
    "attr": ("attrs",),
    "binance": ("python-binance",),
    "bs4": ("beautifulsoup4",),
    "consul": ("python-consul",),
    "cv2": ("opencv-python", "opencv-python-headless", "opencv-contrib-python"),
    "dateutil": ("python-dateutil",),
    "docx": ("python-docx",),
    "dotenv": ("python-dotenv",),
    "fitz": ("pymupdf",),
    "git": ("gitpython",),
    "github": ("pygithub",),
    "gitlab": ("python-gitlab",),
    "gi": ("pygobject",),
    "igraph": ("python-igraph", "igraph"),
    "jose": ("python-jose",),
    "jwt": ("pyjwt",),
    "kafka": ("kafka-python",),
    "ldap": ("python-ldap",),
    "magic": ("python-magic",),
    "memcache": ("python-memcached",),
    "multipart": ("python-multipart",),
    "nacl": ("pynacl",),
    "pkg_resources": ("setuptools",),
    "pptx": ("python-pptx",),
    "psycopg2": ("psycopg2-binary", "psycopg2"),
    "pythoncom": ("pywin32",),
    "rest_framework": ("djangorestframework",),
    "serial": ("pyserial",),
    "skimage": ("scikit-image",),
    "sklearn": ("scikit-learn",),
    "slugify": ("python-slugify",),
    "socks": ("pysocks",),
    "speech_recognition": ("speechrecognition",),
    "telegram": ("python-telegram-bot",),
    "umap": ("umap-learn",),
    "usb": ("pyusb",),
    "websocket": ("websocket-client",),
    "win32api": ("pywin32",),
    "win32com": ("pywin32",),
    "xdist": ("pytest-xdist",),
    "yaml": ("pyyaml",),
    "zmq": ("pyzmq",),
}
#: Names that many distributions share, each with modules of its own below it.
SHARED = frozenset(
    {"google", "azure", "zope", "sphinxcontrib", "backports", "ruamel", "opentelemetry"}
)


def distributions(imported: str) -> tuple[str, ...]:
    """Return names of distributions that an import most likely leads to, the likeliest first."""
    parts = imported.split(".")
    if parts[0] in SHARED:
        return tuple("-".join(parts[:end]) for end in (3, 2) if len(parts) >= end)
    return IMPORTED_AS.get(parts[0], (parts[0],))
