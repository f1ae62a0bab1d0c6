import { encodeEvent } from "@trainyard/contracts";
import fc from "fast-check";
import { expect, test } from "vitest";
import { binaryModeOf } from "./bindings.ts";
import { LeavingEvent } from "./leaving-event.ts";

const id = "0193c5a0-0000-7000-8000-000000000001";
const meta = {
  source: "/trainyard/experiments",
  workspace: "",
  correlationid: "",
  causationid: "",
  authid: "token:ab",
  traceparent: "",
};

function created(config: Record<string, unknown>, description = ""): LeavingEvent {
  const data = {
    ...{ configSourceDigest: "", contextDigest: "", contextBytes: 0, submissionDigest: "" },
    ...{ tokenId: "", seed: 1, name: "e", description, labels: [], owner: "o", workspace: "1" },
    ...{ project: "1", config: config as never },
  };
  const stored = {
    ...{ position: 7, stream: "experiment-3", version: 1, id, timeMs: 0, commitId: id, meta },
    ...encodeEvent({ type: "ExperimentCreated", data }),
  };
  return new LeavingEvent(stored, "e1");
}

test("an event is a CloudEvent: empty attributes are absent, and numbers beyond 32 bits are texts", () => {
  const { data, ...attributes } = created({}).shown;
  expect(attributes).toEqual({
    ...{ specversion: "1.0", id, source: "/trainyard/experiments", subject: "experiment-3" },
    type: "dev.trainyard.experiment.ExperimentCreated.v1",
    ...{ time: "1970-01-01T00:00:00.000Z", sequence: "7", epoch: "e1", streamversion: "1" },
    ...{ authid: "token:ab", datacontenttype: "application/json" },
  });
  expect(data).toMatchObject({ name: "e" });
});

test("a body over 64 KiB is an address, and whole on request", () => {
  const large = created({}, "x".repeat(65_536));
  expect(large.shown).toMatchObject({ dataref: "/api/v1/events/7" });
  expect(large.shown.data).toBeUndefined();
  expect(large.whole.data).toMatchObject({ description: "x".repeat(65_536) });
  expect(binaryModeOf(large, "ce-")).toMatchObject({ body: "" });
});

test("no secret of a configuration is in any form of an event", () => {
  const secret = fc.stringMatching(/^s3cr3t[a-z0-9]{12}$/);
  const placed = fc.oneof(
    secret.map((one) => ({ one, config: { environment: { registry_auth: { password: one } } } })),
    secret.map((one) => ({
      one,
      config: { checkpoint_storage: { type: "s3", bucket: "b", secret_key: one } },
    })),
    secret.map((one) => ({
      one,
      config: { environment: { environment_variables: [`API_TOKEN=${one}`] } },
    })),
  );
  fc.assert(
    fc.property(placed, ({ one, config }) => {
      const event = created(config);
      const forms = [event.text, JSON.stringify(event.whole), JSON.stringify(event.data)];
      const binary = [binaryModeOf(event, "ce-"), binaryModeOf(event, "ce_")];
      for (const form of [...forms, ...binary.map((each) => JSON.stringify(each))]) {
        expect(form).not.toContain(one);
      }
    }),
  );
});
