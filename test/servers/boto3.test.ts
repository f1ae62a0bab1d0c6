// Tests boto3 against the S3 server, in a virtual environment of its own, since its version is independent of the
// training's packages.
import { execFile } from "node:child_process";
import { join } from "node:path";
import { promisify } from "node:util";
import { notRun } from "@trainyard/testing/needs";
import { S3Server } from "@trainyard/testing/s3";
import { expect, test } from "vitest";
import { makeBoto3 } from "../../scripts/lib/boto3-environment.ts";

const program = join(import.meta.dirname, "boto3_client.py");

test("boto3 writes, reads, copies, lists, presigns and deletes, and gets the refusals of S3", async ({
  skip,
}) => {
  const boto3 = await makeBoto3((line) => process.stderr.write(`${line}\n`));
  if (boto3.python === null) return notRun(skip, boto3.why);
  await using server = await S3Server.start({ buckets: ["bucket"] });
  const { stdout } = await promisify(execFile)(boto3.python, [program, server.url]);
  expect(stdout.trim().split("\n")).toEqual([
    "put and get",
    "upload and download in parts",
    "copy in parts",
    "list",
    "presigned",
    "refused 404",
    "refused SignatureDoesNotMatch",
    "refused BadDigest",
    "refused PreconditionFailed",
    "refused NoSuchBucket",
  ]);
  return undefined;
}, 300_000);
