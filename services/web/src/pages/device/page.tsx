import type { ReplyOf } from "@trainyard/contracts";
import { type FormEvent, type JSX, useState } from "react";
import { Button } from "../../components/button.tsx";
import { EmptyState } from "../../components/empty-state.tsx";
import { ErrorNote } from "../../components/error-note.tsx";
import { Field } from "../../components/field.tsx";
import { age, duration, time } from "../../components/format.ts";
import { FactList } from "../../components/inspector.tsx";
import { Page } from "../../components/page/page.tsx";
import { LoadingText } from "../../components/skeleton.tsx";
import { useCall, useChange } from "../../data/calls.ts";
import { useNow } from "../../data/clock.ts";
import { useMe } from "../../data/me.ts";
import { codeText } from "./code.ts";
import styles from "./page.module.css";
import { deviceRoute } from "./route.ts";

/** A person confirms here that a program may sign in as them. */
export function DevicePage(): JSX.Element {
  const { code } = deviceRoute.useSearch();
  return (
    <Page title="Sign in a program">
      <div className={styles["page"]}>
        {code === undefined ? <CodeForm /> : <Asked key={code} code={code} />}
      </div>
    </Page>
  );
}

function CodeForm(): JSX.Element {
  const navigate = deviceRoute.useNavigate();
  const [typed, setTyped] = useState("");
  const code = codeText(typed);
  const submit = (event: FormEvent): void => {
    event.preventDefault();
    if (code !== "") void navigate({ search: { code } });
  };
  return (
    <form className={styles["form"]} onSubmit={submit}>
      <Field
        label="Code"
        hint="The program that signs in shows it: eight letters."
        autoFocus
        autoComplete="off"
        spellCheck={false}
        className={styles["code"]}
        value={typed}
        onChange={(event) => setTyped(event.target.value)}
      />
      <Button look="primary" type="submit" disabled={code === ""}>
        Continue
      </Button>
    </form>
  );
}

function Asked({ code }: { readonly code: string }): JSX.Element {
  const asked = useCall("getDeviceLogin", { code }, { fresh: true });
  const answer = useChange("answerDeviceLogin");
  const me = useMe();
  const name = me.data?.user?.name;
  if (answer.isSuccess) {
    return answer.variables.request.confirm === true ? (
      <EmptyState title={`${asked.data?.program ?? "The program"} is signed in.`}>
        It continues by itself; this page can be closed. Its token is on the page Tokens.
      </EmptyState>
    ) : (
      <EmptyState title="The sign-in is refused.">
        The program gets no token. This page can be closed.
      </EmptyState>
    );
  }
  if (asked.error !== null) {
    return (
      <>
        <ErrorNote error={asked.error} />
        <CodeForm />
      </>
    );
  }
  if (asked.data === undefined) return <LoadingText label="the sign-in" />;
  const say = (confirm: boolean): void => answer.mutate({ request: { code, confirm } });
  return (
    <>
      <p>
        A program asks to sign in{name === undefined ? "" : ` as ${name}`}. Confirm it only if you
        have started it yourself, and if it shows this code.
      </p>
      <AskedFacts asked={asked.data} />
      <div className={styles["buttons"]}>
        <Button disabled={answer.isPending} onClick={() => say(false)}>
          Refuse
        </Button>
        <Button look="primary" disabled={answer.isPending} onClick={() => say(true)}>
          Confirm
        </Button>
      </div>
      {answer.error !== null && <ErrorNote error={answer.error} />}
    </>
  );
}

function AskedFacts({ asked }: { readonly asked: ReplyOf<"getDeviceLogin"> }): JSX.Element {
  const nowMs = useNow(1_000);
  const { code, program, address, startedAtMs, expiresAtMs } = asked;
  const leftMs = expiresAtMs - nowMs;
  return (
    <FactList
      facts={[
        ["Code", <b className={styles["code"]}>{code}</b>],
        ["Program", program],
        ["Address", <span className="mono">{address}</span>],
        ["Asked", `${time(startedAtMs)}, ${age(startedAtMs, nowMs)}`],
        ["Expires", leftMs <= 0 ? "it has expired" : `in ${duration(Math.max(1_000, leftMs))}`],
      ]}
    />
  );
}
