/**
 * Two nginx in a row before a server, as a proxy of TLS and one of a platform would be; null without nginx here. They
 * keep connections to the server, unless the client asks for the end of its own.
 */
import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { connect } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { freePort } from "@trainyard/testing";

export type Nginx = AsyncDisposable & { readonly port: number; readonly pids: readonly number[] };

export async function startNginx(to: number): Promise<Nginx | null> {
  if (spawnSync("nginx", ["-v"]).status !== 0) return null;
  const folder = mkdtempSync(join(tmpdir(), "trainyard-nginx-"));
  const [outer, inner] = [await freePort(), await freePort()];
  writeFileSync(join(folder, "nginx.conf"), configuration(folder, outer, inner, to));
  const child = spawn("nginx", ["-c", join(folder, "nginx.conf"), "-g", "daemon off;"], {
    stdio: ["ignore", "ignore", "inherit"],
  });
  await untilListening(outer);
  return {
    port: outer,
    pids: child.pid === undefined ? [] : [child.pid],
    async [Symbol.asyncDispose]() {
      child.kill();
      await once(child, "exit");
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

const configuration = (folder: string, outer: number, inner: number, to: number): string => `
worker_processes 1;
pid ${folder}/pid;
error_log ${folder}/error.log;
events { worker_connections 4096; }
http {
  access_log off;
  client_body_temp_path ${folder}/body;
  proxy_temp_path ${folder}/proxy;
  fastcgi_temp_path ${folder}/fastcgi;
  uwsgi_temp_path ${folder}/uwsgi;
  scgi_temp_path ${folder}/scgi;
  proxy_http_version 1.1;
  proxy_buffering off;
  keepalive_requests 1000000;
  map $http_connection $passed { default ""; close close; ~*upgrade upgrade; }
  proxy_set_header Connection $passed;
  proxy_set_header Upgrade $http_upgrade;
  upstream inner { server 127.0.0.1:${inner}; keepalive 8; keepalive_requests 1000000; }
  upstream task { server 127.0.0.1:${to}; keepalive 8; keepalive_requests 1000000; }
  server { listen 127.0.0.1:${outer}; location / { proxy_pass http://inner; } }
  server { listen 127.0.0.1:${inner}; location / { proxy_pass http://task; } }
}
`;

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
