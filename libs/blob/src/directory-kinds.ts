import { isAbsolute, join } from "node:path";
import { type DirectoryKind, textIn } from "./storage-kind.ts";

export const directory = {
  pathKey: "container_path",
  root: (section) => textIn(section["container_path"]),
} satisfies DirectoryKind;

export const sharedFs = {
  pathKey: "host_path",
  root: (section) => {
    const host = textIn(section["host_path"]);
    const below = textIn(section["storage_path"]);
    if (host === null || below === null) return host;
    return isAbsolute(below) ? below : join(host, below);
  },
} satisfies DirectoryKind;
