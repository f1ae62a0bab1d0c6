/** Servers of pages for tests: a fake one, and the real ones from package folders that tests share. */
import { chmodSync, existsSync, mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { basename, join } from "node:path";
import { systemClock } from "@trainyard/kernel/system-clock";
import { absent, notRun } from "@trainyard/testing/needs";
import type { PageKind } from "../servers/kinds.ts";
import { NoPackages, packageFolders, Packages } from "../servers/packages.ts";
import { lockFolder } from "../state/folder-lock.ts";
import { python } from "../supervisor/python.ts";
import { ownVariables } from "./agent-config.ts";
import { newFolder } from "./examples.ts";

/** The folder in which the packages stay for the next tests. */
export const sharedPackages = join(import.meta.dirname, "../../../../.cache/packages");

const buildMs = 240_000;

/**
 * Puts the packages of the servers into an agent's state folder, for the Python of the tests. Without pip's packages
 * the test is skipped, or fails with TRAINYARD_REQUIRE=jupyter.
 */
export async function needPackages(
  agentFolder: string,
  kinds: readonly PageKind[],
  skip: (note: string) => never,
): Promise<void> {
  const settings = Object.entries(process.env).flatMap(([name, value]) =>
    name.startsWith("PIP_") && value !== undefined ? [[name, value] as const] : [],
  );
  const packages = new Packages(sharedPackages, {
    ...Object.fromEntries(settings),
    ...ownVariables(),
  });
  // Tests of other processes build the same folder.
  await using _lock = await lockFolder(sharedPackages, systemClock, buildMs);
  for (const kind of kinds) {
    const [tag, folder] = Object.entries(packageFolders(sharedPackages, kind))[0] ?? ["", ""];
    try {
      await packages.build(kind, tag, () => {});
    } catch (error) {
      if (!(error instanceof NoPackages)) throw error;
      notRun(skip, absent("jupyter", error.message));
    }
    const root = join(agentFolder, "packages");
    mkdirSync(root, { recursive: true });
    if (!existsSync(join(root, basename(folder))))
      symlinkSync(folder, join(root, basename(folder)));
  }
}

/**
 * Returns the PATH of a TensorBoard whose python3 runs another program in place of the server's. A notebook gets an
 * environment on top of its Python.
 */
export function pathWithServer(program: string): string {
  const folder = newFolder();
  const path = join(folder, "python3");
  writeFileSync(join(folder, "server.py"), program);
  writeFileSync(path, `#!/bin/sh\nexec ${python()} -u ${join(folder, "server.py")} "$@"\n`);
  chmodSync(path, 0o755);
  return `PATH=${folder}:${ownVariables()["PATH"]}`;
}

/** A server that answers about its use, to the secret only, once the file `answer` is in its folder. */
export const fakeServer = `
import http.server, json, os, pathlib, socketserver, sys, time
class Server(socketserver.ThreadingMixIn, socketserver.UnixStreamServer):
    def get_request(self):
        return self.socket.accept()[0], ("task", 0)
class Handler(http.server.BaseHTTPRequestHandler):
    def log_message(self, *_): pass
    def do_GET(self):
        secret = self.headers["X-Trainyard-Task-Secret"] == os.environ["TRAINYARD_TASK_SECRET"]
        body = json.dumps({"kernels": [], "terminals": [], "write_seconds": None, "request_seconds": 3}).encode()
        self.send_response(200 if secret else 403)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)
print("the server starts")
while not pathlib.Path("answer").exists(): time.sleep(0.05)
os.chdir(os.environ["TRAINYARD_RUN_DIR"])
Server("page.sock", Handler).serve_forever()
`;
