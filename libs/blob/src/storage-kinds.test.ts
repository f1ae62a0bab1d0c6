import { expect, test } from "vitest";
import { storeSettings } from "./storage-kinds.ts";

const encryptionOf = (more: Readonly<Record<string, string>>) => storeSettings(more).s3?.encryption;

test("S3 encryption can be the bucket's default, S3's keys, or a key of the key management service", () => {
  const [kind, key] = ["TRAINYARD_STORAGE_S3_ENCRYPTION", "TRAINYARD_STORAGE_S3_KMS_KEY"];
  expect(encryptionOf({})).toBeUndefined();
  expect(encryptionOf({ [kind]: "s3" })).toEqual({ kind: "s3" });
  expect(encryptionOf({ [kind]: "kms" })).toEqual({ kind: "kms" });
  expect(encryptionOf({ [kind]: "kms", [key]: "k" })).toEqual({ kind: "kms", keyId: "k" });
  expect(encryptionOf({ [key]: "k" })).toEqual({ kind: "kms", keyId: "k" });
  expect(() => encryptionOf({ [kind]: "aes" })).toThrow("TRAINYARD_STORAGE_S3_ENCRYPTION");
  // A key without effect is a mistake.
  expect(() => encryptionOf({ [kind]: "s3", [key]: "k" })).toThrow("TRAINYARD_STORAGE_S3_KMS_KEY");
});

test("a wrong endpoint of Google Cloud Storage is a wrong setting of the service", () => {
  const variable = "TRAINYARD_STORAGE_GCS_ENDPOINT";
  expect(storeSettings({ [variable]: "https://a.example" }).gcs?.endpoint).toBe(
    "https://a.example",
  );
  expect(() => storeSettings({ [variable]: "a" })).toThrow(
    expect.objectContaining({
      code: "invalid_environment",
      message: expect.stringContaining(variable),
    }),
  );
});
