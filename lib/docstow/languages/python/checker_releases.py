"""The releases of the type checkers that judge Python code."""

from __future__ import annotations

from docstow.languages.shared.engines import Engine

TY = Engine(
    name="ty",
    version="0.0.105",
    registry="pypi",
    package="ty",
    programs=("ty-0.0.105.data/scripts/ty", "ty-0.0.105.data/scripts/ty.exe"),
    digests={
        "linux-x64": "sha256-wyF7CyFyFSIvj6nZ2e676uN7eisHLbsvE7PXCevWmsU=",
        "linux-arm64": "sha256-eowBXLB1pYE6aSFw7cHtLf571y4clGzIoQLWEuXnEMs=",
        "linux-x64-musl": "sha256-3TceATBdXmTYLcmv3CHGT+EBw/X6h/9fkmfwCmCEXMc=",
        "linux-arm64-musl": "sha256-hj1M1fm1spUo81w2/l+aYKp+PgTQ2xCebuPljZT3g9Q=",
        "darwin-x64": "sha256-LIwTQCycwFewsPi/iwbdX7TZvwCw+dvTS+cHv1KAz/g=",
        "darwin-arm64": "sha256-Mnit7cGxd9m+hOK0k4rKiV8cgOcu4jttAxR3XWXreTc=",
        "win32-x64": "sha256-Rve/iad2gRuoX3PRnziy7Fy5QAHfxbxaffurVLf/3pQ=",
        "win32-arm64": "sha256-CcF17UfBNXYIByUa7S97Ou3xnIDt1+eI2WdB9+S+mv4=",
    },
    licence="MIT",
)

PYREFLY = Engine(
    name="pyrefly",
    version="1.4.1",
    registry="pypi",
    package="pyrefly",
    programs=("pyrefly-1.4.1.data/scripts/pyrefly", "pyrefly-1.4.1.data/scripts/pyrefly.exe"),
    digests={
        "linux-x64": "sha256-GcNefmOgIHb8VVvbCAAwK4m7QZ494oFKuCdMDGrAAVg=",
        "linux-arm64": "sha256-g2P4iPGbU9S0DlTYnmWxJ+pozRz4YE3igk3/3J15AOk=",
        "linux-x64-musl": "sha256-xJEiQSqZBGnuCp5aUN049pkOQvkDs8wPfc8MeoSZfGU=",
        "linux-arm64-musl": "sha256-YDWw/2QKjn11HzHlILOw3Gu0LHalfNQ4GcoOk1TNN/4=",
        "darwin-x64": "sha256-nFpKPw7ACuZqE/V0HDVZgGhREbcAgonAuFDpvpMao/o=",
        "darwin-arm64": "sha256-6rohM2mTdlNz5+iI3pD01YIUzjiZSATu+QKmyBSN8h8=",
        "win32-x64": "sha256-SdKsRg//vluODCDpkb+Hl4gF16uju38E2bU6Gg4dZDA=",
        "win32-arm64": "sha256-O1q8zsonmXP6cxLJWMBu52ChtKP+ufO4n9RSDlNliu8=",
    },
    licence="MIT",
)
#: All of them, in the order in which they are asked.
ENGINES = (TY, PYREFLY)
