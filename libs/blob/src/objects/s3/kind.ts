import { type ObjectStoreKind, textIn, type Variables } from "../../storage-kind.ts";
import type { S3Credentials, S3Encryption } from "./options.ts";

/** `TRAINYARD_STORAGE_REGION`: the region. */
type S3Settings = {
  readonly region?: string;
  readonly encryption?: S3Encryption;
};

/** The credentials are `{"access_key_id": "…", "secret_access_key": "…", "session_token": "…"}`. */
export const s3 = {
  scheme: "s3",
  bucketKey: "bucket",
  endpointKey: "endpoint_url",
  endpointVariable: null,

  settings(variables) {
    const region = textIn(variables["TRAINYARD_STORAGE_REGION"]);
    const encryption = encryptionOf(variables);
    return {
      ...(region === null ? {} : { region }),
      ...(encryption === null ? {} : { encryption }),
    };
  },

  credentials({ access_key_id, secret_access_key, session_token }) {
    const [accessKeyId, secretAccessKey, sessionToken] = [
      textIn(access_key_id),
      textIn(secret_access_key),
      textIn(session_token),
    ];
    if (accessKeyId === null || secretAccessKey === null) {
      throw new Error("s3 has no access_key_id or no secret_access_key");
    }
    return { accessKeyId, secretAccessKey, ...(sessionToken === null ? {} : { sessionToken }) };
  },

  async open(place, settings, credentials) {
    const { openS3Store } = await import("./store.ts");
    return openS3Store({ ...place, ...settings, ...(credentials && { credentials }) });
  },
} satisfies ObjectStoreKind<S3Settings, S3Credentials>;

const kindVariable = "TRAINYARD_STORAGE_S3_ENCRYPTION";
const keyVariable = "TRAINYARD_STORAGE_S3_KMS_KEY";

/** Null for the bucket's setting; without a key, `kms` uses the account's. */
function encryptionOf(variables: Variables): S3Encryption | null {
  const [kind, keyId] = [variables[kindVariable], textIn(variables[keyVariable])];
  if (kind !== undefined && kind !== "s3" && kind !== "kms") {
    throw new Error(`${kindVariable} must be s3 or kms`);
  }
  if (kind === "s3" && keyId !== null) throw new Error(`${keyVariable} needs ${kindVariable}=kms`);
  if (kind === "s3") return { kind };
  if (kind === undefined && keyId === null) return null;
  return { kind: "kms", ...(keyId === null ? {} : { keyId }) };
}
