/**
 * Receives the answers to this process's requests, in one inbox with a token for each request. Unlike the client's
 * requests, these fail at once, as Faults, when the link is lost or the server refuses the subject. All other requests
 * end at their deadline.
 */
import { createInbox, type Msg, type MsgHdrs, type NatsConnection } from "@nats-io/nats-core";
import {
  deadlineExceeded,
  linkLost,
  messageTooLarge,
  noResponders,
  notPermitted,
} from "../faults.ts";
import type { Link } from "./link.ts";

type Question = {
  readonly subject: string;
  readonly answer: (message: Msg) => void;
  readonly fail: (fault: Error) => void;
};

export class Replies implements Disposable {
  readonly #link: Link;
  readonly #inbox: string;
  readonly #questions = new Map<string, Question>();
  readonly #stack = new DisposableStack();
  #asked = 0;

  constructor(link: Link, inboxPrefix: string) {
    this.#link = link;
    this.#inbox = createInbox(inboxPrefix);
    this.#stack.use(link.attach((connection) => this.#listen(connection)));
    this.#stack.use(
      link.onConnection((up) => {
        if (!up) this.#failAll((question) => linkLost(question.subject));
      }),
    );
    this.#stack.use(
      link.onRefusal(({ operation, subject }) =>
        this.#failAll((question) =>
          question.subject === subject ? notPermitted(operation, subject) : null,
        ),
      ),
    );
  }

  /** Publishes a request and resolves with the first answer. */
  ask(subject: string, body: Uint8Array, headers: MsgHdrs, deadlineMs: number): Promise<Msg> {
    return new Promise((resolve, reject) => {
      const connection = this.#link.connection();
      const end = (): void => {
        clearTimeout(timer);
        expected[Symbol.dispose]();
      };
      const fail = (fault: Error): void => {
        end();
        reject(fault);
      };
      const expected = this.expect(
        subject,
        (message) => {
          end();
          resolve(message);
        },
        fail,
      );
      const timer = setTimeout(() => fail(deadlineExceeded(subject, deadlineMs)), deadlineMs);
      try {
        connection.publish(subject, body, { reply: expected.inbox, headers });
      } catch (error) {
        fail(messageTooLarge(subject, body.byteLength, error));
      }
    });
  }

  /** Reserves a reply address for requests about `subject`, until disposed of. */
  expect(
    subject: string,
    answer: (message: Msg) => void,
    fail: (fault: Error) => void,
  ): Disposable & { readonly inbox: string } {
    this.#asked += 1;
    const token = this.#asked.toString(36);
    this.#questions.set(token, { subject, answer, fail });
    return {
      inbox: `${this.#inbox}.${token}`,
      [Symbol.dispose]: () => void this.#questions.delete(token),
    };
  }

  #listen(connection: NatsConnection): void {
    const skip = this.#inbox.length + 1;
    connection.subscribe(`${this.#inbox}.*`, {
      callback: (error, message) => {
        if (error !== null) return;
        const question = this.#questions.get(message.subject.slice(skip));
        if (question === undefined) return;
        const unheard = message.data.length === 0 && message.headers?.code === 503;
        if (unheard) question.fail(noResponders(question.subject));
        else question.answer(message);
      },
    });
  }

  #failAll(faultOf: (question: Question) => Error | null): void {
    for (const question of [...this.#questions.values()]) {
      const fault = faultOf(question);
      if (fault !== null) question.fail(fault);
    }
  }

  [Symbol.dispose](): void {
    this.#stack.dispose();
    this.#failAll((question) => linkLost(question.subject));
  }
}
