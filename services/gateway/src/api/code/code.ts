/** The files of an experiment's stored code, read from the packed context. */
import { Readable } from "node:stream";
import { type CodeFile, codeFile, codeFiles } from "@trainyard/blob";
import { LRUCache } from "lru-cache";
import type { Backend } from "../../backend.ts";
import { Problem } from "../../http/problem.ts";
import type { RequestContext, UnaryHandlers } from "../../http/request-context.ts";
import { readContent } from "../../spaces/contents.ts";
import { apiLimits } from "../limits.ts";
import { pageSize } from "../paging.ts";
import { textOfBytes } from "../text-of-bytes.ts";

export function codeHandlers(backend: Backend) {
  // The file list of each context, by the digest of the code. A digest names one content forever, so no entry expires.
  const lists = new LRUCache<string, readonly CodeFile[]>({
    maxSize: apiLimits.codeFilesKept,
    sizeCalculation: (files) => files.length + 1,
  });
  const list = async (
    { experiment, digest }: Code,
    context: RequestContext,
  ): Promise<readonly CodeFile[]> => {
    if (digest === "") return [];
    const known = lists.get(digest);
    if (known !== undefined) return known;
    const packed = await packedCode(backend, { experiment, digest });
    const files = await codeFiles(packed, context.signal);
    lists.set(digest, files);
    return files;
  };
  return {
    listCodeFiles: async ({ experiment, pageSize: asked, pageToken }, context) => {
      const files = await list(await codeOf(backend, experiment), context);
      const from = readToken(pageToken);
      const next = from + pageSize(asked);
      const nextPageToken = next < files.length ? String(next) : "";
      return { items: files.slice(from, next), nextPageToken };
    },
    getCodeFile: async ({ experiment, path }, context) => {
      const code = await codeOf(backend, experiment);
      const file = (await list(code, context)).find((one) => one.path === path);
      if (file === undefined) {
        const detail = `the code of experiment ${experiment} has no file ${JSON.stringify(path)}`;
        throw new Problem(404, "file_not_found", detail);
      }
      if (file.link !== "") {
        const detail = `${JSON.stringify(path)} is a link to ${JSON.stringify(file.link)}: ask for that file`;
        throw new Problem(400, "invalid_request", detail);
      }
      const { codeFileBytesMax } = apiLimits;
      const packed = await packedCode(backend, code);
      const content = await codeFile(packed, path, codeFileBytesMax, context.signal);
      const truncated = file.bytes > codeFileBytesMax;
      const text = textOfBytes(content ?? Buffer.alloc(0), truncated);
      return { file, text: text ?? "", truncated, binary: text === null };
    },
  } satisfies Partial<UnaryHandlers>;
}

/** The digest is empty for an experiment without code. */
type Code = { readonly experiment: string; readonly digest: string };

async function codeOf(backend: Backend, experiment: string): Promise<Code> {
  const { contextDigest: digest } = await backend.get("experiment", experiment);
  return { experiment, digest };
}

async function packedCode(backend: Backend, { experiment, digest }: Code): Promise<Readable> {
  const found = await readContent(backend.parts, { folder: "contexts", digest });
  if (found === null) {
    const detail = `the code of experiment ${experiment} is not stored any more`;
    throw new Problem(404, "context_not_found", detail);
  }
  return Readable.from(found.stream);
}

/** Returns the number of files before the page. */
function readToken(token: string): number {
  if (/^\d{0,9}$/.test(token)) return Number(token);
  throw new Problem(400, "invalid_request", "invalid page_token");
}
