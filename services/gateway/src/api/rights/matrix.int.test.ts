/** Makes every call as every kind of caller, and compares the outcomes with the table in matrix.ts. */
import { readFile } from "node:fs/promises";
import { gatewayServices } from "@trainyard/contracts/routes";
import { afterAll, beforeAll, expect, test } from "vitest";
import { stageExamples } from "../../testing/example-stage.ts";
import { startTestGateway, type TestGateway } from "../../testing/test-gateway.ts";
import { stageLab, type Lab, type LabObjects } from "../../testing/lab-stage.ts";
import { callers, matrix, type MatrixCaller } from "./matrix.ts";

type Parameter = {
  readonly name: string;
  readonly in: "path" | "query" | "header";
  readonly example?: unknown;
};
type Body = Readonly<Record<string, unknown>>;
type Operation = {
  readonly path: string;
  readonly method: string;
  readonly parameters: readonly Parameter[];
  readonly body: Body | undefined;
};
type Answer = { readonly status: number; readonly text: string; readonly json: Body };

const stack = new AsyncDisposableStack();
let gateway: TestGateway;
let lab: Lab;
let operations: ReadonlyMap<string, Operation>;

beforeAll(async () => {
  operations = await readOperations();
  gateway = stack.use(await startTestGateway());
  stack.use(await stageExamples(gateway));
  lab = await stageLab(gateway);
}, 60_000);
afterAll(() => stack.disposeAsync());

/** Returns the operations of the OpenAPI document, whose examples are the requests. */
async function readOperations(): Promise<ReadonlyMap<string, Operation>> {
  const url = new URL("../../http/gen/openapi.json", import.meta.url);
  const { paths } = JSON.parse(await readFile(url, "utf8")) as {
    readonly paths: Readonly<Record<string, Readonly<Record<string, Body>>>>;
  };
  const all = Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => {
      const { operationId, parameters, requestBody } = operation as {
        readonly operationId: string;
        readonly parameters: readonly Parameter[];
        readonly requestBody?: { readonly content: Body };
      };
      const content = requestBody?.content["application/json"] as { readonly example: Body };
      const body = requestBody === undefined ? undefined : content.example;
      return [operationId.split("_")[1] ?? "", { path, method, parameters, body }] as const;
    }),
  );
  return new Map(all);
}

const calls = gatewayServices.flatMap(({ methods }) => methods.map(({ name }) => name));

test("the table has a row for each call, and no other", () => {
  expect(Object.keys(matrix).toSorted()).toEqual(calls.toSorted());
  expect(Object.values(matrix).filter((row) => row.length !== callers.length)).toEqual([]);
});

test("each call answers each caller as the table says", async () => {
  const problems: string[] = [];
  for (const [name, expected] of Object.entries(matrix)) {
    const found = await Promise.all(
      callers.map(async (caller) => {
        const answer = await makeCall(name, caller, lab.objectsOf(caller));
        return { caller, answer, outcome: await outcomeOf(name, caller, answer) };
      }),
    );
    const letters = found.map(({ outcome }) => outcome).join("");
    if (letters === expected) continue;
    problems.push(`${name} ${letters} is not ${expected}`);
    for (const [at, { caller, answer, outcome }] of found.entries()) {
      if (outcome === expected[at]) continue;
      problems.push(`${caller}: ${outcome} ${answer.status} ${answer.text.slice(0, 300)}`);
    }
  }
  expect(problems).toEqual([]);
}, 60_000);

async function makeCall(name: string, caller: MatrixCaller, objects: LabObjects): Promise<Answer> {
  const operation = operations.get(name);
  if (operation === undefined) throw new Error(`the document has no operation for ${name}`);
  const given = { ...objects.fields, ...objects.of[name] };
  const own = objects.of[name] ?? {};
  const url = new URL(gateway.url);
  url.pathname = operation.path;
  for (const { name: field, in: place, example } of operation.parameters) {
    // Some queries take the number of a run. The examples of lists select what they show.
    const isNumber = place === "query" && field === "run";
    const value = isNumber || lab.plainLists.has(name) ? own[field] : (given[field] ?? example);
    if (value === undefined || place === "header") continue;
    if (place === "path") {
      url.pathname = decodeURI(url.pathname).replace(
        `{${field}}`,
        encodeURIComponent(String(value)),
      );
    } else for (const one of [value].flat()) url.searchParams.append(field, String(one));
  }
  const fields = Object.entries(operation.body ?? {});
  const body = {
    ...Object.fromEntries(fields.map(([field, value]) => [field, given[field] ?? value])),
    ...(operation.method === "get" ? {} : bodyFields(operation, own)),
  };
  return send(operation, url, lab.tokenOf(caller), body);
}

/** Returns the fields of a call's own that are no parameters. */
function bodyFields({ parameters }: Operation, own: Body): Body {
  const names = new Set(parameters.map(({ name }) => name));
  return Object.fromEntries(Object.entries(own).filter(([field]) => !names.has(field)));
}

async function send(
  { method, body: documented }: Operation,
  url: URL,
  token: string,
  body: Body,
): Promise<Answer> {
  const leave = new AbortController();
  const hasBody = documented !== undefined;
  const answer = await fetch(url, {
    method: method.toUpperCase(),
    headers: {
      authorization: `Bearer ${token}`,
      ...(hasBody ? { "content-type": "application/json" } : {}),
    },
    ...(hasBody ? { body: JSON.stringify(body) } : {}),
    signal: leave.signal,
  });
  const isStream = answer.headers.get("content-type")?.startsWith("text/event-stream") === true;
  if (isStream) {
    leave.abort();
    return { status: answer.status, text: "", json: {} };
  }
  const text = await answer.text();
  return {
    status: answer.status,
    text,
    json: text.startsWith("{") ? (JSON.parse(text) as Body) : {},
  };
}

async function outcomeOf(name: string, caller: MatrixCaller, answer: Answer): Promise<string> {
  const { status, json } = answer;
  if (status === 401) return "1";
  if (name in lab.domainRefusals && lab.domainRefusals[name] === json["code"]) return "A";
  if (status === 403) return "R";
  const refusal = lab.refusalIn(json);
  if (refusal === "not_allowed") return "R";
  if (status === 404 || refusal !== null || lab.isUnknownPlace(json)) {
    const missing = await makeCall(name, caller, lab.nowhere);
    const [hidden, gone] = [answer, missing].map(({ text }) => lab.withoutNames(text));
    return hidden === gone ? "H" : `(${gone})`;
  }
  if (status >= 400) return `(${status})`;
  return lab.lists.has(name) && !lab.mentions(answer.text) ? "e" : "A";
}
