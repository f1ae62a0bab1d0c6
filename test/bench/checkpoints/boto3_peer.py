"""boto3's transfer manager in its default configuration, driven by orders in lines of JSON.

It prints the seconds of each order. All files of an order go through one manager, so that its ten
threads transfer small files at the same time.
"""

from __future__ import annotations

import json
import sys
import time
from pathlib import Path
from typing import Any

import boto3  # pyright: ignore[reportMissingImports] — not here
from s3transfer.manager import TransferManager  # pyright: ignore[reportMissingImports] — not here

BUCKET = "bench"


def transfer(manager: Any, order: dict[str, Any]) -> None:
    folder = Path(order["folder"])
    call = manager.upload if order["what"] == "upload" else manager.download
    futures: list[Any] = []
    for name in order["names"]:
        file, key = str(folder / name), f"boto3/{name}"
        ends = (file, BUCKET, key) if order["what"] == "upload" else (BUCKET, key, file)
        futures.append(call(*ends))
    for future in futures:
        future.result()


def main(url: str) -> None:
    s3: Any = boto3.client(
        "s3",
        endpoint_url=url,
        region_name="us-east-1",
        aws_access_key_id="testkey",
        aws_secret_access_key="testsecret",
    )
    for line in sys.stdin:
        began = time.perf_counter()
        with TransferManager(s3) as manager:
            transfer(manager, json.loads(line))
        print(time.perf_counter() - began, flush=True)


main(sys.argv[1])
