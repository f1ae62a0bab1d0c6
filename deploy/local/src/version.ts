import { readFileSync } from "node:fs";
import { join } from "node:path";
import { checkout } from "./home/home.ts";

/** The checkout's version, as its package.json states it. */
export const trainyardVersion = (
  JSON.parse(readFileSync(join(checkout, "package.json"), "utf8")) as { version: string }
).version;
