"""boto3, as its users configure it, against the S3 server of the tests. Prints one line for each thing that worked."""

from __future__ import annotations

import io
import sys
import urllib.request
from typing import Any

import boto3  # pyright: ignore[reportMissingImports] — not here
from boto3.s3.transfer import TransferConfig  # pyright: ignore[reportMissingImports] — not here
from botocore.config import Config  # pyright: ignore[reportMissingImports] — not here
from botocore.exceptions import ClientError  # pyright: ignore[reportMissingImports] — not here

MIB = 1024 * 1024
LARGE = bytes(range(256)) * (12 * MIB // 256) + b"end"
BUCKET = "bucket"


def client(url: str, secret: str = "testsecret", **config: Any) -> Any:
    return boto3.client(
        "s3",
        endpoint_url=url,
        region_name="us-east-1",
        aws_access_key_id="testkey",
        aws_secret_access_key=secret,
        config=Config(signature_version="s3v4", retries={"max_attempts": 1}, **config),
    )


def refused(code: str, call: Any, **arguments: Any) -> None:
    try:
        call(**arguments)
    except ClientError as error:
        found = error.response["Error"]["Code"]
        if found != code:
            raise AssertionError(f"{found}, not {code}") from error
        print(f"refused {code}")
        return
    raise AssertionError(f"the request was not refused with {code}")


def main(url: str) -> None:
    s3 = client(url)
    s3.put_object(Bucket=BUCKET, Key="a/small é", Body=b"content", ChecksumAlgorithm="SHA256")
    assert s3.get_object(Bucket=BUCKET, Key="a/small é")["Body"].read() == b"content"
    print("put and get")
    transfer = TransferConfig(multipart_threshold=5 * MIB, multipart_chunksize=5 * MIB)
    s3.upload_fileobj(io.BytesIO(LARGE), BUCKET, "a/large", Config=transfer)
    target = io.BytesIO()
    s3.download_fileobj(BUCKET, "a/large", target, Config=transfer)
    assert target.getvalue() == LARGE
    print("upload and download in parts")
    s3.copy({"Bucket": BUCKET, "Key": "a/large"}, BUCKET, "b/copy", Config=transfer)
    assert s3.head_object(Bucket=BUCKET, Key="b/copy")["ContentLength"] == len(LARGE)
    print("copy in parts")
    listed = s3.list_objects_v2(Bucket=BUCKET, Prefix="a/")["Contents"]
    assert [entry["Key"] for entry in listed] == ["a/large", "a/small é"]
    print("list")
    presigned = s3.generate_presigned_url("get_object", Params={"Bucket": BUCKET, "Key": "a/large"})
    with urllib.request.urlopen(presigned) as answer:
        assert answer.read() == LARGE
    print("presigned")
    s3.delete_objects(Bucket=BUCKET, Delete={"Objects": [{"Key": "a/large"}, {"Key": "b/copy"}]})
    refused("404", s3.head_object, Bucket=BUCKET, Key="a/large")
    forged = client(url, secret="guess")
    refused("SignatureDoesNotMatch", forged.get_object, Bucket=BUCKET, Key="a/small é")
    refused("BadDigest", s3.put_object, Bucket=BUCKET, Key="a", Body=b"x", ChecksumCRC32="AAAAAA==")
    refused(
        "PreconditionFailed",
        s3.put_object,
        Bucket=BUCKET,
        Key="a/small é",
        Body=b"x",
        IfNoneMatch="*",
    )
    refused("NoSuchBucket", s3.list_objects_v2, Bucket="other")


main(sys.argv[1])
