/** An nginx in front of a gateway, with the configuration that docs/operate/deploy.md gives for the pages of tasks. */
import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { connect } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { freePort } from "@trainyard/testing";

export type Nginx = AsyncDisposable & { readonly port: number };

/** The names in the documented configuration. */
export const documented = {
  domain: "tasks.example.net",
  platform: "trainyard.example.org",
} as const;

const guide = join(import.meta.dirname, "../../../../docs/operate/deploy.md");

/** Debian's nginx is outside the PATH of some users. */
const path = `${process.env["PATH"] ?? ""}:/usr/sbin:/usr/local/sbin`;

/** Starts it. Without nginx here the test is skipped with the reason, or fails with TRAINYARD_REQUIRE=nginx. */
export async function startNginx(gateway: number, skip: (why: string) => never): Promise<Nginx> {
  if (spawnSync("nginx", ["-v"], { env: { PATH: path } }).status !== 0) return missing(skip);
  const folder = mkdtempSync(join(tmpdir(), "trainyard-nginx-"));
  const port = await freePort();
  writeFileSync(join(folder, "nginx.conf"), configuration(folder, port, gateway));
  const child = spawn("nginx", ["-c", join(folder, "nginx.conf"), "-g", "daemon off;"], {
    env: { PATH: path },
    stdio: ["ignore", "ignore", "inherit"],
  });
  await untilListening(port);
  return {
    port,
    async [Symbol.asyncDispose]() {
      child.kill();
      if (child.exitCode === null) await once(child, "exit");
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

function missing(skip: (why: string) => never): never {
  const required = (process.env["TRAINYARD_REQUIRE"] ?? "").split(",").includes("nginx");
  if (required) throw new Error("TRAINYARD_REQUIRE names nginx, but there is none");
  return skip("nginx, from the distribution");
}

function configuration(folder: string, port: number, gateway: number): string {
  const tasks = /```nginx\n(.*?)```/s.exec(readFileSync(guide, "utf8"))?.[1] ?? "";
  const here = tasks
    .replace("listen 443 ssl", `listen 127.0.0.1:${port}`)
    .replace("gateway:8080", `127.0.0.1:${gateway}`);
  return `
worker_processes 1;
pid ${folder}/pid;
error_log ${folder}/error.log;
events { worker_connections 512; }
http {
  access_log off;
  client_body_temp_path ${folder}/body;
  proxy_temp_path ${folder}/proxy;
  fastcgi_temp_path ${folder}/fastcgi;
  uwsgi_temp_path ${folder}/uwsgi;
  scgi_temp_path ${folder}/scgi;
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
}
`;
}

async function untilListening(port: number): Promise<void> {
  for (;;) {
    const socket = connect(port, "127.0.0.1");
    const isUp = await Promise.race([
      once(socket, "connect").then(() => true),
      once(socket, "close").then(() => false),
    ]).catch(() => false);
    socket.destroy();
    if (isUp) return;
    await delay(20);
  }
}
