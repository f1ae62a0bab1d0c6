import { chmod, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { newAccount } from "@trainyard/testing/gcs";
import { expect, test } from "vitest";
import { readCredentialsFile } from "./credentials.ts";

async function withFile<T>(
  text: string,
  mode: number,
  use: (path: string) => Promise<T>,
): Promise<T> {
  const folder = await mkdtemp(join(tmpdir(), "credentials-"));
  const path = join(folder, "storage.json");
  try {
    await writeFile(path, text);
    await chmod(path, mode);
    return await use(path);
  } finally {
    await rm(folder, { recursive: true });
  }
}

const s3 = { access_key_id: "key", secret_access_key: "hidden" };

test("credentials of S3 are read from a file that only its owner can read", async () => {
  const read = await withFile(JSON.stringify({ s3 }), 0o600, readCredentialsFile);
  expect(read).toEqual({ s3: { accessKeyId: "key", secretAccessKey: "hidden" } });
  const temporary = JSON.stringify({ s3: { ...s3, session_token: "token" } });
  const withToken = await withFile(temporary, 0o400, readCredentialsFile);
  expect(withToken.s3?.sessionToken).toBe("token");
  expect(await withFile("{}", 0o600, readCredentialsFile)).toEqual({});
});

test("the key of a Google service account is read from its key file unchanged", async () => {
  const { client_email, private_key, ...more } = newAccount("trainyard");
  const text = JSON.stringify({ s3, gcs: { client_email, private_key, ...more } });
  expect(await withFile(text, 0o600, readCredentialsFile)).toEqual({
    s3: { accessKeyId: "key", secretAccessKey: "hidden" },
    gcs: { clientEmail: client_email, privateKey: private_key },
  });
});

test.each([0o640, 0o604, 0o666])("a file of mode %o is refused", async (mode) => {
  const read = withFile(JSON.stringify({ s3 }), mode, readCredentialsFile);
  await expect(read).rejects.toThrow(
    /its mode is 06\d\d, so that others can read it: run chmod 600/,
  );
});

test.each([
  '{"s3": {"access_key_id": "key", "secret_access_key": "hidden"',
  '{"s3": {"secret_access_key": "hidden"}}',
  '{"s3": "hidden"}',
  '["hidden"]',
  '{"gcs": {"private_key": "hidden"}}',
  '{"gcs": {"client_email": "a@b", "private_key": "hidden"}}',
  "null",
])("a file that contains %s is refused with a message that does not quote it", async (text) => {
  const thrown = await withFile(text, 0o600, readCredentialsFile).catch((error: unknown) => error);
  expect(thrown).toMatchObject({ code: "credentials_missing" });
  expect(String(thrown)).not.toContain("hidden");
});

test("a missing file is refused with its path", async () => {
  await expect(readCredentialsFile("/no/such/file")).rejects.toThrow(
    /\/no\/such\/file cannot be used/,
  );
});
