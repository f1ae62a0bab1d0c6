/** Translates errors of the AWS SDK and S3 to the port's Faults. */
import { S3ServiceException } from "@aws-sdk/client-s3";
import type { Fault } from "@trainyard/kernel";
import { away, bucketNotFound, credentialsMissing, refused } from "../faults.ts";

export type Failing = {
  readonly address: string;
  readonly bucket: string;
  /** A verb and its object: "read a/b". */
  readonly doing: string;
  /** The permission that the operation needs, in the notation of IAM policies. */
  readonly right: string;
};

/** A refused HEAD has only a status: the SDK reports its code as Unknown. */
const statusOf = (error: unknown): number =>
  error instanceof S3ServiceException ? (error.$metadata.httpStatusCode ?? 0) : 0;

export const codeOf = (error: unknown): string => (error instanceof Error ? error.name : "");

/** Returns whether the store reports that the key or the upload does not exist. */
export function saysAbsent(error: unknown): boolean {
  return ["NoSuchKey", "NotFound", "NoSuchUpload"].includes(codeOf(error));
}

export function isUnsupported(error: unknown): boolean {
  return codeOf(error) === "NotImplemented" || statusOf(error) === 501;
}

export function faultOf(error: unknown, { address, bucket, doing, right }: Failing): Fault {
  const code = codeOf(error);
  const status = statusOf(error);
  const said = error instanceof Error ? error.message : String(error);
  if (code === "NoSuchBucket") return bucketNotFound(address, bucket, error);
  if (code === "CredentialsProviderError") return credentialsMissing(address, said, error);
  if (status === 403 || status === 401 || code === "InvalidToken" || code === "ExpiredToken") {
    return refused(address, doing, sentenceOf(code, said, right), error);
  }
  if (status === 301 || code === "AuthorizationHeaderMalformed") {
    return refused(address, doing, `the region may be wrong (${said})`, error);
  }
  const passes = status === 0 || status >= 500 || status === 429 || status === 408;
  if (passes) return away(address, doing, `${code} ${said}`.trim(), error);
  return refused(address, doing, `${code}: ${said}`, error);
}

function sentenceOf(code: string, said: string, right: string): string {
  if (code === "InvalidAccessKeyId") return "it does not know the access key";
  if (code === "SignatureDoesNotMatch") return "the secret key is not that of the access key";
  if (code === "RequestTimeTooSkewed") return "the clocks differ by more than 15 minutes";
  if (code === "ExpiredToken" || code === "InvalidToken") return "the session token is not valid";
  if (code === "AccessDenied") return `the credentials have no right to do so (${right})`;
  if (code.startsWith("Unknown")) {
    return `the credentials are wrong, or have no right to do so (${right})`;
  }
  return `${code}: ${said} (${right})`;
}
