import { mkdirSync } from "node:fs";
import { connect } from "node:net";
import { join } from "node:path";
import { type BusPrincipal, natsUsersOf, renderNatsConfig } from "@trainyard/bus/server";
import { feedUsers } from "./feed-users.ts";
import { writeAtomically } from "../home/atomic-file.ts";
import type { Home } from "../home/home.ts";
import type { Command } from "../processes/launch.ts";

/** Returns the configuration, with the users of subscriptions as the service feeds has written them. */
export function natsConfiguration(
  home: Home,
  port: number,
  principals: readonly BusPrincipal[],
  passwords: Readonly<Record<string, string>>,
): string {
  const users = natsUsersOf(principals, (name) => passwords[name] ?? "");
  const all = [...users, ...feedUsers(home.feedUsersFile)];
  return renderNatsConfig({ port, storeDir: join(home.nats, "store"), users: all });
}

/** Writes the server's configuration, recreates a deleted data folder, and returns the command that runs the server. */
export function natsCommand(home: Home, binary: string, configuration: string): Command {
  const file = writeNatsConfiguration(home, configuration);
  return {
    program: binary,
    parameters: ["-c", file],
    environment: { PATH: "/usr/bin:/bin", TZ: "UTC" },
    folder: home.nats,
    user: null,
  };
}

/** Writes the server's configuration, and returns its file. */
export function writeNatsConfiguration(home: Home, configuration: string): string {
  mkdirSync(home.nats, { recursive: true, mode: 0o700 });
  const file = join(home.nats, "nats.conf");
  writeAtomically(file, configuration);
  return file;
}

/**
 * Null when the server sends its greeting, else the problem. An accepted connection alone does not mean that it is
 * ready.
 */
export function natsProblem(port: number): Promise<string | null> {
  return new Promise((resolve) => {
    const socket = connect(port, "127.0.0.1");
    const answer = (problem: string | null): void => {
      resolve(problem);
      socket.destroy();
    };
    socket.setTimeout(2_000, () => answer("no greeting within 2 s"));
    socket.once("data", () => answer(null));
    socket.once("error", (error) => answer(error.message));
    socket.once("close", () => answer("the connection was closed without a greeting"));
  });
}
