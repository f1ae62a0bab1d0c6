/** The thread that hashes, so that commands are answered meanwhile. */
import { parentPort } from "node:worker_threads";
import { assert } from "@trainyard/kernel";
import type { Manifest } from "../core/manifest.ts";
import { type Place, type Verdict, verifyFiles } from "./verify-files.ts";

export type VerifyRequest = {
  readonly id: number;
  readonly place: Place;
  readonly manifest: Manifest;
};
export type VerifyAnswer = { readonly id: number; readonly verdict: Verdict };

const port = parentPort;
assert(port !== null, "this module runs as a worker");
port.on("message", (request: VerifyRequest) => {
  void verifyFiles(request.place, request.manifest).then((verdict) => {
    port.postMessage({ id: request.id, verdict } satisfies VerifyAnswer);
  });
});
