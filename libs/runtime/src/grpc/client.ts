/** A gRPC client of the services in proto/, for tests, campaigns and benchmarks. */
import type {
  DescMessage,
  DescMethodBiDiStreaming,
  DescMethodServerStreaming,
  DescMethodUnary,
  MessageInitShape,
  MessageShape,
} from "@bufbuild/protobuf";
import {
  Client,
  type ClientDuplexStream,
  type ClientReadableStream,
  credentials,
  Metadata,
  type ServiceError,
} from "@grpc/grpc-js";
import { definitionOf } from "./service.ts";

export class GrpcClient implements Disposable {
  readonly #client: Client;
  readonly #metadata = new Metadata();

  /** `address`: host:port, with or without http://. */
  constructor(address: string, token: string) {
    this.#client = new Client(address.replace(/^http:\/\//, ""), credentials.createInsecure());
    if (token !== "") this.#metadata.set("authorization", `Bearer ${token}`);
  }

  /** Calls a method; rejects with grpc-js's ServiceError. */
  call<Request extends DescMessage, Reply extends DescMessage>(
    method: DescMethodUnary<Request, Reply>,
    request: MessageInitShape<Request>,
  ): Promise<MessageShape<Reply>> {
    const { path, requestSerialize, responseDeserialize } = definitionOf(method);
    return new Promise((resolve, reject) => {
      const answer = (error: ServiceError | null, reply?: object): void =>
        // The cast is safe: the method's deserializer made the reply.
        error === null ? resolve(reply as MessageShape<Reply>) : reject(error);
      const coded = [requestSerialize, responseDeserialize] as const;
      this.#client.makeUnaryRequest(path, ...coded, request, this.#metadata, answer);
    });
  }

  /** Calls a method that returns a stream. */
  read<Request extends DescMessage, Reply extends DescMessage>(
    method: DescMethodServerStreaming<Request, Reply>,
    request: MessageInitShape<Request>,
  ): ClientReadableStream<MessageShape<Reply>> {
    const { path, requestSerialize, responseDeserialize } = definitionOf(method);
    const coded = [requestSerialize, responseDeserialize] as const;
    const stream: unknown = this.#client.makeServerStreamRequest(
      path,
      ...coded,
      request,
      this.#metadata,
    );
    return stream as ClientReadableStream<MessageShape<Reply>>;
  }

  /** Calls a method with streams in both directions. */
  exchange<Request extends DescMessage, Reply extends DescMessage>(
    method: DescMethodBiDiStreaming<Request, Reply>,
  ): ClientDuplexStream<MessageInitShape<Request>, MessageShape<Reply>> {
    const { path, requestSerialize, responseDeserialize } = definitionOf(method);
    const coded = [requestSerialize, responseDeserialize] as const;
    const stream: unknown = this.#client.makeBidiStreamRequest(path, ...coded, this.#metadata);
    return stream as ClientDuplexStream<MessageInitShape<Request>, MessageShape<Reply>>;
  }

  /** Calls a method with streams in both directions, for requests that are already encoded. */
  exchangeBytes<Request extends DescMessage, Reply extends DescMessage>(
    method: DescMethodBiDiStreaming<Request, Reply>,
  ): ClientDuplexStream<Buffer, MessageShape<Reply>> {
    const { path, responseDeserialize } = definitionOf(method);
    const whole = (bytes: Buffer): Buffer => bytes;
    const coded = [whole, responseDeserialize] as const;
    const stream: unknown = this.#client.makeBidiStreamRequest(path, ...coded, this.#metadata);
    return stream as ClientDuplexStream<Buffer, MessageShape<Reply>>;
  }

  [Symbol.dispose](): void {
    this.#client.close();
  }
}
