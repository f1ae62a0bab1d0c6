/**
 * Two nginx in a row before a server, as a proxy of TLS and one of a platform would be; null without nginx here. They
 * keep connections to the server, unless the client asks for the end of its own.
 */
import { freePort, hasNginx, type RunningNginx, runNginx } from "@trainyard/testing";

export type Nginx = RunningNginx & { readonly port: number };

export async function startNginx(to: number): Promise<Nginx | null> {
  if (!hasNginx()) return null;
  const [outer, inner] = [await freePort(), await freePort()];
  return { port: outer, ...(await runNginx(directives(outer, inner, to), outer)) };
}

const directives = (outer: number, inner: number, to: number): string => `
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
`;
