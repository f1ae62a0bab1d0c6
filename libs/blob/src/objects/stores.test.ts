import { mkdtemp, rename, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { systemClock } from "@trainyard/kernel/system-clock";
import { SilentServer } from "@trainyard/testing";
import { GcsServer, newAccount } from "@trainyard/testing/gcs";
import { expect, test } from "vitest";
import { seenStore } from "./checkpoint-objects.ts";
import { Stores, storesMax } from "./stores.ts";

const section = { type: "s3", bucket: "models" };
const endpoint_url = "https://store.example:9000";

test("a store at an address that the operator has not listed is refused without a request", async () => {
  await using stores = new Stores({ clock: systemClock, endpoints: ["https://other.example"] });
  const opening = stores.of({ ...section, endpoint_url });
  await expect(opening).rejects.toMatchObject({ code: "endpoint_not_allowed", retry: "never" });
  await expect(opening).rejects.toThrow("TRAINYARD_STORAGE_ENDPOINTS");
});

test("a store at an address that the operator has listed is opened once", async () => {
  await using stores = new Stores({ clock: systemClock, endpoints: [endpoint_url] });
  const store = await stores.of({ ...section, endpoint_url });
  expect(store?.address).toContain("s3://models");
  expect(await stores.of({ ...section, endpoint_url })).toBe(store);
});

test.each([
  [{ kind: "s3" } as const, "AES256", undefined],
  [{ kind: "kms", keyId: "arn:aws:kms:key/1" } as const, "aws:kms", "arn:aws:kms:key/1"],
])("objects in S3 are encrypted as configured: %j", async (encryption, kind, key) => {
  const folder = await mkdtemp(join(tmpdir(), "stores-"));
  const credentialsFile = join(folder, "storage.json");
  const s3 = { access_key_id: "key", secret_access_key: "secret" };
  await writeFile(credentialsFile, JSON.stringify({ s3 }), { mode: 0o600 });
  await using stores = new Stores({
    clock: systemClock,
    credentialsFile,
    kinds: { s3: { encryption } },
  });
  const store = await stores.of(section);
  const sha256 = "ab".repeat(32);
  const file = { bytes: 1, sha256, parts: [{ sha256 }], md5: "", crc32c: "" };
  const plan = await store?.planUpload("a", file, { absent: true });
  expect(plan?.parts[0]?.request.headers).toMatchObject({
    "x-amz-server-side-encryption": kind,
    ...(key === undefined ? {} : { "x-amz-server-side-encryption-aws-kms-key-id": key }),
  });
  await rm(folder, { recursive: true });
});

test("objects in Google Cloud Storage are encrypted with the operator's key", async () => {
  const gcs = newAccount("a");
  const server = await GcsServer.start({ buckets: ["models"], accounts: [gcs] });
  const folder = await mkdtemp(join(tmpdir(), "stores-"));
  const credentialsFile = join(folder, "storage.json");
  await writeFile(credentialsFile, JSON.stringify({ gcs }), { mode: 0o600 });
  const kinds = { gcs: { endpoint: server.url, kmsKey: "projects/p/k" } };
  await using stores = new Stores({ clock: systemClock, credentialsFile, kinds });
  const store = await stores.of({ type: "gcs", bucket: "models" });
  const sha256 = "ab".repeat(32);
  const file = {
    bytes: 1,
    sha256,
    parts: [{ sha256 }],
    md5: "CY9rzUYh03PK3k6DJie09g==",
    crc32c: "",
  };
  const plan = await store?.planUpload("a", file, { absent: true });
  const { headers } = plan?.parts[0]?.request ?? { headers: {} };
  expect(headers).toMatchObject({ "x-goog-encryption-kms-key-name": "projects/p/k" });
  await server[Symbol.asyncDispose]();
  await rm(folder, { recursive: true });
});

test("a directory is no object store", async () => {
  await using stores = new Stores({ clock: systemClock });
  expect(await stores.of({ type: "directory", container_path: "/c" })).toBeNull();
});

test("a silent store is unavailable after the timeout", async () => {
  await using silent = await SilentServer.start();
  const patience = { silenceMs: 300, attemptsMax: 2 };
  const folder = await mkdtemp(join(tmpdir(), "stores-"));
  const credentialsFile = join(folder, "storage.json");
  const s3 = { access_key_id: "key", secret_access_key: "secret" };
  await writeFile(credentialsFile, JSON.stringify({ s3 }), { mode: 0o600 });
  const settings = { clock: systemClock, endpoints: [silent.url], patience, credentialsFile };
  await using stores = new Stores(settings);
  const store = await stores.of({ ...section, endpoint_url: silent.url });
  if (store === null) throw new Error("it is an object store");
  await expect(seenStore(store)).rejects.toMatchObject({ code: "storage_away" });
  expect(silent.connections).toBe(2);
  await rm(folder, { recursive: true });
});

test("a store is opened again when the file of credentials has changed, and not before", async () => {
  const folder = await mkdtemp(join(tmpdir(), "stores-"));
  const credentialsFile = join(folder, "storage.json");
  const write = async (key: string): Promise<void> => {
    const s3 = { access_key_id: key, secret_access_key: "secret" };
    await writeFile(`${credentialsFile}.new`, JSON.stringify({ s3 }), { mode: 0o600 });
    await rename(`${credentialsFile}.new`, credentialsFile);
  };
  const keyOf = async (store: Awaited<ReturnType<Stores["of"]>>): Promise<string> => {
    const { url = "" } = (await store?.planDownload("a")) ?? {};
    return /X-Amz-Credential=([^%]*)/.exec(url)?.[1] ?? "";
  };
  await write("first");
  await using stores = new Stores({ clock: systemClock, credentialsFile });
  const before = await stores.of(section);
  expect(await keyOf(before)).toBe("first");
  expect(await stores.of(section)).toBe(before);
  await write("second");
  const after = await stores.of(section);
  expect(await keyOf(after)).toBe("second");
  expect(await stores.of(section)).toBe(after);
  // A request that has begun ends with the store that it has.
  expect(await keyOf(before)).toBe("first");
  await rm(folder, { recursive: true });
});

test("only the stores that were used last are kept open", async () => {
  await using stores = new Stores({ clock: systemClock });
  const of = (n: number) => stores.of({ ...section, prefix: `p/${n}` });
  const [first, second] = [await of(1), await of(2)];
  for (let n = 3; n <= storesMax; n += 1) await of(n);
  expect(await of(1)).toBe(first);
  await of(storesMax + 1);
  expect(await of(1)).toBe(first);
  expect(await of(2)).not.toBe(second);
});
