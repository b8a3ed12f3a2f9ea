"""Make a bucket on the S3 server that the settings name, unless it is there already.

python bucket.py NAME
"""

from __future__ import annotations

import os
import sys

from botocore.exceptions import ClientError

from docstow.core.settings import load
from docstow.store.objects import s3


def main(name: str) -> int:
    """Make the bucket."""
    settings = load({}, os.environ)
    client = s3.connect(endpoint=settings.s3_endpoint, region=settings.s3_region)
    try:
        client.create_bucket(Bucket=name)
    except ClientError as fault:
        code = fault.response["Error"]["Code"]
        if code not in {"BucketAlreadyOwnedByYou", "BucketAlreadyExists"}:
            raise
    print(f"Bucket: {name}")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
