"""The release of ty, a type checker, that judges Python code."""

from __future__ import annotations

from docstow.languages.shared.engines import Engine

ENGINE = Engine(
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
