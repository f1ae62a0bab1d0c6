/** The gateway's answers about the TensorBoard files of trials in a directory. */
import type { ServerResponse } from "node:http";

/** The texts of files by trial and path. */
export type Boards = Map<string, Readonly<Record<string, string>>>;

/** Answers a request about TensorBoard files; false for another request. */
export function answerBoards(url: string, boards: Boards, response: ServerResponse): boolean {
  const { pathname, searchParams } = new URL(url, "http://platform");
  const [, trial, file] = /\/runs\/[^/]+\/tensorboard(?:\/([^/]+)(\/file)?)?$/.exec(pathname) ?? [
    "none",
  ];
  if (!pathname.includes("/tensorboard") || trial === "upload") return false;
  const asJson = (body: object): void => {
    response.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify(body));
  };
  const files = boards.get(trial ?? "") ?? {};
  if (file !== undefined) {
    const text = files[searchParams.get("path") ?? ""] ?? "";
    const rest = Buffer.from(text).subarray(Number(searchParams.get("offset")));
    response.writeHead(200, { "content-type": "application/octet-stream" }).end(rest);
  } else if (trial !== undefined) {
    const listed = Object.entries(files).map(([path, text]) => {
      return { path, bytes: Buffer.byteLength(text), changedAtMs: 1_000 };
    });
    asJson({ files: searchParams.get("after") === "" ? listed : [] });
  } else {
    const trials = [...boards.keys()].map((id) => ({ experiment: id.split(".")[0], trial: id }));
    asJson({ trials });
  }
  return true;
}
