/** An nginx in front of a gateway, with the configuration that docs/operate/deploy.md gives for the pages of tasks. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { freePort, hasNginx, type RunningNginx, runNginx } from "@trainyard/testing";
import { absent, notRun, type Skip } from "@trainyard/testing/needs";

export type Nginx = RunningNginx & { readonly port: number };

/** The names in the documented configuration. */
export const documented = {
  domain: "tasks.example.net",
  platform: "trainyard.example.org",
} as const;

const guide = join(import.meta.dirname, "../../../../docs/operate/deploy.md");

/** Starts it. Without nginx here the test is skipped with the reason, or fails with TRAINYARD_REQUIRE=nginx. */
export async function startNginx(gateway: number, skip: Skip): Promise<Nginx> {
  if (!hasNginx()) notRun(skip, absent("nginx", "nginx, from the distribution"));
  const port = await freePort();
  return { port, ...(await runNginx(directives(port, gateway), port)) };
}

function directives(port: number, gateway: number): string {
  const tasks = /```nginx\n(.*?)```/s.exec(readFileSync(guide, "utf8"))?.[1] ?? "";
  const here = tasks
    .replace("listen 443 ssl", `listen 127.0.0.1:${port}`)
    .replace("gateway:8080", `127.0.0.1:${gateway}`);
  return `
  map $http_upgrade $connection_upgrade { default upgrade; '' ""; }
  server {
    listen 127.0.0.1:${port} default_server;
    server_name ${documented.platform};
    location / {
      proxy_pass http://127.0.0.1:${gateway};
      proxy_http_version 1.1;
      proxy_set_header Host $host;
      proxy_set_header X-Forwarded-Proto https;
    }
  }
  ${here}
`;
}
