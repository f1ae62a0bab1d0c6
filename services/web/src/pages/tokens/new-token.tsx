import { type FormEvent, type JSX, useState } from "react";
import { Button } from "../../components/button.tsx";
import { Dialog } from "../../components/dialog.tsx";
import { Command } from "../../components/empty-state.tsx";
import { ErrorNote } from "../../components/error-note.tsx";
import { Choice, Field } from "../../components/field.tsx";
import { useSay } from "../../components/toasts.tsx";
import { useCall, useChange } from "../../data/calls.ts";
import { useNow } from "../../data/clock.ts";
import styles from "./page.module.css";
import { lifetimesOf } from "./token-state.ts";

/** Creates a token, and shows its secret once. */
export function NewToken({ onClose }: { readonly onClose: () => void }): JSX.Element {
  const create = useChange("createToken", ["listTokens"]);
  const [label, setLabel] = useState("");
  const [seconds, setSeconds] = useState("0");
  const session = useCall("getCurrentSession", {}, { fresh: true });
  const nowMs = useNow();
  const submit = (event: FormEvent): void => {
    event.preventDefault();
    create.mutate({ request: { label: label.trim(), ttlSeconds: Number(seconds) } });
  };
  if (create.data !== undefined) return <Secret secret={create.data.secret} onClose={onClose} />;
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
      <form id="new-token" onSubmit={submit} className={styles["form"]}>
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
          hint="At most 12 hours, as a session without further use, and never longer than the token that you signed in with."
          value={seconds}
          onChange={(event) => setSeconds(event.target.value)}
        >
          {lifetimesOf(session.data, nowMs).map((one) => (
            <option key={one.seconds} value={one.seconds}>
              {one.title}
            </option>
          ))}
        </Choice>
        <div>
          <p>For a token that lasts longer, use the command line:</p>
          <Command text={longer(label.trim())} />
        </div>
      </form>
      {create.error !== null && <ErrorNote error={create.error} />}
    </Dialog>
  );
}

/** Returns the command that creates a token with a longer life. */
const longer = (label: string): string =>
  `yard token create --ttl 30d --label '${(label || "LABEL").replaceAll("'", "'\\''")}'`;

function Secret(props: { readonly secret: string; readonly onClose: () => void }): JSX.Element {
  const { secret, onClose } = props;
  const say = useSay();
  const copy = (): void => {
    navigator.clipboard.writeText(secret).then(() => say.done("The token is copied."), say.failed);
  };
  return (
    <Dialog
      open
      onClose={onClose}
      title="The token"
      description="The token is shown only once: copy it. Programs read it from TRAINYARD_TOKEN."
      actions={
        <>
          <Button onClick={copy}>Copy</Button>
          <Button look="primary" onClick={onClose}>
            Done
          </Button>
        </>
      }
    >
      <code className={styles["secret"]}>{secret}</code>
    </Dialog>
  );
}
