/** Finds the operation of a request by its method, its path and its subresource parameters. */
import { S3Error } from "./errors.ts";
import { headBucket, listMultipartUploads, listObjects, listParts } from "./listings.ts";
import {
  abortMultipartUpload,
  completeMultipartUpload,
  createMultipartUpload,
  uploadPart,
  uploadPartCopy,
} from "./multipart.ts";
import { copyObject, deleteObject, deleteObjects, getObject, putObject } from "./objects.ts";
import type { Answer, S3Request } from "./request.ts";

/** The operations by their names in the API reference. A HEAD is answered like its GET, without the content. */
export const operations = {
  AbortMultipartUpload: abortMultipartUpload,
  CompleteMultipartUpload: completeMultipartUpload,
  CopyObject: copyObject,
  CreateMultipartUpload: createMultipartUpload,
  DeleteObject: deleteObject,
  DeleteObjects: deleteObjects,
  GetObject: getObject,
  HeadBucket: headBucket,
  HeadObject: getObject,
  ListMultipartUploads: listMultipartUploads,
  ListObjectsV2: listObjects,
  ListParts: listParts,
  PutObject: putObject,
  UploadPart: uploadPart,
  UploadPartCopy: uploadPartCopy,
} as const satisfies Readonly<Record<string, (request: S3Request) => Promise<Answer>>>;

export type S3Operation = keyof typeof operations;

/** Parameters that only affect how an operation answers. */
const plain =
  /^(x-id|list-type|prefix|delimiter|max-\w+|continuation-token|start-after|fetch-owner|encoding-type|part-number-marker|key-marker|upload-id-marker|X-Amz-[\w-]+)$/;

const ofObjects: Readonly<Record<string, S3Operation>> = {
  "DELETE ": "DeleteObject",
  "DELETE uploadId": "AbortMultipartUpload",
  "GET ": "GetObject",
  "GET uploadId": "ListParts",
  "HEAD ": "HeadObject",
  "POST uploadId": "CompleteMultipartUpload",
  "POST uploads": "CreateMultipartUpload",
  "PUT ": "PutObject",
  "PUT partNumber,uploadId": "UploadPart",
};
const ofBuckets: Readonly<Record<string, S3Operation>> = {
  "GET ": "ListObjectsV2",
  "GET uploads": "ListMultipartUploads",
  "HEAD ": "HeadBucket",
  "POST delete": "DeleteObjects",
};
const copies: Partial<Record<S3Operation, S3Operation>> = {
  PutObject: "CopyObject",
  UploadPart: "UploadPartCopy",
};

/** Throws NotImplemented for operations that this server lacks. */
export function operationOf(
  method: string,
  key: string,
  query: ReadonlyMap<string, string>,
  headers: Readonly<Record<string, string>>,
): S3Operation {
  const named = [...query.keys()]
    .filter((name) => !plain.test(name))
    .toSorted()
    .join(",");
  const operation = (key === "" ? ofBuckets : ofObjects)[`${method} ${named}`];
  const isOldListing = operation === "ListObjectsV2" && query.get("list-type") !== "2";
  if (operation === undefined || isOldListing) {
    throw new S3Error(501, "NotImplemented", `${method} with ?${named} is not implemented here`);
  }
  return headers["x-amz-copy-source"] === undefined ? operation : (copies[operation] ?? operation);
}
