import type { Plain } from "@trainyard/contracts";
import type { User } from "@trainyard/contracts/api";
import { type FormEvent, type JSX, useState } from "react";
import { Button } from "../../components/button.tsx";
import { Dialog } from "../../components/dialog.tsx";
import { changedTexts, type Edits } from "../../components/edits.ts";
import { ErrorNote } from "../../components/error-note.tsx";
import { Field } from "../../components/field.tsx";
import { ShownOnce } from "../../components/shown-once.tsx";
import { useSay } from "../../components/toasts.tsx";
import { useChange } from "../../data/calls.ts";

export type UserAction = {
  readonly kind: "edit" | "reset" | "disable";
  readonly user: Plain<User>;
};

type Props = { readonly user: Plain<User>; readonly onClose: () => void };

export function UserDialog(props: {
  readonly asked: UserAction;
  readonly onClose: () => void;
}): JSX.Element {
  const { asked, onClose } = props;
  const given = { user: asked.user, onClose };
  if (asked.kind === "edit") return <Edit {...given} />;
  return asked.kind === "reset" ? <Reset {...given} /> : <Disable {...given} />;
}

type Texts = { readonly name: string; readonly displayName: string; readonly email: string };

function Edit({ user, onClose }: Props): JSX.Element {
  const { name, displayName, email } = user;
  const [edits, setEdits] = useState<Edits<Texts>>({});
  const change = changedTexts<Texts>({ name, displayName, email }, edits);
  const update = useChange("updateUser", ["listUsers", "getMe", "listGroups", "listGrants"]);
  const isReady = Object.keys(change).length > 0 && !update.isPending;
  const submit = (event: FormEvent): void => {
    event.preventDefault();
    if (isReady) {
      update.mutate({ request: { user: user.id, ...change } }, { onSuccess: onClose });
    }
  };
  const of = (field: keyof Texts) => ({
    value: edits[field] ?? user[field],
    onChange: ({ target }: { readonly target: { readonly value: string } }) =>
      setEdits((now) => ({ ...now, [field]: target.value })),
  });
  return (
    <Dialog
      open
      onClose={onClose}
      title={`Edit ${name}`}
      actions={
        <>
          <Button onClick={onClose}>Cancel</Button>
          <Button look="primary" type="submit" form="edit-user" disabled={!isReady}>
            Save
          </Button>
        </>
      }
    >
      <form id="edit-user" onSubmit={submit}>
        <Field
          label="Name"
          hint="What the user owns, and filters by the name, follow a new one."
          spellCheck={false}
          {...of("name")}
        />
        <Field label="Display name" {...of("displayName")} />
        <Field label="E-mail address" type="email" {...of("email")} />
      </form>
      {update.error !== null && <ErrorNote error={update.error} />}
    </Dialog>
  );
}

function Reset({ user, onClose }: Props): JSX.Element {
  const { name } = user;
  const reset = useChange("resetPassword", ["listUsers"]);
  if (reset.data !== undefined) {
    return (
      <ShownOnce
        title={`The password of ${name}`}
        description="The password is shown only once: copy it, and give it to the person, who changes it on the page Account."
        secret={reset.data.password}
        noun="password"
        onClose={onClose}
      />
    );
  }
  return (
    <Dialog
      open
      onClose={onClose}
      title={`Reset the password of ${name}?`}
      description="The person gets a new random password, and the sessions that are signed in with the old one end. Tokens stay."
      actions={
        <>
          <Button onClick={onClose}>Leave it</Button>
          <Button
            look="primary"
            disabled={reset.isPending}
            onClick={() => reset.mutate({ request: { user: name } })}
          >
            Reset
          </Button>
        </>
      }
    >
      {reset.error !== null && <ErrorNote error={reset.error} />}
    </Dialog>
  );
}

function Disable({ user, onClose }: Props): JSX.Element {
  const { name } = user;
  const [reason, setReason] = useState("");
  const disable = useChange("disableUser", ["listUsers"]);
  const say = useSay();
  const run = (): void =>
    disable.mutate(
      { request: { user: name, reason } },
      {
        onSuccess: () => {
          say.done(`${name} is disabled.`);
          onClose();
        },
      },
    );
  return (
    <Dialog
      open
      onClose={onClose}
      onSubmit={run}
      title={`Disable ${name}?`}
      description="Sessions, tokens and streams end at once, and new ones are refused. What the user has started continues."
      actions={
        <>
          <Button onClick={onClose}>Leave it</Button>
          <Button look="danger" disabled={disable.isPending} onClick={run}>
            Disable
          </Button>
        </>
      }
    >
      <Field
        label="Reason"
        hint="Optional; it is recorded."
        value={reason}
        onChange={(event) => setReason(event.target.value)}
      />
      {disable.error !== null && <ErrorNote error={disable.error} />}
    </Dialog>
  );
}
