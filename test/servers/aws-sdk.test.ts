// Tests the AWS SDK for Node against the S3 server, with the SDK's default settings for signing and checksums.
import { Readable } from "node:stream";
import {
  AbortMultipartUploadCommand,
  CompleteMultipartUploadCommand,
  CreateMultipartUploadCommand,
  DeleteObjectsCommand,
  GetObjectCommand,
  HeadObjectCommand,
  ListObjectsV2Command,
  PutObjectCommand,
  S3Client,
  UploadPartCommand,
} from "@aws-sdk/client-s3";
import { S3Server, testUser } from "@trainyard/testing/s3";
import { expect, test } from "vitest";

type Opened = AsyncDisposable & { readonly server: S3Server; readonly client: S3Client };

async function opened(): Promise<Opened> {
  const server = await S3Server.start({ buckets: ["bucket"] });
  const client = new S3Client({
    endpoint: server.url,
    region: server.region,
    forcePathStyle: true,
    credentials: testUser,
  });
  return {
    server,
    client,
    async [Symbol.asyncDispose]() {
      client.destroy();
      await server[Symbol.asyncDispose]();
    },
  };
}

const at = { Bucket: "bucket", Key: "a/key with é+&" };
const large = Buffer.alloc(5 * 1_024 ** 2 + 17, "abc");

test.each(["CRC32", "CRC32C", "SHA1", "SHA256"] as const)(
  "content with a %s, sent whole or as a stream of signed chunks with a trailer, is read back",
  async (algorithm) => {
    await using open = await opened();
    const { client } = open;
    const bodies = [
      Buffer.from("small"),
      large,
      Readable.from([large.subarray(0, 9), large.subarray(9)]),
    ];
    for (const body of bodies) {
      const bytes = Buffer.isBuffer(body) ? body.length : large.length;
      const command = { ...at, Body: body, ContentLength: bytes, ChecksumAlgorithm: algorithm };
      await client.send(new PutObjectCommand(command));
      const got = await client.send(new GetObjectCommand(at));
      expect((await got.Body?.transformToByteArray())?.length).toBe(bytes);
    }
    const head = await client.send(new HeadObjectCommand({ ...at, ChecksumMode: "ENABLED" }));
    expect(head[`Checksum${algorithm}`]).toBeDefined();
  },
);

test("a stream whose announced checksum is wrong is refused", async () => {
  await using open = await opened();
  const command = new PutObjectCommand({ ...at, Body: "content", ChecksumCRC32: "AAAAAA==" });
  await expect(open.client.send(command)).rejects.toMatchObject({ name: "BadDigest" });
});

test.each([
  ["CRC32", "FULL_OBJECT"],
  ["CRC32C", "COMPOSITE"],
  ["SHA256", "COMPOSITE"],
] as const)("an upload in parts with a %s of type %s is completed", async (algorithm, type) => {
  await using open = await opened();
  const { client } = open;
  const { UploadId } = await client.send(
    new CreateMultipartUploadCommand({ ...at, ChecksumAlgorithm: algorithm, ChecksumType: type }),
  );
  const parts = [];
  for (const [index, Body] of [large, Buffer.from("end")].entries()) {
    const PartNumber = index + 1;
    const input = { ...at, UploadId, PartNumber, Body, ChecksumAlgorithm: algorithm };
    parts.push({ PartNumber, ...(await client.send(new UploadPartCommand(input))) });
  }
  const input = { ...at, UploadId, MultipartUpload: { Parts: parts }, ChecksumType: type };
  const done = await client.send(new CompleteMultipartUploadCommand(input));
  expect(done.ChecksumType).toBe(type);
  const got = await client.send(new GetObjectCommand(at));
  expect(await got.Body?.transformToByteArray()).toHaveLength(large.length + 3);
});

test("listings, deletions and aborted uploads work", async () => {
  await using open = await opened();
  const { client } = open;
  for (const Key of ["p/a", "p/b/c", "p/b/d"]) {
    await client.send(new PutObjectCommand({ Bucket: "bucket", Key, Body: Key }));
  }
  const input = { Bucket: "bucket", Prefix: "p/", Delimiter: "/" };
  const listed = await client.send(new ListObjectsV2Command(input));
  expect(listed.Contents?.map(({ Key, Size }) => [Key, Size])).toEqual([["p/a", 3]]);
  expect(listed.CommonPrefixes).toEqual([{ Prefix: "p/b/" }]);
  const Objects = [{ Key: "p/a" }, { Key: "absent" }];
  const gone = await client.send(
    new DeleteObjectsCommand({ Bucket: "bucket", Delete: { Objects } }),
  );
  expect(gone.Deleted?.map(({ Key }) => Key)).toEqual(["p/a", "absent"]);
  const { UploadId } = await client.send(new CreateMultipartUploadCommand(at));
  await client.send(new AbortMultipartUploadCommand({ ...at, UploadId }));
  await expect(
    client.send(new AbortMultipartUploadCommand({ ...at, UploadId })),
  ).rejects.toMatchObject({
    name: "NoSuchUpload",
  });
});
