/** Makes the example of each operation in the OpenAPI document, with simulated services that accept every command. */
import { Ajv2020 } from "ajv/dist/2020.js";
import { afterAll, beforeAll, expect, test } from "vitest";
import { stageExamples } from "../testing/example-stage.ts";
import { startTestGateway, type TestGateway } from "../testing/test-gateway.ts";

type Schema = Readonly<Record<string, unknown>>;
type Content = Readonly<Record<string, { readonly schema: Schema; readonly example?: unknown }>>;
type Parameter = {
  readonly name: string;
  readonly in: "path" | "query" | "header";
  readonly schema: Schema;
  readonly example?: unknown;
};
type Operation = {
  readonly operationId: string;
  readonly parameters: readonly Parameter[];
  readonly requestBody?: { readonly content: Content };
  readonly responses: { readonly "200": { readonly content: Content } };
};
type Document = {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
  readonly components: { readonly schemas: Readonly<Record<string, Schema>> };
};

/**
 * The examples that the stage refuses, with the codes. They name a secret, ask a process that does not run, or need a
 * person's session.
 */
const refused: Readonly<Record<string, string>> = {
  SessionService_CreateSession: "invalid_token",
  TaskService_GetTaskUse: "task_not_running",
  ClusterService_RevokeToken: "token_not_found",
  UserService_SetPassword: "no_password",
  DeviceLoginService_FinishDeviceLogin: "expired_token",
  DeviceLoginService_GetDeviceLogin: "no_such_code",
  DeviceLoginService_AnswerDeviceLogin: "needs_session",
};

const stack = new AsyncDisposableStack();
let gateway: TestGateway;
let document: Document;
let ajv: Ajv2020;

beforeAll(async () => {
  gateway = stack.use(await startTestGateway());
  stack.use(await stageExamples(gateway));
  const { body } = await gateway.call("GET", "/api/v1/openapi.json", { token: null });
  document = body as unknown as Document;
  ajv = new Ajv2020({ strict: false, allErrors: true, formats: { binary: true } });
  ajv.addSchema({ $id: "openapi", components: { schemas: closed(document.components.schemas) } });
});
afterAll(() => stack.disposeAsync());

/** Returns the schemas with no fields but those that they name. */
function closed(schemas: Document["components"]["schemas"]): Schema {
  return Object.fromEntries(
    Object.entries(schemas).map(([name, schema]) => [
      name,
      { ...schema, additionalProperties: false },
    ]),
  );
}

function mismatches(schema: Schema, value: unknown): readonly string[] {
  const text = JSON.stringify(schema).replaceAll('"#/', '"openapi#/');
  const validate = ajv.compile(JSON.parse(text) as Schema);
  if (validate(value)) return [];
  return (validate.errors ?? []).map(
    ({ instancePath, message, params }) => `${instancePath} ${message} ${JSON.stringify(params)}`,
  );
}

test("each example is answered, and request and answer have the forms of the document", async () => {
  const problems: string[] = [];
  let made = 0;
  for (const [path, methods] of Object.entries(document.paths)) {
    for (const [method, operation] of Object.entries(methods)) {
      const id = operation.operationId;
      made += 1;
      const found = [
        ...requestMismatches(operation),
        ...(await answerMismatches(path, method, operation)),
      ];
      problems.push(...found.map((one) => `${id}: ${one}`));
    }
  }
  expect(problems).toEqual([]);
  expect(made).toBeGreaterThan(150);
}, 60_000);

function requestMismatches({ parameters, requestBody }: Operation): readonly string[] {
  const body = requestBody?.content["application/json"];
  return [
    ...parameters
      .filter(({ example }) => example !== undefined)
      .flatMap(({ schema, example }) => mismatches(schema, example)),
    ...(body === undefined ? [] : mismatches(body.schema, body.example)),
  ];
}

async function answerMismatches(
  path: string,
  method: string,
  operation: Operation,
): Promise<readonly string[]> {
  const leave = new AbortController();
  const answer = await send(path, method, operation, leave.signal);
  const expected = refused[operation.operationId];
  if (answer.status !== 200) {
    const problem = (await answer.json()) as { readonly code: string; readonly detail: string };
    if (problem.code !== expected) return [`${answer.status} ${problem.code}: ${problem.detail}`];
    return mismatches({ $ref: "#/components/schemas/Problem" }, problem);
  }
  if (expected !== undefined) return [`is not refused as ${expected}`];
  const type = answer.headers.get("content-type")?.split(";")[0] ?? "";
  const content = operation.responses["200"].content[type];
  if (content === undefined) return [`answers with ${type}`];
  if (type === "application/json") return mismatches(content.schema, await answer.json());
  if (type === "text/event-stream") {
    const message = await firstMessage(answer, leave);
    return message === null ? [] : mismatches(content.schema, message);
  }
  await answer.arrayBuffer();
  return [];
}

async function send(
  path: string,
  method: string,
  { parameters, requestBody }: Operation,
  signal: AbortSignal,
): Promise<Response> {
  const url = new URL(gateway.url);
  url.pathname = path;
  const body = requestBody?.content["application/json"]?.example as Schema | undefined;
  let run = body?.["run"];
  for (const { name, in: place, example } of parameters) {
    if (example === undefined) continue;
    if (place === "path") {
      const encoded = encodeURIComponent(String(example));
      url.pathname = decodeURI(url.pathname).replace(`{${name}}`, encoded);
      if (name === "run") run = example;
    } else for (const one of [example].flat()) url.searchParams.append(name, String(one));
  }
  const token = run === undefined ? gateway.token : await gateway.runToken(String(run));
  return fetch(url, {
    method: method.toUpperCase(),
    headers: {
      authorization: `Bearer ${token}`,
      ...(body === undefined ? {} : { "content-type": "application/json" }),
    },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    signal,
  });
}

/** Returns the first message of a stream; null if it has none within half a second. */
async function firstMessage(answer: Response, leave: AbortController): Promise<unknown> {
  const timer = setTimeout(() => leave.abort(), 500);
  let text = "";
  try {
    for await (const chunk of answer.body ?? []) {
      text += Buffer.from(chunk).toString();
      const [, event, data] = /^(?:event: (\w+)\n)?data: (.*)\n/m.exec(text) ?? [];
      if (data !== undefined) return event === undefined ? JSON.parse(data) : null;
    }
  } catch (error) {
    if (!leave.signal.aborted) throw error;
  } finally {
    clearTimeout(timer);
    leave.abort();
  }
  return null;
}
