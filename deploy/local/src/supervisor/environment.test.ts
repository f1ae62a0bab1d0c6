import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { homeAt } from "../home/home.ts";
import { agentSettings } from "./environment.ts";

let folder: string;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "trainyard-settings-"));
  mkdirSync(homeAt(folder).agents, { recursive: true });
});
afterEach(() => rmSync(folder, { recursive: true }));

function settingsOf(text: string) {
  writeFileSync(join(homeAt(folder).agents, "agent-2.env"), text);
  return agentSettings(homeAt(folder), "agent-2");
}

test("an agent gets the settings of its own file, and no other agent gets them", () => {
  const text = "# a comment\nTRAINYARD_AGENT_RUNTIME=podman\nTRAINYARD_POOL=gpus\n";
  expect(settingsOf(text)).toEqual({ TRAINYARD_AGENT_RUNTIME: "podman", TRAINYARD_POOL: "gpus" });
  expect(agentSettings(homeAt(folder), "agent-1")).toEqual({});
});

test.each(["TRAINYARD_AGENT_NAME=other", "TRAINYARD_NATS_URL=nats://elsewhere", "PATH=/bin"])(
  "the cluster refuses to start where the file of an agent has %s",
  (line) => {
    const [key = ""] = line.split("=");
    expect(() => settingsOf(line)).toThrow(new RegExp(`agent-2\\.env sets ${key}: `));
  },
);
