// Tests with the examples of "Authenticating Requests (AWS Signature Version 4)" in the API reference of Amazon S3,
// with its keys.
import { expect, test } from "vitest";
import { ChunkedBody } from "./chunks.ts";
import {
  expectedSignature,
  readSignature,
  scopeOf,
  sha256Hex,
  type SignedRequest,
  signingKey,
} from "./signature.ts";

const accessKey = "AKIAIOSFODNN7EXAMPLE";
const secret = "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY";
const scope = "20130524/us-east-1/s3/aws4_request";
const host = "examplebucket.s3.amazonaws.com";
const nothing = sha256Hex("");

function signed(
  method: string,
  path: string,
  query: SignedRequest["query"],
  headers: Readonly<Record<string, string>>,
  signature: string,
): SignedRequest {
  const all = { host, "x-amz-date": "20130524T000000Z", ...headers };
  const names = Object.keys(all).toSorted().join(";");
  const authorization = `AWS4-HMAC-SHA256 Credential=${accessKey}/${scope},SignedHeaders=${names},Signature=${signature}`;
  return { method, path, query, headers: { ...all, authorization } };
}

const examples: Readonly<Record<string, SignedRequest>> = {
  "a GET of a range": signed(
    "GET",
    "/test.txt",
    [],
    { range: "bytes=0-9", "x-amz-content-sha256": nothing },
    "f0e8bdb87c964420e857bd35b5d6ed310bd44f0170aba48dd91039c6036bdb41",
  ),
  "a PUT with a key that is encoded": signed(
    "PUT",
    "/test$file.text",
    [],
    {
      date: "Fri, 24 May 2013 00:00:00 GMT",
      "x-amz-content-sha256": "44ce7dd67c959e0d3524ffac1771dfbba87d2b6b4b4e99e42034a8b803f8b072",
      "x-amz-storage-class": "REDUCED_REDUNDANCY",
    },
    "98ad721746da40c64f1a55b78f14c238d841ea1380cd77a1b5971af0ece108bd",
  ),
  "a subresource without a value": signed(
    "GET",
    "/",
    [["lifecycle", ""]],
    { "x-amz-content-sha256": nothing },
    "fea454ca298b7da1c68078a5d1bdbfbbe0d65c699e0f91ac7a200a0136783543",
  ),
  "a query of several parameters": signed(
    "GET",
    "/",
    [
      ["max-keys", "2"],
      ["prefix", "J"],
    ],
    { "x-amz-content-sha256": nothing },
    "34b48302e7b5fa45bde8084f4b7868a86f0a534bc59db6670ed5711ef69dc6f7",
  ),
  "a presigned GET": {
    method: "GET",
    path: "/test.txt",
    query: [
      ["X-Amz-Algorithm", "AWS4-HMAC-SHA256"],
      ["X-Amz-Credential", `${accessKey}/${scope}`],
      ["X-Amz-Date", "20130524T000000Z"],
      ["X-Amz-Expires", "86400"],
      ["X-Amz-SignedHeaders", "host"],
      ["X-Amz-Signature", "aeeed9bbccd4d02ee5c0109b86d86835f995330da4c265957d157751f604d404"],
    ],
    headers: { host },
  },
};

test.each(Object.entries(examples))("the documented signature holds for %s", (_, request) => {
  const signature = readSignature(request);
  if (signature === null) throw new Error("the request is not signed");
  expect(signature.accessKey).toBe(accessKey);
  expect(expectedSignature(request, signature, secret)).toBe(signature.signature);
  expect(expectedSignature({ ...request, method: "HEAD" }, signature, secret)).not.toBe(
    signature.signature,
  );
});

const seed = "4f232c4386841ef735655705268965c44a0e4690baa4adea153f7db9fa80a0a9";
const upload = signed(
  "PUT",
  "/examplebucket/chunkObject.txt",
  [],
  {
    host: "s3.amazonaws.com",
    "content-encoding": "aws-chunked",
    "content-length": "66824",
    "x-amz-content-sha256": "STREAMING-AWS4-HMAC-SHA256-PAYLOAD",
    "x-amz-decoded-content-length": "66560",
    "x-amz-storage-class": "REDUCED_REDUNDANCY",
  },
  seed,
);
const chunkSignatures = [
  "ad80c730a21e5b8d04586a2213dd63b9a0e99e0e2307b0ade35a65485a288648",
  "0055627c9e194cb4542bae2aa5492e3c1575bbb81b612b7d234b86a503ef5497",
  "b6c6ea8a5354eaf15b3cb7646744f4275b71ea724fed81ceb9323e279d449df9",
];

async function decoded(body: Buffer): Promise<Buffer> {
  const signature = readSignature(upload);
  if (signature === null) throw new Error("the request is not signed");
  expect(expectedSignature(upload, signature, secret)).toBe(seed);
  const key = signingKey(secret, signature);
  const signing = { key, at: signature.at, scope: scopeOf(signature), seed };
  async function* pieces(): AsyncGenerator<Uint8Array> {
    for (let at = 0; at < body.length; at += 1_000) yield body.subarray(at, at + 1_000);
  }
  const chunks: Uint8Array[] = [];
  for await (const piece of new ChunkedBody(pieces(), signing).content(false)) chunks.push(piece);
  return Buffer.concat(chunks);
}

function chunked(content: Buffer): Buffer {
  const chunk = (from: number, to: number, at: number): Buffer =>
    Buffer.concat([
      Buffer.from(`${(to - from).toString(16)};chunk-signature=${chunkSignatures[at]}\r\n`),
      content.subarray(from, to),
      Buffer.from("\r\n"),
    ]);
  return Buffer.concat([chunk(0, 65_536, 0), chunk(65_536, 66_560, 1), chunk(66_560, 66_560, 2)]);
}

test("the documented signatures of chunks are accepted", async () => {
  const content = Buffer.alloc(66_560, "a");
  expect(await decoded(chunked(content))).toEqual(content);
});

test("chunks with a changed byte, another order or no end are refused", async () => {
  const content = Buffer.alloc(66_560, "a");
  content[66_000] = 98;
  await expect(decoded(chunked(content))).rejects.toMatchObject({ code: "SignatureDoesNotMatch" });
  const whole = chunked(Buffer.alloc(66_560, "a"));
  await expect(decoded(whole.subarray(0, 66_000))).rejects.toMatchObject({
    code: "IncompleteBody",
  });
  const swapped = Buffer.from(
    whole.toString("latin1").replace(chunkSignatures[0] ?? "", chunkSignatures[1] ?? ""),
    "latin1",
  );
  await expect(decoded(swapped)).rejects.toMatchObject({ code: "SignatureDoesNotMatch" });
});
