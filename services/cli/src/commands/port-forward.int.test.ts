import { spawn } from "node:child_process";
import { once } from "node:events";
import type { IncomingMessage } from "node:http";
import { connect } from "node:net";
import { join } from "node:path";
import { PassThrough, type Duplex } from "node:stream";
import { systemClock } from "@trainyard/kernel/system-clock";
import { freePort } from "@trainyard/testing";
import { splice, WebSocketDoor } from "@trainyard/tunnel";
import { expect, test } from "vitest";
import { playGateway, type PlayedGateway, problem } from "../testing/played-gateway.ts";

const door = new WebSocketDoor();

/** A gateway whose trial 12.1 returns what it gets at port 6006, in upper case. Other ports are refused. */
function play(): Promise<PlayedGateway> {
  const upgrade = (request: IncomingMessage, socket: Duplex, head: Buffer): void => {
    const refuse = (status: number, code: string, detail: string): void => {
      const text = JSON.stringify({ status, code, detail });
      socket.end(`HTTP/1.1 ${status} No\r\ncontent-length: ${text.length}\r\n\r\n${text}`);
    };
    if (request.headers.authorization !== "Bearer t") return refuse(401, "no_token", "no token");
    const port = request.url?.split("/").at(-1);
    if (port === "22") return refuse(403, "undeclared_port", "port 22 is not in proxy_ports");
    if (port !== "6006") return refuse(503, "nothing_listens", "nothing listens yet");
    door.accept(request, socket, head, { clock: systemClock }, (stream) => {
      const upper = new PassThrough({
        transform: (chunk: Buffer, _encoding, done) => done(null, chunk.toString().toUpperCase()),
      });
      void splice(stream, upper);
    });
  };
  return playGateway(({ call }) => {
    const known = call === "GET /api/v1/trials/12.1";
    return known ? { body: { id: "12.1" } } : problem(404, "trial_not_found", "there is no trial");
  }, upgrade);
}

async function spoken(port: number): Promise<string> {
  const socket = connect({ port, host: "127.0.0.1", allowHalfOpen: true });
  socket.on("error", () => {});
  socket.end("hello");
  let text = "";
  for await (const chunk of socket) text += String(chunk);
  return text;
}

test("local connections reach a port of a trial until Ctrl-C, and the end of input is passed on", async () => {
  await using gateway = await play();
  const [local, unused] = [await freePort(), await freePort()];
  const running = gateway.yard("trial", "port-forward", "12.1", `6006:${local}`, `7000:${unused}`);
  await expect.poll(() => spoken(local).catch(() => "")).toBe("HELLO");
  await spoken(unused).catch(() => {});
  await expect.poll(() => process.listenerCount("SIGINT")).toBeGreaterThan(0);
  process.emit("SIGINT");
  const { code, err, out } = await running;
  expect({ code, out }).toEqual({
    code: 0,
    out: `localhost:${local} is port 6006 of trial 12.1\nlocalhost:${unused} is port 7000 of trial 12.1\n`,
  });
  expect(err).toContain("Nothing listens yet.");
});

test("an undeclared port ends the command with its sentence", async () => {
  await using gateway = await play();
  const local = await freePort();
  const running = gateway.yard("trial", "port-forward", "12.1", `22:${local}`);
  await expect
    .poll(() =>
      spoken(local).then(
        () => true,
        () => false,
      ),
    )
    .toBe(true);
  expect(await running).toMatchObject({ code: 1, err: "Port 22 is not in proxy_ports.\n" });
});

test.each([
  [["12.1", "0"], '"0" is no port: write 8080, or 8080:LOCAL.\n'],
  [["12.1", "80:a"], '"80:a" is no port: write 8080, or 8080:LOCAL.\n'],
  [["12.1", "1", "2", "--stdio"], "With --stdio, name one port.\n"],
  [["99.9", "80"], "There is no trial.\n"],
])("port-forward %j is refused", async (args, err) => {
  await using gateway = await play();
  expect(await gateway.yard("trial", "port-forward", ...args)).toMatchObject({ code: 2, err });
});

test("a local port that is in use is named", async () => {
  await using gateway = await play();
  const inUse = new URL(gateway.url).port;
  const { code, err } = await gateway.yard("trial", "port-forward", "12.1", `6006:${inUse}`);
  expect(code).toBe(1);
  expect(err).toBe(
    `Port ${inUse} of this machine cannot be served: it is in use. Name another one, as PORT:LOCAL.\n`,
  );
});

test("with --stdio the connection is on stdin and stdout", async () => {
  await using gateway = await play();
  const main = join(import.meta.dirname, "../main.ts");
  const args = [main, "trial", "port-forward", "12.1", "6006", "--stdio"];
  const env = { ...process.env, TRAINYARD_URL: gateway.url, TRAINYARD_TOKEN: "t" };
  const child = spawn(process.execPath, args, { env, stdio: ["pipe", "pipe", "inherit"] });
  child.stdin.end("over stdio");
  let text = "";
  child.stdout.on("data", (chunk) => (text += String(chunk)));
  const [code] = (await once(child, "close")) as [number];
  expect({ code, text }).toEqual({ code: 0, text: "OVER STDIO" });
});
