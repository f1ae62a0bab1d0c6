import { spawn } from "node:child_process";
import { once } from "node:events";
import { writeFileSync } from "node:fs";
import { type AddressInfo, createServer } from "node:net";
import { join } from "node:path";
import { expect, test } from "vitest";
import type { Home } from "../home/home.ts";
import { ensurePorts, isFree, type Ports, type PortWish } from "./ports.ts";
import { temporaryHome } from "../testing/homes.ts";

const names = [{ name: "postgres" }, { name: "nats" }];

async function listenOn(port: number) {
  const server = createServer().listen(port, "127.0.0.1");
  await once(server, "listening");
  return {
    port: (server.address() as AddressInfo).port,
    [Symbol.asyncDispose]: async () => {
      server.close();
      await once(server, "close");
    },
  };
}

/** The ports that a start chooses when no earlier one runs. */
async function chosen(home: Home, wishes: readonly PortWish[]): Promise<Ports> {
  using claimed = await ensurePorts(home, wishes);
  return claimed.ports;
}

test("ports stay the same from start to start", async () => {
  using home = temporaryHome();
  const first = await chosen(home, names);
  expect(new Set(Object.values(first)).size).toBe(2);
  expect(await chosen(home, [...names, { name: "api" }])).toMatchObject(first);
});

test("a port that another process took meanwhile is replaced", async () => {
  using home = temporaryHome();
  const first = await chosen(home, names);
  await using taken = await listenOn(first["nats"] ?? 0);
  expect(await isFree(taken.port)).toBe(false);
  const second = await chosen(home, names);
  expect(second["nats"]).not.toBe(first["nats"]);
  expect(second["postgres"]).toBe(first["postgres"]);
});

test("the preferred port is taken when it is free, and never when it is in use", async () => {
  using home = temporaryHome();
  using other = temporaryHome();
  using third = temporaryHome();
  const free = (await chosen(third, [{ name: "probe" }]))["probe"] ?? 0;
  const wish = [{ name: "api", preferred: free }];
  expect((await chosen(home, wish))["api"]).toBe(free);
  await using _ = await listenOn(free);
  expect((await chosen(other, wish))["api"]).not.toBe(free);
});

test("a port that another cluster has chosen is taken by none, saved or preferred", async () => {
  using other = temporaryHome();
  const program = `
    const { ensurePorts } = await import(${JSON.stringify(join(import.meta.dirname, "ports.ts"))});
    const claimed = await ensurePorts({ portsFile: process.argv[1] }, [{ name: "api" }]);
    console.log(claimed.ports.api);
    process.stdin.resume();
  `;
  const claiming = spawn(
    process.execPath,
    ["--input-type=module", "--eval", program, other.portsFile],
    { stdio: ["pipe", "pipe", "inherit"] },
  );
  const ended = once(claiming, "exit");
  const [printed] = (await once(claiming.stdout, "data")) as [Buffer];
  const claimed = Number(printed);
  // Nothing listens there: the other cluster has not started its service yet, or starts it again.
  expect(await isFree(claimed)).toBe(true);
  using preferring = temporaryHome();
  expect(await chosen(preferring, [{ name: "api", preferred: claimed }])).not.toEqual({
    api: claimed,
  });
  using saving = temporaryHome();
  writeFileSync(saving.portsFile, JSON.stringify({ api: claimed }));
  expect(await chosen(saving, [{ name: "api" }])).not.toEqual({ api: claimed });
  claiming.stdin.end();
  expect(await ended).toEqual([0, null]);
  expect(await chosen(other, [{ name: "api" }])).toEqual({ api: claimed });
});
