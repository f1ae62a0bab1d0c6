/** Authorises a request by its signature, its time, and its user's rights. */
import { denied, S3Error } from "./errors.ts";
import {
  expectedSignature,
  readSignature,
  sameHex,
  type Signature,
  type SignedRequest,
  timeOf,
} from "./signature.ts";

export type S3Action =
  | "s3:AbortMultipartUpload"
  | "s3:DeleteObject"
  | "s3:GetObject"
  | "s3:ListBucket"
  | "s3:ListBucketMultipartUploads"
  | "s3:ListMultipartUploadParts"
  | "s3:PutObject";

export type S3User = {
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
  /** The session token of temporary credentials; a request without it is refused. */
  readonly sessionToken?: string;
};

/** The user and the signature, for bodies that are signed in chunks. */
export type Caller = { readonly user: S3User; readonly signature: Signature };

const skewMsMax = 15 * 60_000;

export function authenticate(
  request: SignedRequest,
  users: readonly S3User[],
  region: string,
  nowMs: number,
): Caller {
  const signature = readSignature(request);
  if (signature === null) throw denied("requests without a signature are refused");
  checkTime(signature, nowMs);
  const user = users.find(({ accessKeyId }) => accessKeyId === signature.accessKey);
  if (user === undefined) {
    throw new S3Error(403, "InvalidAccessKeyId", "The access key does not exist in our records.");
  }
  if (signature.region !== region) {
    const detail = `the region '${signature.region}' is wrong; expecting '${region}'`;
    throw new S3Error(400, "AuthorizationHeaderMalformed", detail);
  }
  checkSignedHeaders(request, signature);
  if (!sameHex(expectedSignature(request, signature, user.secretAccessKey), signature.signature)) {
    throw new S3Error(
      403,
      "SignatureDoesNotMatch",
      "The request signature we calculated does not match the signature you provided.",
    );
  }
  checkToken(request, user);
  return { user, signature };
}

function checkTime(signature: Signature, nowMs: number): void {
  const atMs = timeOf(signature.at);
  if (signature.expiresSeconds === null) {
    if (Math.abs(nowMs - atMs) <= skewMsMax) return;
    throw new S3Error(
      403,
      "RequestTimeTooSkewed",
      "The difference between the request time and the current time is too large.",
    );
  }
  if (atMs > nowMs + skewMsMax) throw denied("Request is not valid yet");
  if (nowMs > atMs + signature.expiresSeconds * 1_000) throw denied("Request has expired");
}

/** Any intermediary could have added an unsigned Amazon header, so it is refused. */
function checkSignedHeaders(request: SignedRequest, { signedHeaders }: Signature): void {
  const unsigned = Object.keys(request.headers).filter(
    (name) => name.startsWith("x-amz-") && !signedHeaders.includes(name),
  );
  if (!signedHeaders.includes("host") || unsigned.length > 0) {
    const names = unsigned.join(", ") || "host";
    throw denied(`There were headers present in the request which were not signed: ${names}`);
  }
}

function checkToken(request: SignedRequest, user: S3User): void {
  const token =
    request.headers["x-amz-security-token"] ??
    request.query.find(([name]) => name === "X-Amz-Security-Token")?.[1];
  if (token === user.sessionToken) return;
  throw new S3Error(400, "InvalidToken", "The provided token is malformed or otherwise invalid.");
}
