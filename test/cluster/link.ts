import { once } from "node:events";
import { type AddressInfo, connect, createServer, type Server, type Socket } from "node:net";

/** The direction in which bytes are lost, for messages of the bus or of the agent. */
export type Direction = "to the agent" | "from the agent";

type Way = { readonly from: Socket; readonly to: Socket; readonly direction: Direction };

/**
 * The connection between an agent and the bus. Cut in both directions, connections break, and new ones fail. Cut in one
 * direction, connections stay and can be opened, and bytes in that direction wait until the link is restored.
 */
export class Link implements AsyncDisposable {
  readonly #server: Server;
  readonly #ways = new Set<Way>();
  #isCut = false;
  #blocked: Direction | null = null;

  private constructor(targetPort: number) {
    this.#server = createServer((near) => {
      if (this.#isCut) return void near.destroy();
      const far = connect(targetPort, "127.0.0.1");
      this.#join({ from: near, to: far, direction: "from the agent" });
      this.#join({ from: far, to: near, direction: "to the agent" });
    });
  }

  static async to(targetPort: number): Promise<Link> {
    const link = new Link(targetPort);
    link.#server.listen(0, "127.0.0.1");
    await once(link.#server, "listening");
    return link;
  }

  get url(): string {
    return `nats://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  #join(way: Way): void {
    const { from, to, direction } = way;
    this.#ways.add(way);
    from.on("error", () => to.destroy());
    from.on("close", () => {
      this.#ways.delete(way);
      to.destroy();
    });
    if (direction !== this.#blocked) from.pipe(to);
  }

  cut(): void {
    this.#isCut = true;
    for (const { from } of this.#ways) from.destroy();
  }

  cutOneWay(direction: Direction): void {
    this.#blocked = direction;
    for (const way of this.#ways) if (way.direction === direction) way.from.unpipe(way.to);
  }

  mend(): void {
    this.#isCut = false;
    for (const { from, to, direction } of this.#ways) {
      if (direction === this.#blocked) from.pipe(to);
    }
    this.#blocked = null;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.cut();
    const closed = once(this.#server, "close");
    this.#server.close();
    await closed;
  }
}
