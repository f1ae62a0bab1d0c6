import { useNavigate } from "@tanstack/react-router";
import { type JSX, lazy, Suspense, useState } from "react";
import { Button } from "../../components/button.tsx";
import { Dialog } from "../../components/dialog.tsx";
import { ErrorNote } from "../../components/error-note.tsx";
import { Field } from "../../components/field.tsx";
import { useCall, useChange } from "../../data/calls.ts";
import styles from "./texts.module.css";

const CodeEditor = lazy(async () => ({
  default: (await import("../../components/code-editor.tsx")).CodeEditor,
}));

type Props = { readonly experiment: string; readonly onClose: () => void };

/** Creates an experiment with the same code and an edited configuration; the server reports its errors. */
export function ForkDialog({ experiment, onClose }: Props): JSX.Element {
  const submission = useCall("getSubmission", { experiment });
  const { data, error } = submission;
  if (data === undefined) {
    return (
      <Dialog open wide onClose={onClose} title={`Fork experiment ${experiment}`}>
        {error === null ? <p>Loading its configuration …</p> : <ErrorNote error={error} />}
      </Dialog>
    );
  }
  return <ForkForm {...{ experiment, onClose }} config={data.config} masked={data.masked} />;
}

type FormProps = Props & { readonly config: string; readonly masked: readonly string[] };

function ForkForm({ experiment, onClose, config, masked }: FormProps): JSX.Element {
  const [text, setText] = useState(config);
  const [checkpoint, setCheckpoint] = useState("");
  const [paused, setPaused] = useState(false);
  const open = useNavigate();
  const check = useChange("forkExperiment");
  const fork = useChange("forkExperiment", ["listExperiments"]);
  const request = { experiment, config: text, checkpoint: checkpoint.trim(), paused };
  const submit = () => {
    if (fork.isPending) return;
    fork.mutate(
      { request },
      {
        onSuccess: ({ experiment: made }) => {
          onClose();
          if (made === undefined) return;
          void open({
            to: "/experiments/$experiment",
            params: { experiment: made.id },
            search: {},
          });
        },
      },
    );
  };
  const failed = fork.error ?? check.error;
  return (
    <Dialog
      open
      wide
      onClose={onClose}
      onSubmit={submit}
      title={`Fork experiment ${experiment}`}
      description="A new experiment with the same code. Change what should differ, a learning rate for example. Ctrl-Enter forks, Tab leaves the editor."
      actions={
        <>
          <Button onClick={onClose}>Cancel</Button>
          <Button
            disabled={check.isPending}
            onClick={() => check.mutate({ request: { ...request, validateOnly: true } })}
          >
            Check
          </Button>
          <Button look="primary" disabled={fork.isPending} onClick={submit}>
            Fork
          </Button>
        </>
      }
    >
      {masked.length > 0 && (
        <p>
          Secrets are masked: give {masked.join(", ")} again, or remove{" "}
          {masked.length > 1 ? "them" : "it"}.
        </p>
      )}
      <Changes {...{ config, setText, checkpoint, setCheckpoint, paused, setPaused }} />
      <div role="status">
        {check.isSuccess && failed === null && <Checked warnings={check.data.warnings} />}
      </div>
      {failed !== null && <ErrorNote error={failed} />}
    </Dialog>
  );
}

type ChangesProps = {
  readonly config: string;
  readonly setText: (text: string) => void;
  readonly checkpoint: string;
  readonly setCheckpoint: (checkpoint: string) => void;
  readonly paused: boolean;
  readonly setPaused: (paused: boolean) => void;
};

function Changes(props: ChangesProps): JSX.Element {
  const { config, setText, checkpoint, setCheckpoint, paused, setPaused } = props;
  return (
    <>
      <Suspense fallback={<p>Loading the editor …</p>}>
        <CodeEditor label="Configuration" text={config} onChange={setText} />
      </Suspense>
      <Field
        label="Start from checkpoint"
        hint="The UUID of a complete checkpoint of this experiment; empty to start from the beginning."
        value={checkpoint}
        onChange={(event) => setCheckpoint(event.target.value)}
      />
      <label className={styles["buttons"]}>
        <input
          type="checkbox"
          checked={paused}
          onChange={(event) => setPaused(event.target.checked)}
        />
        Create it paused
      </label>
    </>
  );
}

function Checked({ warnings }: { readonly warnings: readonly string[] }): JSX.Element {
  return (
    <>
      <p>The configuration is valid.</p>
      <ul>
        {warnings.map((warning) => (
          <li key={warning}>{warning}</li>
        ))}
      </ul>
    </>
  );
}
