/** Tests of `yard notebook start` and `yard tensorboard start`, with a simulated gateway. */
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import {
  type PlayedAnswer,
  type PlayedGateway,
  type PlayedRequest,
  playGateway,
} from "../testing/played-gateway.ts";

let gateway: PlayedGateway;
let states: string[];

function answer({ call, body }: PlayedRequest): PlayedAnswer {
  const { kind = "notebook", validateOnly = false } = (body ?? {}) as {
    readonly kind?: string;
    readonly validateOnly?: boolean;
  };
  const task = { id: "t12", kind };
  if (call === "POST /api/v1/tasks") {
    return { body: { position: "7", ...(validateOnly ? {} : { task }) } };
  }
  if (call === "POST /api/v1/tasks/t12/sessions") {
    return { body: { url: "http://t12.tasks.example/.trainyard/open#code=x", expiresAtMs: 0 } };
  }
  const [state = ""] = states.length > 1 ? states.splice(0, 1) : states;
  return { body: { ...task, state, reason: state === "ERROR" ? "it ended" : "" } };
}

beforeEach(async () => {
  states = ["QUEUED", "STARTING", "RUNNING"];
  gateway = await playGateway(answer);
});
afterEach(() => gateway[Symbol.asyncDispose]());

const created = () => gateway.requests.find(({ call }) => call === "POST /api/v1/tasks")?.body;

test("a notebook is started with its file, folder and slots, and its link is printed when it runs", async () => {
  const folder = await mkdtemp(join(tmpdir(), "trainyard-cli-"));
  await writeFile(join(folder, "task.yaml"), "idle_timeout: 30m\n");
  const options = ["--context", folder, "--slots", "2", "--set", "name=x"];
  const file = join(folder, "task.yaml");
  const { code, lines, err } = await gateway.yard("notebook", "start", file, ...options);
  await rm(folder, { recursive: true });
  expect([code, lines]).toEqual([
    0,
    ["created notebook t12", "http://t12.tasks.example/.trainyard/open#code=x"],
  ]);
  expect(err).toContain("task t12: QUEUED\ntask t12: STARTING\n");
  expect(created()).toMatchObject({
    kind: "notebook",
    config: "idle_timeout: 30m\n",
    overrides: ["name=x", "resources.slots=2"],
    context: expect.stringMatching(/^H4sI/),
  });
  const reads = gateway.requests.filter(({ call }) => call.startsWith("GET"));
  expect(reads[0]?.call).toContain("minPosition=7");
});

test("a TensorBoard is started with its sources", async () => {
  const { code, lines } = await gateway.yard("tensorboard", "start", "12", "13.4");
  expect([code, lines.length]).toEqual([0, 2]);
  expect(created()).toMatchObject({ kind: "tensorboard", sources: ["12", "13.4"] });
});

test("a notebook that ends before its server answers exits with 1 and the reason", async () => {
  states = ["STARTING", "ERROR"];
  const { code, err } = await gateway.yard("notebook", "start");
  expect(code).toBe(1);
  expect(err).toContain("Task t12 has ended ERROR: it ended.");
});

test.each([["--no-wait"], ["--dry-run"]])("with %s nothing is waited for", async (option) => {
  expect((await gateway.yard("notebook", "start", option)).code).toBe(0);
  expect(gateway.requests.map(({ call }) => call)).toEqual(["POST /api/v1/tasks"]);
});

test.each([
  [
    ["notebook", "start", "a.yaml", "--config", "b.yaml"],
    /^Name the configuration once: as an arg/,
  ],
  [["tensorboard", "start"], /missing required argument 'sources'/],
  [["notebook", "start", "--slots", "many"], /^--slots/],
])("wrong usage is refused in a sentence: %j", async (words, sentence) => {
  const { code, err } = await gateway.yard(...words);
  expect([code, gateway.requests]).toEqual([2, []]);
  expect(err).toMatch(sentence);
});
