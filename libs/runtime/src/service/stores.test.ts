import { expect, test } from "vitest";
import { z } from "zod";
import { storesOf, storesVariables } from "./stores.ts";

const encryptionOf = (more: Readonly<Record<string, string>>) =>
  storesOf(z.object(storesVariables).parse(more)).s3Encryption;

test("S3 encryption can be the bucket's default, S3's keys, or a key of the key management service", () => {
  const [kind, key] = ["TRAINYARD_STORAGE_S3_ENCRYPTION", "TRAINYARD_STORAGE_S3_KMS_KEY"];
  expect(encryptionOf({})).toBeUndefined();
  expect(encryptionOf({ [kind]: "s3" })).toEqual({ kind: "s3" });
  expect(encryptionOf({ [kind]: "kms" })).toEqual({ kind: "kms" });
  expect(encryptionOf({ [kind]: "kms", [key]: "k" })).toEqual({ kind: "kms", keyId: "k" });
  expect(encryptionOf({ [key]: "k" })).toEqual({ kind: "kms", keyId: "k" });
  expect(() => encryptionOf({ [kind]: "aes" })).toThrow();
  // A key without effect is a mistake.
  expect(() => encryptionOf({ [kind]: "s3", [key]: "k" })).toThrow("TRAINYARD_STORAGE_S3_KMS_KEY");
});
