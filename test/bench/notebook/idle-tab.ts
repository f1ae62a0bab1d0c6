/** A tab of JupyterLab with an open notebook that nobody uses. */
import { once } from "node:events";
import { Agent, type IncomingMessage, request } from "node:http";
import type { Duplex } from "node:stream";
import { text } from "node:stream/consumers";
import { systemClock } from "@trainyard/kernel/system-clock";
import { dialWebSocket } from "@trainyard/tunnel";
import type { Page } from "../proxy/page.ts";

/** The requests of JupyterLab 4 while a tab is shown. */
const polls = [
  { path: "/api/kernels", everyMs: 10_000 },
  { path: "/api/sessions", everyMs: 10_000 },
  { path: "/api/terminals", everyMs: 10_000 },
  { path: "/api/contents/?content=1", everyMs: 10_000 },
  { path: "/api/kernelspecs", everyMs: 61_000 },
] as const;

export class IdleTab implements Disposable {
  readonly #page: Page;
  /** A browser keeps up to six connections to a host. */
  readonly #agent = new Agent({ keepAlive: true, maxSockets: 6 });
  readonly #timers: NodeJS.Timeout[] = [];
  #cookie: string;
  #kernel: Duplex | null = null;

  private constructor(page: Page) {
    this.#page = page;
    this.#cookie = page.headers["cookie"] ?? "";
  }

  /** Opens the page, starts a kernel, connects to it, and begins to poll. */
  static async open(page: Page): Promise<IdleTab> {
    const tab = new IdleTab(page);
    const lab = await tab.#ask("GET", "/lab");
    await text(lab);
    const xsrf = lab.headers["set-cookie"]?.find((one) => one.startsWith("_xsrf="))?.split(";")[0];
    if (xsrf === undefined) throw new Error(`/lab answered ${lab.statusCode} without a token`);
    tab.#cookie += `; ${xsrf}`;
    const wanted = {
      name: "idle",
      path: "idle.ipynb",
      type: "notebook",
      kernel: { name: "python3" },
    };
    const session = await tab.#ask("POST", "/api/sessions", {
      body: JSON.stringify(wanted),
      token: xsrf.slice("_xsrf=".length),
    });
    const said = await text(session);
    if (session.statusCode !== 201) throw new Error(`no kernel: ${session.statusCode} ${said}`);
    const { kernel } = JSON.parse(said) as { readonly kernel: { readonly id: string } };
    const address = `http://127.0.0.1:${page.port}/api/kernels/${kernel.id}/channels?session_id=idle`;
    const headers = { ...page.headers, cookie: tab.#cookie };
    tab.#kernel = await dialWebSocket(address, { clock: systemClock, headers });
    tab.#kernel.on("error", () => {}).resume();
    for (const [n, { path, everyMs }] of polls.entries()) {
      // Tabs do not poll all at once.
      const begin = setTimeout(
        () => {
          tab.#timers.push(setInterval(() => void tab.#poll(path), everyMs));
        },
        (everyMs * (n + Math.random())) / polls.length,
      );
      tab.#timers.push(begin);
    }
    return tab;
  }

  async #poll(path: string): Promise<void> {
    const answer = await this.#ask("GET", path).catch(() => null);
    answer?.resume();
  }

  async #ask(
    method: string,
    path: string,
    { body = "", token = "" }: { readonly body?: string; readonly token?: string } = {},
  ): Promise<IncomingMessage> {
    const headers = {
      ...this.#page.headers,
      cookie: this.#cookie,
      ...(token === "" ? {} : { "x-xsrftoken": token, "content-length": Buffer.byteLength(body) }),
    };
    const { port } = this.#page;
    const asked = request({ host: "127.0.0.1", port, method, path, headers, agent: this.#agent });
    asked.end(body);
    const [answer] = (await once(asked, "response")) as [IncomingMessage];
    return answer;
  }

  [Symbol.dispose](): void {
    for (const timer of this.#timers) clearTimeout(timer);
    this.#kernel?.destroy();
    this.#agent.destroy();
  }
}
