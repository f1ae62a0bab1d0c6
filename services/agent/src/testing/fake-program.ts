/** A fake vendor program: a script in a folder that comes first on PATH. */
import { chmodSync, writeFileSync } from "node:fs";
import { delimiter, join } from "node:path";
import type { SeenProcess } from "../devices/devices.ts";
import { ownVariables } from "./agent-config.ts";
import { newFolder } from "./examples.ts";

export class FakePrograms {
  readonly folder = newFolder();

  /** The agent's variables that make it find the fake programs. */
  get variables(): Readonly<Record<string, string>> {
    const own = ownVariables();
    return { ...own, PATH: `${this.folder}${delimiter}${own["PATH"]}` };
  }

  /** Writes a script for /bin/sh, which gets the program's parameters. */
  write(name: string, script: string): void {
    const path = join(this.folder, name);
    writeFileSync(path, `#!/bin/sh\n${script}\n`);
    chmodSync(path, 0o755);
  }

  /** Writes an nvidia-smi that lists these GPUs, all connected by NVLink, and processes that compute on them. */
  writeNvidiaSmi(gpus: readonly FakeGpu[], processes: readonly SeenProcess[] = []): void {
    const list = gpus.map(
      ({ uuid, name = "NVIDIA A100-SXM4-80GB" }, n) => `${n}, ${uuid}, ${name}, 81920`,
    );
    const actions = gpus.map(({ uuid, action = "None" }) => `${uuid}, ${action}`);
    const columns = gpus.map((_, n) => `GPU${n}`);
    const rows = gpus.map((_, n) =>
      [`GPU${n}`, ...gpus.map((_, m) => (m === n ? " X " : "NV12")), "0-31", "1"].join("\t"),
    );
    const header = ["", ...columns, "CPU Affinity", "NUMA Affinity"].join("\t");
    this.write(
      "nvidia-smi",
      `case "$*" in
--query-gpu=index,*) cat <<'END'\n${list.length === 0 ? "No devices were found" : list.join("\n")}\nEND
;;
--query-gpu=uuid,*) cat <<'END'\n${actions.join("\n")}\nEND
;;
--query-compute-apps=*) cat <<'END'\n${processes.map(({ uuid, pid }) => `${uuid}, ${pid}`).join("\n")}\nEND
;;
"topo -m") cat <<'END'\n${[header, ...rows].join("\n")}\nEND
;;
*) echo "not played: $*" >&2; exit 2;;
esac`,
    );
  }
}

export type FakeGpu = {
  readonly uuid: string;
  readonly name?: string;
  /** The recovery action that the driver asks for. */
  readonly action?: string;
};
