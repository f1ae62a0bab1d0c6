/**
 * Sends the rest of a sealed checkpoint to its object store after its process has ended, by the program that the SDK
 * uses itself (`trainyard._checkpoint._uploader`): parts that the store has are not sent again. It runs as the run's
 * user and can read only files that the run can read. While bytes move it reports progress; a program that is silent
 * for too long is killed, and the upload is retried later.
 */
import { once } from "node:events";
import { limits } from "../limits.ts";
import type { Owner } from "../state/run-user.ts";
import { type SdkHost, startSdkProgram } from "./sdk-program.ts";

export type UploadOrder = {
  readonly url: string;
  readonly token: string;
  readonly run: string;
  readonly checkpoint: string;
  readonly folder: string;
  readonly manifest: readonly object[];
  /** True if the manifest has the digests of an earlier attempt. */
  readonly digested?: boolean;
};

export type UploadEnd =
  | { readonly kind: "sent"; readonly manifest: readonly object[] }
  | { readonly kind: "refused"; readonly why: string }
  /** With the manifest, if all files were read. */
  | { readonly kind: "later"; readonly why: string; readonly manifest?: readonly object[] };

/** The program's exit status for content that the store refuses for good, as in `_uploader_status.py`. */
const refusedStatus = 65;
/** The program's exit status for content that a later attempt may send. */
const laterStatus = 75;
/** The longest manifest with digests: other processes of the run's user could write without end. */
const manifestCharactersMax = 4 * 1024 * 1024;
/** The maximum of characters kept from the end of the uploader's output. */
const saidCharactersMax = 4_096;

export async function uploadCheckpoint(
  order: UploadOrder,
  host: SdkHost,
  owner: Owner | null,
  signal: AbortSignal,
  silenceMs: number = limits.uploadSilenceMs,
): Promise<UploadEnd> {
  const child = startSdkProgram("trainyard._checkpoint._uploader", host, owner, signal);
  let manifest = "";
  let said = "";
  let isHung = false;
  const silence = setTimeout(() => {
    isHung = true;
    child.kill("SIGKILL");
  }, silenceMs);
  child.stdout.setEncoding("utf8").on("data", (text: string) => {
    manifest += text;
    if (manifest.length > manifestCharactersMax) child.kill("SIGKILL");
  });
  child.stderr.setEncoding("utf8").on("data", (text: string) => {
    said = (said + text).slice(-saidCharactersMax);
    silence.refresh();
  });
  // A program that ends early does not read the rest of its order.
  child.stdin.on("error", () => undefined);
  child.stdin.end(JSON.stringify(order));
  try {
    const [status] = (await once(child, "close")) as [number | null];
    if (status === 0) return { kind: "sent", manifest: JSON.parse(manifest) as object[] };
    if (isHung) {
      const why = `the upload of checkpoint ${order.checkpoint} made no progress for ${silenceMs / 1_000} s`;
      return { kind: "later", why };
    }
    const why = said.trim().split("\n").at(-1) || `the upload ended with status ${status}`;
    if (status === refusedStatus) return { kind: "refused", why };
    const isRead = status === laterStatus && manifest !== "";
    return { kind: "later", why, ...(isRead && { manifest: JSON.parse(manifest) as object[] }) };
  } catch (error) {
    return { kind: "later", why: error instanceof Error ? error.message : String(error) };
  } finally {
    clearTimeout(silence);
  }
}
