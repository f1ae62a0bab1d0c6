/** An S3 server in a process of its own. It discards content, so that it costs all who write to it equally little. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { root } from "../../../scripts/lib/root.ts";

export type ObjectStore = AsyncDisposable & {
  readonly url: string;
  /** The settings of a cluster whose experiments may use the store. */
  readonly variables: Readonly<Record<string, string>>;
};

export async function startObjectStore(): Promise<ObjectStore> {
  const folder = mkdtempSync(join(tmpdir(), "trainyard-bench-store-"));
  const credentials = join(folder, "credentials.json");
  const s3 = { access_key_id: "testkey", secret_access_key: "testsecret" };
  writeFileSync(credentials, JSON.stringify({ s3 }), { mode: 0o600 });
  const program = join(root, "test", "servers", "s3-main.ts");
  const child = spawn(process.execPath, [program, "bench", "--discard"], {
    stdio: ["pipe", "pipe", "inherit"],
  });
  const [line] = (await once(createInterface({ input: child.stdout }), "line")) as [string];
  const { url } = JSON.parse(line) as { readonly url: string };
  return {
    url,
    variables: {
      TRAINYARD_STORAGE_CREDENTIALS: credentials,
      TRAINYARD_STORAGE_ENDPOINTS: url,
    },
    async [Symbol.asyncDispose]() {
      const ended = once(child, "exit");
      child.stdin.end();
      await ended;
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
