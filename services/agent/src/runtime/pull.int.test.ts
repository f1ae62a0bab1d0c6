import { systemClock } from "@trainyard/kernel/system-clock";
import { afterAll, expect, test } from "vitest";
import { removeFolders } from "../testing/examples.ts";
import { FakeEngine } from "../testing/fake-engine.ts";
import { engineAt } from "./engine.ts";
import { ensureImage } from "./pull.ts";
import { HostProblem, LackProblem } from "./runtime.ts";

afterAll(removeFolders);

/** Pulls an image from an engine that answers like this. */
async function pull(
  pulling: () => Iterable<object>,
  timeoutMs: number,
  onProgress: () => void = () => {},
  image = "registry.example/a:1",
): Promise<unknown> {
  await using engine = await FakeEngine.start([]);
  engine.pulling = pulling;
  const deps = {
    engine: engineAt(engine.socket),
    socket: engine.socket,
    clock: systemClock,
    authFile: "",
    timeoutMs,
    say: () => {},
    onProgress,
  };
  return await ensureImage(image, false, deps, new AbortController().signal);
}

/** Pulls an image; returns the error message, empty on success, and the number of progress calls. */
async function pulled(
  pulling: () => Iterable<object>,
  timeoutMs: number,
): Promise<{ why: string; moves: number }> {
  let moves = 0;
  const found = pull(pulling, timeoutMs, () => (moves += 1));
  const why = await found.then(
    () => "",
    (error: unknown) => (error instanceof HostProblem ? error.message : String(error)),
  );
  return { why, moves };
}

const layer = (current: number) => ({
  id: "a1",
  status: "Downloading",
  progressDetail: { current, total: 1_000_000 },
});

test.concurrent("a pull that trickles forever ends at the agent's time limit, and the message names the setting", async () => {
  const pulling = function* () {
    for (let bytes = 0; ; bytes += 1) yield layer(bytes);
  };
  const { why, moves } = await pulled(pulling, 500);
  expect(why).toBe(
    "the image registry.example/a:1 was not pulled within 0.5 s, this agent's limit (TRAINYARD_AGENT_PULL_TIMEOUT)",
  );
  expect(moves).toBeGreaterThan(5);
});

test.concurrent("the time limit of a pull applies to all attempts together", async () => {
  const pulling = function* () {
    yield { error: "503 service unavailable" };
  };
  expect((await pulled(pulling, 300)).why).toMatch(/was not pulled within 0\.3 s/);
});

test.concurrent.each([
  [
    "dial tcp: lookup registry.example on 10.0.0.1:53: no such host",
    "LackProblem",
    /could not be pulled in 4 attempts: this host does not find the registry registry\.example; is its name correct\? \(dial tcp/,
  ],
  ["503 service unavailable", "LackProblem", /could not be pulled in 4 attempts: 503/],
  ["manifest unknown", "LaunchProblem", /could not be pulled: manifest unknown/],
  ["write /var/lib: no space left on device", "HostProblem", /no space left/],
])("a pull that fails with %j is a %s", async (said, name, sentence) => {
  const pulling = function* () {
    yield { error: said };
  };
  await expect(pull(pulling, 60_000)).rejects.toMatchObject({
    name,
    message: expect.stringMatching(sentence),
    ...(name === "LackProblem" ? { lasting: false } : {}),
  });
});

test.concurrent("a pull makes progress with bytes and layers, and not when the engine repeats a message", async () => {
  const pulling = function* () {
    for (let times = 0; times < 20; times += 1) yield { status: "Waiting", id: "a1" };
    for (let times = 0; times < 20; times += 1) yield layer(7);
    yield layer(8);
    yield { status: "Pull complete", id: "a1" };
  };
  expect(await pulled(pulling, 10_000)).toEqual({ why: "", moves: 4 });
});

test.concurrent("an image of localhost that the host lacks is pulled once, and another host may have it", async () => {
  let pulls = 0;
  const pulling = function* () {
    pulls += 1;
    yield { error: "dial tcp 127.0.0.1:443: connect: connection refused" };
  };
  const found = pull(pulling, 60_000, () => {}, "localhost/nosuch:9");
  await expect(found).rejects.toThrow(LackProblem);
  await expect(found).rejects.toThrow("there is no registry at localhost");
  await expect(found).rejects.toMatchObject({ lasting: true });
  expect(pulls).toBe(1);
});
