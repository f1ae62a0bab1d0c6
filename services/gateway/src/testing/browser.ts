/** A browser without pages: it keeps the cookies of each origin, and follows redirects. */
import { createHash, randomBytes } from "node:crypto";
import { fastifyCookie } from "@fastify/cookie";
import type { TestGateway } from "./test-gateway.ts";

export type ShownSession = {
  readonly status: number;
  readonly user?: string;
  readonly owner?: string;
  readonly expiresAtMs?: number;
};

export class TestBrowser {
  readonly #cookies = new Map<string, Map<string, string>>();

  /** Makes one request. */
  async visit(url: string, options: RequestInit = {}): Promise<Response> {
    const { origin } = new URL(url);
    const cookies = this.#of(origin);
    const sent = [...cookies].map(([name, value]) => fastifyCookie.serialize(name, value));
    const headers = new Headers(options.headers);
    headers.set("cookie", sent.join("; "));
    const answer = await fetch(url, { ...options, headers, redirect: "manual" });
    for (const header of answer.headers.getSetCookie()) {
      const [pair = ""] = header.split(";");
      const [[name, value] = ["", ""]] = Object.entries(fastifyCookie.parse(pair));
      const isOver = /max-age=0|expires=thu, 01 jan 1970/i.test(header);
      if (isOver || value === undefined) cookies.delete(name);
      else cookies.set(name, value);
    }
    return answer;
  }

  /** Follows redirects to the first address that has the text, or to an answer that is none. Returns that address. */
  async follow(url: string, until: string): Promise<string> {
    let next = url;
    for (let steps = 0; steps < 10; steps += 1) {
      const answer = await this.visit(next);
      const location = answer.headers.get("location");
      if (location === null) throw new Error(`${answer.status} at ${next}: ${await answer.text()}`);
      next = new URL(location, next).href;
      if (next.includes(until)) return next;
    }
    throw new Error(`no address with ${until}`);
  }

  /** Returns the present session with a gateway, and the status of the answer. */
  async session(url: string): Promise<ShownSession> {
    const answer = await this.visit(`${url}/api/v1/sessions/current`);
    return { ...((await answer.json()) as object), status: answer.status };
  }

  setCookie(origin: string, name: string, value: string): void {
    this.#of(origin).set(name, value);
  }

  #of(origin: string): Map<string, string> {
    const known = this.#cookies.get(origin) ?? new Map<string, string>();
    this.#cookies.set(origin, known);
    return known;
  }
}

/** Returns the first paragraph of a page. */
export async function textOf(answer: Response): Promise<string> {
  return /<p>(.*?)<\/p>/.exec(await answer.text())?.[1] ?? "";
}

/** Returns the browser of a person who has signed in some minutes ago. */
export async function browserOf(
  { sql, url }: Pick<TestGateway, "sql" | "url">,
  user: string,
  ageMinutes: number,
): Promise<TestBrowser> {
  const secret = randomBytes(32).toString("base64url");
  const { rows } = await sql(
    `insert into gateway.sessions (digest, token, user_id, opened_at)
     select $1, '', $2, now() - make_interval(mins => $3) returning (select id from gateway.cluster)`,
    [createHash("sha256").update(secret).digest("hex"), user, ageMinutes],
  );
  const [row] = rows as readonly { readonly id: string }[];
  const browser = new TestBrowser();
  browser.setCookie(url, `trainyard_${row?.id ?? ""}`, secret);
  return browser;
}
