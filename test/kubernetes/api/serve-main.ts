// Runs the server until it is stopped: `node test/kubernetes/api/serve-main.ts`, then use kubectl with the printed
// file.
import { startApiServer } from "./start-server.ts";

const server = await startApiServer({ serviceMonitors: true });
process.stdout.write(`export KUBECONFIG=${server.kubeconfig}\n`);
for (const signal of ["SIGINT", "SIGTERM"]) process.once(signal, () => void server.close());
