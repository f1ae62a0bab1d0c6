/**
 * Decodes the bytes of metrics.tails and metrics.past_tails, in the current form and in the form of earlier versions.
 */
import type { Encoded } from "../core/columns/block.ts";
import { isJsonTail, readJsonTail, readTail } from "../core/columns/tail.ts";

export const tailOf = (body: Buffer): Encoded =>
  isJsonTail(body) ? readJsonTail(body.toString("utf8")) : readTail(body);
