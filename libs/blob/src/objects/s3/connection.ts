/** The S3 client and the common parts of its requests: bucket, full keys, encryption headers, Faults. */
import { createHash } from "node:crypto";
import { HeadBucketCommand, S3Client } from "@aws-sdk/client-s3";
import type { getSignedUrl } from "@aws-sdk/s3-request-presigner";
import { isFault } from "@trainyard/kernel";
import { checkObjectKey, keyPrefix } from "../keys.ts";
import type { PlannedRequest } from "../port.ts";
import { type Failing, faultOf } from "./errors.ts";
import type { S3Settings } from "./options.ts";

/** The connection timeout; a host that exceeds it is unavailable. */
const connectMsMax = 10_000;

/** The maximum age of the store's clock reading that signatures use. */
const clockMsMax = 10_000;
const clockAnswerMsMax = 2_000;

type SigningOptions = NonNullable<Parameters<typeof getSignedUrl>[2]>;

export class S3Connection {
  readonly client: S3Client;
  /**
   * The client with longer timeouts, for requests that the store processes before it answers: completions of uploads,
   * and copies.
   */
  readonly patient: S3Client;
  readonly settings: S3Settings;
  readonly address: string;
  readonly prefix: string;
  #clock: { readonly untilMs: number; readonly known: Promise<void> } | null = null;

  constructor(settings: S3Settings) {
    this.settings = settings;
    this.prefix = keyPrefix(settings.prefix);
    this.address = `s3://${settings.bucket}/${this.prefix}`.replace(/\/$/, "");
    this.client = clientOf(settings, settings.silenceMs);
    const workMs = Math.max(settings.workMs, settings.silenceMs);
    this.patient = workMs === settings.silenceMs ? this.client : clientOf(settings, workMs);
  }

  destroy(): void {
    this.client.destroy();
    this.patient.destroy();
  }

  /** Returns the bucket and the full key. */
  at(key: string): { readonly Bucket: string; readonly Key: string } {
    checkObjectKey(key, this.prefix);
    return { Bucket: this.settings.bucket, Key: this.prefix + key };
  }

  /** The encryption fields of requests that create an object. */
  get encryption(): {
    readonly ServerSideEncryption?: "AES256" | "aws:kms";
    readonly SSEKMSKeyId?: string;
  } {
    const { encryption } = this.settings;
    if (encryption === undefined) return {};
    if (encryption.kind === "s3") return { ServerSideEncryption: "AES256" };
    const { keyId } = encryption;
    return {
      ServerSideEncryption: "aws:kms",
      ...(keyId === undefined ? {} : { SSEKMSKeyId: keyId }),
    };
  }

  /** Runs a request and turns its error into a Fault, unless `handle` returns a result for the error. */
  async attempt<T>(
    doing: string,
    right: string,
    request: () => Promise<T>,
    handle: (error: unknown) => T | undefined = () => undefined,
  ): Promise<T> {
    try {
      return await request();
    } catch (error) {
      const handled = handle(error);
      if (handled !== undefined) return handled;
      throw this.fault(error, doing, right);
    }
  }

  /** Signs exactly the given headers, besides the host. A plan expires no later than the credentials. */
  async signedUrl(
    sign: (options: SigningOptions) => Promise<string>,
    headers: PlannedRequest["headers"],
  ): Promise<Pick<PlannedRequest, "url" | "expiresAtMs">> {
    const { client, settings } = this;
    await this.#knowClock();
    const nowMs = settings.clock.nowMs();
    return this.attempt("sign a request", "credentials", async () => {
      const url = await sign({
        expiresIn: settings.planSeconds,
        signingDate: new Date(nowMs + client.config.systemClockOffset),
        unhoistableHeaders: new Set(Object.keys(headers)),
      });
      const { expiration } = await client.config.credentials();
      const endsMs = expiration?.getTime() ?? Number.POSITIVE_INFINITY;
      return { url, expiresAtMs: Math.min(nowMs + settings.planSeconds * 1_000, endsMs) };
    });
  }

  /**
   * Synchronizes with the store's clock. The client corrects its clock only from answers, and signing alone gets none.
   * If the local clock is behind the store's, a process that only plans would sign requests that have already expired.
   */
  #knowClock(): Promise<void> {
    const { client, settings } = this;
    const nowMs = settings.clock.monotonicMs();
    if (this.#clock === null || nowMs >= this.#clock.untilMs) {
      const asked = client.send(new HeadBucketCommand({ Bucket: settings.bucket }), {
        abortSignal: AbortSignal.timeout(clockAnswerMsMax),
      });
      // Errors are ignored: a refusal carries the store's time too, and an unavailable store fails when the plan is
      // used.
      const known = asked.then(
        () => {},
        () => {},
      );
      this.#clock = { untilMs: nowMs + clockMsMax, known };
    }
    return this.#clock.known;
  }

  fault(error: unknown, doing: string, right: string): Error {
    if (isFault(error)) return error;
    const failing: Failing = { address: this.address, bucket: this.settings.bucket, doing, right };
    return faultOf(error, failing);
  }
}

function clientOf(settings: S3Settings, silenceMs: number): S3Client {
  const { endpoint, credentials } = settings;
  const client = new S3Client({
    region: settings.region,
    forcePathStyle: settings.pathStyle,
    maxAttempts: settings.attemptsMax,
    // Uploads carry this platform's checksum: the SHA-256 that the writer computed from the file.
    requestChecksumCalculation: "WHEN_REQUIRED",
    responseChecksumValidation: "WHEN_REQUIRED",
    requestHandler: {
      connectionTimeout: Math.min(settings.silenceMs, connectMsMax),
      socketTimeout: silenceMs,
    },
    ...(endpoint === undefined ? {} : { endpoint }),
    ...(credentials === undefined ? {} : { credentials }),
  });
  // Stores other than Amazon's require Content-MD5 for DeleteObjects, whatever other checksum the request has.
  client.middlewareStack.add(
    (next, { commandName }) =>
      async (args) => {
        const { request } = args as {
          request?: { body?: unknown; headers: Record<string, string> };
        };
        if (commandName === "DeleteObjectsCommand" && typeof request?.body === "string") {
          request.headers["content-md5"] = createHash("md5").update(request.body).digest("base64");
        }
        return next(args);
      },
    { step: "build", name: "contentMd5" },
  );
  return client;
}
