import { useNavigate } from "@tanstack/react-router";
import type { ReplyOf } from "@trainyard/contracts";
import { type JSX, lazy, Suspense, useState } from "react";
import { Button } from "../../components/button.tsx";
import { CodeText } from "../../components/code-text.tsx";
import { Dialog } from "../../components/dialog.tsx";
import { ErrorNote } from "../../components/error-note.tsx";
import { Field } from "../../components/field.tsx";
import { useCall, useChange } from "../../data/calls.ts";
import styles from "./fork-dialog.module.css";
import { defaultLines, forkText, seedOverrides } from "./fork-text.ts";

const ForkForm = lazy(async () => ({ default: (await import("./fork-form.tsx")).ForkForm }));

type Props = { readonly experiment: string; readonly onClose: () => void };
type Submission = ReplyOf<"getSubmission">;

/** Creates an experiment with the same code and an edited configuration; the server reports its errors. */
export function ForkDialog({ experiment, onClose }: Props): JSX.Element {
  const { data, error } = useCall("getSubmission", { experiment });
  if (data === undefined) {
    return (
      <Dialog open wide onClose={onClose} title={`Fork experiment ${experiment}`}>
        {error === null ? <p>Loading its configuration …</p> : <ErrorNote error={error} />}
      </Dialog>
    );
  }
  return <Loaded {...{ experiment, onClose }} submission={data} />;
}

type LoadedProps = Props & { readonly submission: Submission };

type Choices = {
  readonly text: string;
  readonly checkpoint: string;
  readonly sameSeed: boolean;
  readonly paused: boolean;
};

function Loaded({ experiment, onClose, submission }: LoadedProps): JSX.Element {
  const [first] = useState(
    (): Choices => ({ text: forkText(submission), checkpoint: "", sameSeed: true, paused: false }),
  );
  const [choices, setChoices] = useState(first);
  const [isAsking, setAsking] = useState(false);
  const { check, fork, submit } = useFork(experiment, submission.seed, choices, onClose);
  const isChanged = JSON.stringify(choices) !== JSON.stringify(first);
  const change = (some: Partial<Choices>): void => setChoices((old) => ({ ...old, ...some }));
  // While it asks, a further Escape keeps the changes.
  const leave = (): void => (isChanged ? setAsking(!isAsking) : onClose());
  const failed = fork.error ?? check.error;
  return (
    <Dialog
      open
      wide
      onClose={leave}
      onSubmit={submit}
      title={`Fork experiment ${experiment}`}
      description="A new experiment with the same code. Change what should differ, a learning rate for example. Ctrl-Enter forks, Tab leaves the text."
      actions={
        isAsking ? (
          <>
            <span className={styles["asking"]}>Discard your changes?</span>
            <Button onClick={onClose}>Discard</Button>
            <Button look="primary" autoFocus onClick={() => setAsking(false)}>
              Keep editing
            </Button>
          </>
        ) : (
          <>
            <Button onClick={leave}>Cancel</Button>
            <Button disabled={check.isPending} onClick={() => void check.run()}>
              Check
            </Button>
            <Button look="primary" disabled={fork.isPending} onClick={submit}>
              Fork
            </Button>
          </>
        )
      }
    >
      <Masked names={submission.masked} />
      <Suspense fallback={<p>Loading the form …</p>}>
        <ForkForm text={choices.text} onText={(text) => change({ text })} />
      </Suspense>
      <Options choices={choices} seed={submission.seed} onChange={change} />
      <Defaults submission={submission} />
      <div role="status">
        {check.warnings !== undefined && failed === null && <Checked warnings={check.warnings} />}
      </div>
      {failed !== null && <ErrorNote error={failed} />}
    </Dialog>
  );
}

/** The calls that check and create the fork. */
function useFork(experiment: string, seed: number, choices: Choices, onClose: () => void) {
  const open = useNavigate();
  const check = useChange("forkExperiment");
  const fork = useChange("forkExperiment", ["listExperiments"]);
  const { text, checkpoint, sameSeed, paused } = choices;
  const requested = async () => ({
    experiment,
    config: text,
    checkpoint: checkpoint.trim(),
    paused,
    overrides: sameSeed ? [...(await seedOverrides(text, seed))] : [],
  });
  const submit = async (): Promise<void> => {
    if (fork.isPending) return;
    const request = await requested();
    fork.mutate(
      { request },
      {
        onSuccess: ({ experiment: made }) => {
          onClose();
          if (made === undefined) return;
          const params = { experiment: made.id };
          void open({ to: "/experiments/$experiment", params, search: {} });
        },
      },
    );
  };
  return {
    check: {
      error: check.error,
      isPending: check.isPending,
      warnings: check.data?.warnings,
      run: async () => check.mutate({ request: { ...(await requested()), validateOnly: true } }),
    },
    fork,
    submit: () => void submit(),
  };
}

function Masked({ names }: { readonly names: readonly string[] }): JSX.Element | null {
  if (names.length === 0) return null;
  return (
    <p>
      Secrets are masked: give {names.join(", ")} again, or remove{" "}
      {names.length > 1 ? "them" : "it"}.
    </p>
  );
}

type OptionsProps = {
  readonly choices: Choices;
  readonly seed: number;
  readonly onChange: (some: Partial<Choices>) => void;
};

function Options({ choices, seed, onChange }: OptionsProps): JSX.Element {
  return (
    <>
      <Field
        label="Start from checkpoint"
        hint="The UUID of a complete checkpoint of this experiment; empty to start from the beginning."
        value={choices.checkpoint}
        onChange={({ target }) => onChange({ checkpoint: target.value })}
      />
      <div className={styles["options"]}>
        <label>
          <input
            type="checkbox"
            checked={choices.sameSeed}
            onChange={({ target }) => onChange({ sameSeed: target.checked })}
          />
          The same seed, {seed}, unless the text names one
        </label>
        <label>
          <input
            type="checkbox"
            checked={choices.paused}
            onChange={({ target }) => onChange({ paused: target.checked })}
          />
          Create it paused
        </label>
      </div>
    </>
  );
}

/** The values that the platform filled in, which the text does not have. */
function Defaults({ submission }: { readonly submission: Submission }): JSX.Element | null {
  const lines = defaultLines(submission);
  if (lines === "") return null;
  const count = submission.record?.defaulted.length ?? 0;
  return (
    <details className={styles["defaults"]}>
      <summary>{count} values are defaults of the platform</summary>
      <CodeText label="Defaults of the platform" text={lines} />
    </details>
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
