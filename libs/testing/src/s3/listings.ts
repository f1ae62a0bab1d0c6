/** The listing operations: HeadBucket, ListObjectsV2, ListMultipartUploads and ListParts. */
import { percentEncode } from "./signature.ts";
import { checksumElements } from "./objects.ts";
import { type Answer, numberIn, type S3Request, xmlAnswer } from "./request.ts";
import { keysInOrder } from "./state.ts";
import { S3Error } from "./errors.ts";
import { writeXml, type XmlElement } from "./xml.ts";

/** Keys are percent-encoded if the request says so, because XML cannot contain control characters. */
function keyWriter(query: ReadonlyMap<string, string>): (key: string) => string {
  const encoding = query.get("encoding-type");
  if (encoding === undefined) return (key) => key;
  if (encoding !== "url") {
    throw new S3Error(400, "InvalidArgument", "Invalid Encoding Method specified in Request");
  }
  return (key) => percentEncode(key).replaceAll("%2F", "/");
}

export async function headBucket(request: S3Request): Promise<Answer> {
  request.allow("s3:ListBucket", "");
  return { status: 200 };
}

type Entry = { readonly key: string } | { readonly common: string };

/** Returns the keys; with a delimiter, all keys with the same beginning up to it become one entry. */
function entriesOf(keys: readonly string[], prefix: string, delimiter: string): readonly Entry[] {
  const commons = new Set<string>();
  return keys.flatMap((key): readonly Entry[] => {
    const end = delimiter === "" ? -1 : key.indexOf(delimiter, prefix.length);
    if (end === -1) return [{ key }];
    const common = key.slice(0, end + delimiter.length);
    if (commons.has(common)) return [];
    commons.add(common);
    return [{ common }];
  });
}

const nameOf = (entry: Entry): string => ("key" in entry ? entry.key : entry.common);
const isAfter = (a: string, b: string): boolean => Buffer.from(a).compare(Buffer.from(b)) > 0;

export async function listObjects(request: S3Request): Promise<Answer> {
  request.allow("s3:ListBucket", "");
  const { query, bucket, limits } = request;
  const write = keyWriter(query);
  const [prefix, delimiter] = [query.get("prefix") ?? "", query.get("delimiter") ?? ""];
  const max = numberIn(query, "max-keys", limits.listedMax, limits.listedMax);
  const token = query.get("continuation-token");
  const after = token === undefined ? (query.get("start-after") ?? "") : fromToken(token);
  const all = entriesOf(keysInOrder(bucket.objects.keys(), prefix), prefix, delimiter).filter(
    (entry) => isAfter(nameOf(entry), after),
  );
  const page = all.slice(0, max);
  const last = page.at(-1);
  const next = page.length < all.length && last !== undefined ? toToken(nameOf(last)) : null;
  const children: XmlElement[] = [
    ["Name", bucket.name],
    ["Prefix", write(prefix)],
    ["MaxKeys", max],
    ["KeyCount", page.length],
    ["IsTruncated", String(next !== null)],
    ...(next === null ? [] : [["NextContinuationToken", next] as const]),
    ...(query.has("encoding-type") ? [["EncodingType", "url"] as const] : []),
    ...page.map((entry): XmlElement => {
      if ("common" in entry) return ["CommonPrefixes", [["Prefix", write(entry.common)]]];
      const object = bucket.object(entry.key);
      return [
        "Contents",
        [
          ["Key", write(entry.key)],
          ["LastModified", new Date(object.modifiedMs).toISOString()],
          ["ETag", object.etag],
          ["Size", object.bytes],
          ["StorageClass", "STANDARD"],
        ],
      ];
    }),
  ];
  return xmlAnswer(writeXml("ListBucketResult", children));
}

const toToken = (key: string): string => Buffer.from(key).toString("base64");

function fromToken(token: string): string {
  const key = Buffer.from(token, "base64").toString();
  if (toToken(key) === token && token !== "") return key;
  throw new S3Error(400, "InvalidArgument", "The continuation token provided is incorrect");
}

export async function listMultipartUploads(request: S3Request): Promise<Answer> {
  request.allow("s3:ListBucketMultipartUploads", "");
  const { query, bucket, limits } = request;
  const write = keyWriter(query);
  const prefix = query.get("prefix") ?? "";
  const max = numberIn(query, "max-uploads", limits.listedMax, limits.listedMax);
  const [keyMarker, idMarker] = [
    query.get("key-marker") ?? "",
    query.get("upload-id-marker") ?? "",
  ];
  const uploads = [...bucket.uploads.values()]
    .filter(({ key }) => key.startsWith(prefix))
    .toSorted((a, b) => Buffer.from(a.key).compare(Buffer.from(b.key)) || (a.id < b.id ? -1 : 1))
    .filter(
      ({ key, id }) =>
        isAfter(key, keyMarker) || (key === keyMarker && id > idMarker && idMarker !== ""),
    );
  const page = uploads.slice(0, max);
  const last = page.at(-1);
  const children: XmlElement[] = [
    ["Bucket", bucket.name],
    ["Prefix", write(prefix)],
    ["MaxUploads", max],
    ["IsTruncated", String(page.length < uploads.length)],
    ...(last === undefined
      ? []
      : [["NextKeyMarker", write(last.key)] as const, ["NextUploadIdMarker", last.id] as const]),
    ...page.map(
      ({ key, id, initiatedMs, checksum }): XmlElement => [
        "Upload",
        [
          ["Key", write(key)],
          ["UploadId", id],
          ["Initiated", new Date(initiatedMs).toISOString()],
          ...(checksum === null
            ? []
            : [["ChecksumAlgorithm", checksum.name.toUpperCase()] as const]),
        ],
      ],
    ),
  ];
  return xmlAnswer(writeXml("ListMultipartUploadsResult", children));
}

export async function listParts(request: S3Request): Promise<Answer> {
  request.allow("s3:ListMultipartUploadParts", request.key);
  const { query, bucket, limits, key } = request;
  const upload = bucket.upload(key, query.get("uploadId"));
  const max = numberIn(query, "max-parts", limits.listedMax, limits.listedMax);
  const marker = numberIn(query, "part-number-marker", 0, 10_000);
  const parts = [...upload.parts.values()]
    .filter(({ number }) => number > marker)
    .toSorted((a, b) => a.number - b.number);
  const page = parts.slice(0, max);
  const children: XmlElement[] = [
    ["Bucket", bucket.name],
    ["Key", key],
    ["UploadId", upload.id],
    ["MaxParts", max],
    ["IsTruncated", String(page.length < parts.length)],
    ["NextPartNumberMarker", page.at(-1)?.number ?? 0],
    ...(upload.checksum === null
      ? []
      : [["ChecksumAlgorithm", upload.checksum.name.toUpperCase()] as const]),
    ...page.map(
      (part): XmlElement => [
        "Part",
        [
          ["PartNumber", part.number],
          ["LastModified", new Date(part.modifiedMs).toISOString()],
          ["ETag", part.etag],
          ["Size", part.bytes],
          ...checksumElements(part.checksum),
        ],
      ],
    ),
  ];
  return xmlAnswer(writeXml("ListPartsResult", children));
}
