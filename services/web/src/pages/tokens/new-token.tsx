import { type FormEvent, type JSX, useState } from "react";
import { Button } from "../../components/button.tsx";
import { Dialog } from "../../components/dialog.tsx";
import { Command } from "../../components/empty-state.tsx";
import { ErrorNote } from "../../components/error-note.tsx";
import { Choice, Field } from "../../components/field.tsx";
import { ShownOnce } from "../../components/shown-once.tsx";
import { useCall, useChange } from "../../data/calls.ts";
import { useNow } from "../../data/clock.ts";
import { type Limit, LimitFields, noLimit } from "./limit-fields.tsx";
import { lifetimesOf } from "./token-state.ts";

type Props = {
  /** The cluster has users, so that a token can be limited. */
  readonly hasUsers: boolean;
  readonly onClose: () => void;
};

/** Creates a token, and shows its secret once. */
export function NewToken({ hasUsers, onClose }: Props): JSX.Element {
  const create = useChange("createToken", ["listTokens"]);
  const [label, setLabel] = useState("");
  const [chosen, setSeconds] = useState<string | null>(null);
  const [limit, setLimit] = useState<Limit>(noLimit);
  const session = useCall("getCurrentSession", {}, { fresh: true });
  const lifetimes = lifetimesOf(session.data, useNow());
  const seconds = chosen ?? String(lifetimes[0]?.seconds ?? 0);
  const isOfToken = session.data?.token !== "";
  const submit = (event: FormEvent): void => {
    event.preventDefault();
    const request = { label: label.trim(), ttlSeconds: Number(seconds) };
    create.mutate({ request: { ...request, ...limit, workspaces: [...limit.workspaces] } });
  };
  if (create.data !== undefined) {
    return (
      <ShownOnce
        title="The token"
        description="The token is shown only once: copy it. Programs read it from TRAINYARD_TOKEN."
        secret={create.data.secret}
        noun="token"
        onClose={onClose}
      />
    );
  }
  return (
    <Dialog
      open
      onClose={onClose}
      title="New token"
      actions={
        <>
          <Button onClick={onClose}>Cancel</Button>
          <Button look="primary" type="submit" form="new-token" disabled={create.isPending}>
            Create
          </Button>
        </>
      }
    >
      <form id="new-token" onSubmit={submit}>
        <Field
          label="Label"
          hint="The purpose of the token, such as laptop or nightly build."
          required
          maxLength={255}
          value={label}
          onChange={(event) => setLabel(event.target.value)}
        />
        <Choice
          label="It works for"
          hint={
            isOfToken ? lifeOfToken : "A revoked token, and one of a disabled user, ends at once."
          }
          value={seconds}
          onChange={(event) => setSeconds(event.target.value)}
        >
          {lifetimes.map((one) => (
            <option key={one.seconds} value={one.seconds}>
              {one.title}
            </option>
          ))}
        </Choice>
        {hasUsers && <LimitFields limit={limit} onChange={setLimit} />}
        {isOfToken && <Longer label={label.trim()} />}
      </form>
      {create.error !== null && <ErrorNote error={create.error} />}
    </Dialog>
  );
}

const lifeOfToken =
  "At most 12 hours, as a session without further use, and never longer than the token that you signed in with.";

/** The command that creates a token with a longer life. */
function Longer({ label }: { readonly label: string }): JSX.Element {
  const quoted = (label || "LABEL").replaceAll("'", "'\\''");
  return (
    <div>
      <p>For a token that lasts longer, use the command line:</p>
      <Command text={`yard token create --ttl 30d --label '${quoted}'`} />
    </div>
  );
}
