/** Tests of the links to the pages of tasks. */
import { once } from "node:events";
import { type IncomingMessage, request } from "node:http";
import { text } from "node:stream/consumers";
import { TaskOutcome } from "@trainyard/contracts/events";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { taskPageLimits } from "../../task-pages/limits.ts";
import { taskCreated } from "../../testing/example-events.ts";
import { startTestGateway, type TestGateway } from "../../testing/test-gateway.ts";

let gateway: TestGateway;

beforeAll(async () => {
  gateway = await startTestGateway();
});
afterAll(() => gateway[Symbol.asyncDispose]());

const get = async (path: string) => {
  const { status, body } = await gateway.call("GET", `/api/v1/${path}`);
  expect([status, body["detail"]]).toEqual([200, undefined]);
};

describe("a link to a page", () => {
  const config = {
    environment: {
      proxy_ports: [{ proxy_port: 22, proxy_tcp: true }, { proxy_port: 80 }, { proxy_port: 81 }],
    },
  };

  beforeAll(async () => {
    const at = await gateway.append("task-t910", taskCreated({ config }));
    await get(`tasks?minPosition=${at}`);
  });

  /** Asks at a host for a link. Node's fetch lets nobody choose the host. */
  async function linked(host: string, body: object) {
    const sent = request(`${gateway.url}/api/v1/tasks/t910/sessions`, {
      method: "POST",
      headers: {
        ...{ host, "content-type": "application/json" },
        authorization: `Bearer ${gateway.token}`,
      },
    }).end(JSON.stringify(body));
    const [answer] = (await once(sent, "response")) as [IncomingMessage];
    const found = JSON.parse(await text(answer)) as {
      url?: string;
      code?: string;
      detail?: string;
    };
    return found.url?.replace(/#code=[A-Za-z0-9_-]{43}$/, "#") ?? [found.code, found.detail];
  }

  test.each([
    ["127.0.0.1:8080", {}, "http://t910.localhost:8080/.trainyard/open#"],
    ["localhost:8080", { port: 81 }, "http://t910-81.localhost:8080/.trainyard/open#"],
    ["cluster.example", { localPort: 99 }, "http://t910.localhost:99/.trainyard/open#"],
    [
      "cluster.example",
      {},
      [
        "no_task_domain",
        expect.stringContaining('"yard task open t910" opens the page from your machine'),
      ],
    ],
    ["127.0.0.1", { port: 22 }, ["port_not_declared", expect.stringMatching(/^22 is none/)]],
  ])("asked at %s with %j is %j", async (host, body, expected) => {
    expect(await linked(host, body)).toEqual(expected);
  });

  /** The number of a token's codes or sessions, with whether its oldest is among them. */
  const rows = async (table: "task_codes" | "task_sessions") =>
    (
      await gateway.sql(
        `select count(*)::int as rows, bool_or(digest = 'old-1') as oldest from gateway.${table}`,
      )
    ).rows;

  test("ends the oldest code or session of its token if there are too many", async () => {
    const { sessionsOfTokenMax: max } = taskPageLimits;
    await gateway.sql("delete from gateway.task_codes");
    const { body } = await gateway.call("POST", "/api/v1/tasks/t910/sessions", {
      body: { localPort: 99 },
    });
    const old = "'old-' || n, 't910', 0, (select token from gateway.task_codes)";
    await gateway.sql(
      `insert into gateway.task_sessions (digest, task, port, token, used_at)
       select ${old}, now() - make_interval(secs => $1 - n) from generate_series(1, $1) as n`,
      [max],
    );
    await gateway.sql(
      `insert into gateway.task_codes (digest, task, port, token, expires_at)
       select ${old}, now() + make_interval(secs => n::float8 / 1000) + interval '30 s'
       from generate_series(1, $1) as n`,
      [max - 1],
    );
    await linked("127.0.0.1", {});
    expect(await rows("task_codes")).toEqual([{ rows: max, oldest: false }]);
    const sent = request(`${gateway.url}/.trainyard/session`, {
      method: "POST",
      headers: { host: "t910.localhost:99", origin: "http://t910.localhost:99" },
    }).end(String(body["url"]).split("#code=")[1]);
    const [answer] = (await once(sent, "response")) as [IncomingMessage];
    expect(answer.statusCode).toBe(204);
    expect(await rows("task_sessions")).toEqual([{ rows: max, oldest: false }]);
  });

  test("of an ended task is refused with its reason", async () => {
    const over = { outcome: TaskOutcome.COMPLETED, reason: "finished", restarts: 0 };
    const at = await gateway.append("task-t910", { type: "TaskEnded", data: over });
    await get(`tasks?minPosition=${at}`);
    expect(await linked("127.0.0.1", {})).toEqual(["task_ended", "t910 has ended: finished"]);
  });
});
