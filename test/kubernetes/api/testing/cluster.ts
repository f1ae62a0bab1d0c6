// The cluster that a suite is run on: the strict server, or any cluster whose kubeconfig TRAINYARD_KUBECONFIG names, so
// that the server can be judged by the same tests.
import { execFile } from "node:child_process";
import { randomBytes } from "node:crypto";
import { type ApiServer, type ApiServerOptions, startApiServer } from "../start-server.ts";

export type Called = { code: number; stdout: string; stderr: string };

export type Cluster = AsyncDisposable & {
  /** Null on a real cluster. */
  server: ApiServer | null;
  kubeconfig: string;
  /** Throws what the program says if it fails. */
  kubectl(args: readonly string[], input?: unknown): Promise<string>;
  /** The command may fail. */
  call(program: "kubectl" | "helm", args: readonly string[], input?: unknown): Promise<Called>;
  /** A new namespace, which goes with the cluster. */
  namespace(): Promise<string>;
};

export async function startCluster(options: ApiServerOptions = {}): Promise<Cluster> {
  const given = process.env["TRAINYARD_KUBECONFIG"];
  const server = given ? null : await startApiServer(options);
  const kubeconfig = given ?? server?.kubeconfig ?? "";
  const namespaces: string[] = [];
  const call: Cluster["call"] = (program, args, input) => run(program, args, kubeconfig, input);
  const kubectl: Cluster["kubectl"] = async (args, input) => {
    const { code, stdout, stderr } = await call("kubectl", args, input);
    if (code !== 0) throw new Error(stderr);
    return stdout;
  };
  return {
    server,
    kubeconfig,
    call,
    kubectl,
    namespace: async () => {
      const name = `test-${randomBytes(4).toString("hex")}`;
      await kubectl(["create", "namespace", name]);
      namespaces.push(name);
      return name;
    },
    [Symbol.asyncDispose]: async () => {
      if (server) await server.close();
      else
        await kubectl(["delete", "namespace", "--wait=false", "--ignore-not-found", ...namespaces]);
    },
  };
}

/** Input that is no text is sent as JSON. */
export function run(
  program: string,
  args: readonly string[],
  kubeconfig: string,
  input?: unknown,
): Promise<Called> {
  return new Promise((resolve) => {
    const env = { ...process.env, KUBECONFIG: kubeconfig };
    const child = execFile(
      program,
      args,
      { env, maxBuffer: 16 * 1_024 ** 2 },
      (error, stdout, stderr) => {
        const code = error === null ? 0 : typeof error.code === "number" ? error.code : 1;
        resolve({ code, stdout, stderr });
      },
    );
    child.stdin?.end(
      input === undefined ? "" : typeof input === "string" ? input : JSON.stringify(input),
    );
  });
}
