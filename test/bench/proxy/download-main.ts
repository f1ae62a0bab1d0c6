/** Reads a page again and again in a thread of its own, until it is ended. */
import { parentPort, workerData } from "node:worker_threads";
import { keptConnection, type Page, secondsOfPage } from "./page.ts";

const { page, bytes } = workerData as { page: Page; bytes: number };
const agent = keptConnection();
for (;;) {
  await secondsOfPage(page, bytes, agent);
  parentPort?.postMessage("read");
}
