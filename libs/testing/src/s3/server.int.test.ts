import { createHash, createHmac } from "node:crypto";
import { expect, test } from "vitest";
import { S3Server, type S3ServerOptions, testUser } from "./index.ts";
import { expectedSignature, readSignature, sha256Hex, type SignedRequest } from "./signature.ts";

type Wanted = {
  readonly method?: string;
  readonly path?: string;
  readonly query?: readonly (readonly [string, string])[];
  readonly headers?: Readonly<Record<string, string>>;
  /** Headers that are sent but not signed. */
  readonly unsigned?: Readonly<Record<string, string>>;
  readonly content?: string;
  readonly secret?: string;
  readonly atMs?: number;
  readonly region?: string;
};
type Answered = {
  readonly status: number;
  readonly code: string;
  readonly headers: Headers;
  readonly text: string;
};

const start = (options: Partial<S3ServerOptions> = {}): Promise<S3Server> =>
  S3Server.start({ buckets: ["bucket"], limits: { partBytesMin: 10 }, ...options });

/** Signs requests with the code that the documented examples test. */
async function call(server: S3Server, wanted: Wanted): Promise<Answered> {
  const { method = "GET", path = "/bucket/a", query = [], content = "" } = wanted;
  const at = new Date(wanted.atMs ?? Date.now()).toISOString().replace(/[-:]|\.\d+/g, "");
  const headers: Record<string, string> = {
    host: new URL(server.url).host,
    "x-amz-date": at,
    "x-amz-content-sha256": sha256Hex(content),
    ...wanted.headers,
  };
  const names = Object.keys(headers).toSorted().join(";");
  const scope = `${at.slice(0, 8)}/${wanted.region ?? "us-east-1"}/s3/aws4_request`;
  const written = (signature: string): string =>
    `AWS4-HMAC-SHA256 Credential=${testUser.accessKeyId}/${scope}, SignedHeaders=${names}, Signature=${signature}`;
  const unsigned: SignedRequest = {
    method,
    path,
    query,
    headers: { ...headers, authorization: written("") },
  };
  const parsed = readSignature(unsigned);
  if (parsed === null) throw new Error("the request is not signed");
  const signature = expectedSignature(unsigned, parsed, wanted.secret ?? testUser.secretAccessKey);
  return fetched(
    server,
    unsigned,
    { ...headers, ...wanted.unsigned, authorization: written(signature) },
    content,
  );
}

async function fetched(
  server: S3Server,
  { method, path, query }: Pick<SignedRequest, "method" | "path" | "query">,
  headers: Record<string, string>,
  content: string,
): Promise<Answered> {
  const search = query
    .map(([name, value]) => `${encodeURIComponent(name)}=${encodeURIComponent(value)}`)
    .join("&");
  const response = await fetch(`${server.url}${path}${search === "" ? "" : `?${search}`}`, {
    method,
    headers,
    ...(content === "" ? {} : { body: content }),
  });
  const text = await response.text();
  return {
    status: response.status,
    code: /<Code>(\w+)/.exec(text)?.[1] ?? "",
    headers: response.headers,
    text,
  };
}

const put = { method: "PUT", content: "content" } as const;
const md5 = (text: string): string => createHash("md5").update(text).digest("base64");
const sha256 = (text: string): string => createHash("sha256").update(text).digest("base64");

test("an object is written once, read as a whole and in ranges, and deleted", async () => {
  await using server = await start();
  expect(await call(server, put)).toMatchObject({ status: 200 });
  expect(await call(server, {})).toMatchObject({ status: 200, text: "content" });
  const ranges = { "bytes=2-4": "nte", "bytes=4-": "ent", "bytes=-3": "ent", "bytes=5-100": "nt" };
  for (const [range, text] of Object.entries(ranges)) {
    expect(await call(server, { headers: { range } })).toMatchObject({ status: 206, text });
  }
  expect(await call(server, { headers: { range: "bytes=7-" } })).toMatchObject({
    code: "InvalidRange",
  });
  expect(await call(server, { ...put, headers: { "if-none-match": "*" } })).toMatchObject({
    status: 412,
    code: "PreconditionFailed",
  });
  expect((await call(server, { method: "DELETE" })).status).toBe(204);
  expect(await call(server, {})).toMatchObject({ status: 404, code: "NoSuchKey" });
});

test.each<[string, Wanted, string]>([
  ["another secret", { secret: "other" }, "SignatureDoesNotMatch"],
  ["a time 16 minutes ago", { atMs: Date.now() - 960_000 }, "RequestTimeTooSkewed"],
  ["a time in 16 minutes", { atMs: Date.now() + 960_000 }, "RequestTimeTooSkewed"],
  ["another region", { region: "eu-west-1" }, "AuthorizationHeaderMalformed"],
  ["an amazon header that is not signed", { unsigned: { "x-amz-acl": "private" } }, "AccessDenied"],
  [
    "a session token that the user does not have",
    { headers: { "x-amz-security-token": "x" } },
    "InvalidToken",
  ],
  ["a bucket that does not exist", { path: "/other/a" }, "NoSuchBucket"],
  ["a subresource that is not there", { query: [["acl", ""]] }, "NotImplemented"],
  ["a listing of version 1", { path: "/bucket" }, "NotImplemented"],
])("a request with %s is refused", async (_, wanted, code) => {
  await using server = await start();
  expect(
    (
      await call(server, {
        ...put,
        ...wanted,
        method: wanted.query || wanted.path === "/bucket" ? "GET" : "PUT",
        content: "",
      })
    ).code,
  ).toBe(code);
});

test("an unsigned request, or one with another request's signature, is refused", async () => {
  await using server = await start();
  expect((await fetch(`${server.url}/bucket/a`)).status).toBe(403);
  const headers = { "x-amz-content-sha256": sha256Hex("content") };
  const changed = await call(server, {
    ...put,
    headers,
    unsigned: { "x-amz-content-sha256": sha256Hex("other") },
  });
  expect(changed.code).toBe("SignatureDoesNotMatch");
});

test.each<[string, Wanted, string]>([
  [
    "other content than was signed",
    { headers: { "x-amz-content-sha256": sha256Hex("other") } },
    "XAmzContentSHA256Mismatch",
  ],
  ["a wrong Content-MD5", { headers: { "content-md5": md5("other") } }, "BadDigest"],
  ["a Content-MD5 that is none", { headers: { "content-md5": "abc" } }, "InvalidDigest"],
  ["a wrong SHA-256", { headers: { "x-amz-checksum-sha256": sha256("other") } }, "BadDigest"],
  ["a wrong CRC-32", { headers: { "x-amz-checksum-crc32": "AAAAAA==" } }, "BadDigest"],
  ["a wrong CRC-32C", { headers: { "x-amz-checksum-crc32c": "AAAAAA==" } }, "BadDigest"],
  [
    "a checksum of another length",
    { headers: { "x-amz-checksum-sha256": md5("content") } },
    "InvalidRequest",
  ],
  [
    "two checksums",
    { headers: { "x-amz-checksum-sha256": sha256("content"), "x-amz-checksum-crc32": "AAAAAA==" } },
    "InvalidRequest",
  ],
])("an object with %s is refused and not stored", async (_, wanted, code) => {
  await using server = await start();
  expect(await call(server, { ...put, ...wanted })).toMatchObject({ status: 400, code });
  expect((await call(server, {})).code).toBe("NoSuchKey");
});

test("right digests are accepted, and stored checksums are returned on request", async () => {
  await using server = await start();
  const value = sha256("content");
  const headers = { "content-md5": md5("content"), "x-amz-checksum-sha256": value };
  expect((await call(server, { ...put, headers })).headers.get("x-amz-checksum-sha256")).toBe(
    value,
  );
  const asked = await call(server, { headers: { "x-amz-checksum-mode": "ENABLED" } });
  expect(asked.headers.get("x-amz-checksum-sha256")).toBe(value);
  expect((await call(server, {})).headers.get("x-amz-checksum-sha256")).toBeNull();
});

/** The check value of each algorithm is the checksum of the text 123456789. */
test("the CRC checksums have the check values of their definitions", async () => {
  await using server = await start();
  const of = (name: string, hex: string) => ({
    ...put,
    content: "123456789",
    headers: { [`x-amz-checksum-${name}`]: Buffer.from(hex, "hex").toString("base64") },
  });
  expect((await call(server, of("crc32", "cbf43926"))).status).toBe(200);
  expect((await call(server, of("crc32c", "e3069283"))).status).toBe(200);
});

async function begin(
  server: S3Server,
  headers: Readonly<Record<string, string>> = {},
): Promise<string> {
  const { text } = await call(server, { method: "POST", query: [["uploads", ""]], headers });
  return /<UploadId>([^<]+)/.exec(text)?.[1] ?? "";
}

function part(
  server: S3Server,
  id: string,
  number: number,
  content: string,
  headers = {},
): Promise<Answered> {
  const query = [
    ["partNumber", String(number)],
    ["uploadId", id],
  ] as const;
  return call(server, { method: "PUT", query, content, headers });
}

function complete(server: S3Server, id: string, parts: readonly string[]): Promise<Answered> {
  const content = `<CompleteMultipartUpload>${parts.map((one) => `<Part>${one}</Part>`).join("")}</CompleteMultipartUpload>`;
  return call(server, { method: "POST", query: [["uploadId", id]], content });
}

const named = (number: number, etag: string, more = ""): string =>
  `<PartNumber>${number}</PartNumber><ETag>${etag}</ETag>${more}`;
const etagOf = (text: string): string => `"${createHash("md5").update(text).digest("hex")}"`;

test("an upload is completed by its parts' ETags in order, and parts below the smallest size are refused", async () => {
  await using server = await start();
  const id = await begin(server);
  const [one, two] = ["0123456789", "end"];
  expect((await part(server, id, 1, one)).headers.get("etag")).toBe(etagOf(one));
  await part(server, id, 2, two);
  const [first, second] = [named(1, etagOf(one)), named(2, etagOf(two))];
  expect((await complete(server, id, [second, first])).code).toBe("InvalidPartOrder");
  expect((await complete(server, id, [first, named(3, etagOf(two))])).code).toBe("InvalidPart");
  expect((await complete(server, id, [first, named(2, etagOf(one))])).code).toBe("InvalidPart");
  expect((await complete(server, id, [])).code).toBe("MalformedXML");
  expect((await call(server, {})).code).toBe("NoSuchKey");
  await part(server, id, 1, "small");
  expect((await complete(server, id, [named(1, etagOf("small")), second])).code).toBe(
    "EntityTooSmall",
  );
  await part(server, id, 1, one);
  expect((await complete(server, id, [first, second])).status).toBe(200);
  expect((await call(server, {})).text).toBe(one + two);
  expect((await complete(server, id, [first, second])).code).toBe("NoSuchUpload");
});

test("an upload with checksums requires one for each part and returns their composite checksum", async () => {
  await using server = await start();
  const id = await begin(server, { "x-amz-checksum-algorithm": "SHA256" });
  const [one, two] = ["0123456789", "end"];
  expect((await part(server, id, 1, one)).code).toBe("InvalidRequest");
  expect((await part(server, id, 1, one, { "x-amz-checksum-sha256": sha256(two) })).code).toBe(
    "BadDigest",
  );
  await part(server, id, 1, one, { "x-amz-checksum-sha256": sha256(one) });
  await part(server, id, 2, two, { "x-amz-checksum-sha256": sha256(two) });
  const [a, b] = [
    `<ChecksumSHA256>${sha256(one)}</ChecksumSHA256>`,
    `<ChecksumSHA256>${sha256(two)}</ChecksumSHA256>`,
  ];
  expect((await complete(server, id, [named(1, etagOf(one)), named(2, etagOf(two))])).code).toBe(
    "InvalidRequest",
  );
  expect(
    (await complete(server, id, [named(1, etagOf(one), b), named(2, etagOf(two), b)])).code,
  ).toBe("InvalidPart");
  const { text } = await complete(server, id, [named(1, etagOf(one), a), named(2, etagOf(two), b)]);
  const both = Buffer.concat([
    Buffer.from(sha256(one), "base64"),
    Buffer.from(sha256(two), "base64"),
  ]);
  expect(text).toContain(
    `<ChecksumSHA256>${createHash("sha256").update(both).digest("base64")}-2<`,
  );
});

test("an aborted upload is deleted with its parts", async () => {
  await using server = await start();
  const id = await begin(server);
  await part(server, id, 1, "0123456789");
  expect((await call(server, { method: "DELETE", query: [["uploadId", id]] })).status).toBe(204);
  expect((await part(server, id, 2, "x")).code).toBe("NoSuchUpload");
  expect((await call(server, { query: [["uploadId", id]] })).code).toBe("NoSuchUpload");
  const { text } = await call(server, { path: "/bucket", query: [["uploads", ""]] });
  expect(text).not.toContain("<Upload>");
});

function presigned(server: S3Server, method: string, seconds: number, atMs = Date.now()): string {
  const at = new Date(atMs).toISOString().replace(/[-:]|\.\d+/g, "");
  const scope = `${at.slice(0, 8)}/us-east-1/s3/aws4_request`;
  const query: [string, string][] = [
    ["X-Amz-Algorithm", "AWS4-HMAC-SHA256"],
    ["X-Amz-Credential", `${testUser.accessKeyId}/${scope}`],
    ["X-Amz-Date", at],
    ["X-Amz-Expires", String(seconds)],
    ["X-Amz-SignedHeaders", "host"],
    ["X-Amz-Signature", "0"],
  ];
  const request = { method, path: "/bucket/a", query, headers: { host: new URL(server.url).host } };
  const parsed = readSignature({
    ...request,
    query: query.map(([n, v]) => [n, n === "X-Amz-Expires" ? "60" : v]),
  });
  if (parsed === null) throw new Error("the request is not signed");
  const signature = expectedSignature(request, parsed, testUser.secretAccessKey);
  const search = query.slice(0, -1).map(([name, value]) => `${name}=${encodeURIComponent(value)}`);
  return `${server.url}/bucket/a?${search.join("&")}&X-Amz-Signature=${signature}`;
}

test("a presigned request is valid for its method, its time and its path only", async () => {
  await using server = await start();
  await call(server, put);
  const status = async (url: string, method = "GET"): Promise<number> =>
    (await fetch(url, { method })).status;
  expect(await status(presigned(server, "GET", 60))).toBe(200);
  expect(await status(presigned(server, "GET", 60), "DELETE")).toBe(403);
  expect(await status(presigned(server, "GET", 60).replace("/a?", "/b?"))).toBe(403);
  expect(await status(presigned(server, "GET", 60).replace("Expires=60", "Expires=600"))).toBe(403);
  expect(await status(presigned(server, "GET", 60, Date.now() - 61_000))).toBe(403);
  expect(await status(presigned(server, "GET", 60, Date.now() + 16 * 60_000))).toBe(403);
  expect(await status(presigned(server, "GET", 604_801))).toBe(400);
});

test("a revoked right is refused, and a user that may not list is refused for an absent object too", async () => {
  await using server = await start();
  await call(server, put);
  server.deny("s3:ListBucket");
  expect((await call(server, { path: "/bucket/absent" })).code).toBe("AccessDenied");
  expect((await call(server, {})).status).toBe(200);
  server.deny("s3:GetObject");
  expect((await call(server, {})).code).toBe("AccessDenied");
  server.allow("s3:GetObject");
  expect((await call(server, {})).status).toBe(200);
});

test("a server that discards content counts it and returns zeros, but keeps small content", async () => {
  await using server = await start({ discardsContent: true });
  expect((await call(server, put)).status).toBe(200);
  expect((await call(server, {})).text).toBe("content");
  const large = { ...put, content: "x".repeat(20_000) };
  expect((await call(server, large)).status).toBe(200);
  expect((await call(server, {})).text).toBe("\0".repeat(20_000));
});

test("a server that was stopped has its objects again when it restarts", async () => {
  await using server = await start();
  await call(server, put);
  await server.away();
  await expect(call(server, {})).rejects.toThrow();
  await server.listen();
  expect((await call(server, {})).text).toBe("content");
});

test("a signature with a key of another algorithm is refused", async () => {
  await using server = await start();
  const url = presigned(server, "GET", 60);
  const forged = createHmac("sha256", "guess").update(url).digest("hex");
  expect((await fetch(url.replace(/Signature=[0-9a-f]+$/, `Signature=${forged}`))).status).toBe(
    403,
  );
});
