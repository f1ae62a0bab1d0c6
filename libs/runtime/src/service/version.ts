import { readFileSync } from "node:fs";

const manifest = JSON.parse(
  readFileSync(new URL("../../package.json", import.meta.url), "utf8"),
) as {
  readonly version: string;
};

/** The version of Trainyard, which all packages share. */
export const { version } = manifest;
