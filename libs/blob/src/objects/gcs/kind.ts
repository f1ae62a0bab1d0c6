import { createPrivateKey } from "node:crypto";
import { type ObjectStoreKind, textIn } from "../../storage-kind.ts";
import type { GcsCredentials } from "./options.ts";

type GcsSettings = {
  /** The store's endpoint if it is not Google's: a private address, or a server with the same protocol. */
  readonly endpoint?: string;
  /** The name of the Cloud KMS key; default: the bucket's setting. */
  readonly kmsKey?: string;
};

const endpointVariable = "TRAINYARD_STORAGE_GCS_ENDPOINT";

/** The credentials are the content of a Google service account's key file. */
export const gcs = {
  scheme: "gs",
  bucketKey: "bucket",
  endpointKey: null,
  endpointVariable,

  settings(variables) {
    const endpoint = textIn(variables[endpointVariable]);
    const kmsKey = textIn(variables["TRAINYARD_STORAGE_GCS_KMS_KEY"]);
    if (endpoint !== null && !URL.canParse(endpoint)) {
      throw new Error(`${endpointVariable} must be a URL`);
    }
    return { ...(endpoint === null ? {} : { endpoint }), ...(kmsKey === null ? {} : { kmsKey }) };
  },

  credentials({ client_email, private_key }) {
    const [clientEmail, privateKey] = [textIn(client_email), textIn(private_key)];
    if (clientEmail === null || privateKey === null) {
      throw new Error("gcs is no key of a service account: client_email or private_key is missing");
    }
    try {
      createPrivateKey(privateKey);
    } catch {
      // The crypto error is not passed on: it may quote the key.
      throw new Error("private_key of gcs is not a private key in PEM");
    }
    return { clientEmail, privateKey };
  },

  async open(place, settings, credentials) {
    const { openGcsStore } = await import("./store.ts");
    return openGcsStore({ ...place, ...settings, ...(credentials && { credentials }) });
  },
} satisfies ObjectStoreKind<GcsSettings, GcsCredentials>;
