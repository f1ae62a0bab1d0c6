import { useRouter } from "@tanstack/react-router";
import { Command } from "cmdk";
import { Dialog } from "radix-ui";
import { type JSX, type ReactNode, useDeferredValue, useState } from "react";
import { usePageVerbs } from "../components/page/verbs.tsx";
import { experimentPath, modelPath, trialPath } from "../components/paths.ts";
import { experimentState } from "../components/state.ts";
import { StateBadge } from "../components/state-badge.tsx";
import { useCall } from "../data/calls.ts";
import styles from "./palette.module.css";
import { idIn, wordsFilter } from "./palette-query.ts";
import { usePlaces } from "./use-places.ts";

type Props = { readonly onClose: () => void };

/** Ctrl-K: pages, experiments, trials and models by number or name, and the actions of the open page. */
export function Palette({ onClose }: Props): JSX.Element {
  const { history } = useRouter();
  const [text, setText] = useState("");
  const places = usePlaces();
  const verbs = usePageVerbs().filter(({ disabled }) => disabled !== true);
  const go = (to: string): void => {
    onClose();
    history.push(to);
  };
  const matches = (title: string): boolean =>
    title.toLowerCase().includes(text.trim().toLowerCase());
  return (
    <Dialog.Root open onOpenChange={(open) => open || onClose()}>
      <Dialog.Portal>
        <Dialog.Overlay className={styles["overlay"]} />
        <Dialog.Content className={styles["palette"]} aria-describedby={undefined}>
          <Dialog.Title className="visually-hidden">Go to or do</Dialog.Title>
          <Command shouldFilter={false} label="Go to or do" loop>
            <Command.Input
              className={styles["input"]}
              value={text}
              onValueChange={setText}
              placeholder="A page, an experiment or trial by number or name, a model, an action"
            />
            <Command.List className={styles["list"]}>
              <Command.Empty className={styles["empty"]}>Nothing has this name.</Command.Empty>
              <Group heading="On this page">
                {verbs
                  .filter(({ title }) => matches(title))
                  .map(({ title, run }) => (
                    <Item
                      key={title}
                      value={`do ${title}`}
                      onSelect={() => {
                        onClose();
                        run();
                      }}
                    >
                      {title}
                    </Item>
                  ))}
              </Group>
              <Group heading="Pages">
                {places
                  .filter(({ title }) => matches(title))
                  .map(({ to, title, key, icon: Icon }) => (
                    <Item key={to} value={`page ${title}`} onSelect={() => go(to)}>
                      <Icon size={14} aria-hidden /> {title} <kbd>g {key}</kbd>
                    </Item>
                  ))}
              </Group>
              <Found text={text} go={go} />
            </Command.List>
          </Command>
        </Dialog.Content>
      </Dialog.Portal>
    </Dialog.Root>
  );
}

/** Experiments and models with words that begin with the typed words, and the trial or experiment of a number. */
function Found({
  text,
  go,
}: {
  readonly text: string;
  readonly go: (to: string) => void;
}): JSX.Element {
  const filter = wordsFilter(useDeferredValue(text));
  const enabled = filter !== "";
  const options = { enabled };
  const fields = ["id", "name", "state", "phase"];
  const experiments = useCall(
    "listExperiments",
    { filter, pageSize: 8, fields, archived: true },
    options,
  );
  const models = useCall("listModels", { filter, pageSize: 5 }, options);
  const id = idIn(text);
  return (
    <>
      {id !== null && (
        <Item
          value={`id ${id.id}`}
          onSelect={() => go(id.kind === "trial" ? trialPath(id.id) : experimentPath(id.id))}
        >
          {id.kind === "trial" ? "Trial" : "Experiment"} {id.id}
        </Item>
      )}
      <Group heading="Experiments">
        {enabled &&
          experiments.data?.items.map((experiment) => (
            <Item
              key={experiment.id}
              value={`experiment ${experiment.id}`}
              onSelect={() => go(experimentPath(experiment.id))}
            >
              <span className="mono">{experiment.id}</span> {experiment.name}
              <StateBadge state={experimentState(experiment)} />
            </Item>
          ))}
      </Group>
      <Group heading="Models">
        {enabled &&
          models.data?.items.map(({ name }) => (
            <Item key={name} value={`model ${name}`} onSelect={() => go(modelPath(name))}>
              {name}
            </Item>
          ))}
      </Group>
    </>
  );
}

function Group(props: {
  readonly heading: string;
  readonly children: ReactNode;
}): JSX.Element | null {
  const { heading, children } = props;
  if (!Array.isArray(children) || children.length === 0) return null;
  return (
    <Command.Group heading={heading} className={styles["group"]}>
      {children}
    </Command.Group>
  );
}

function Item(props: {
  readonly value: string;
  readonly onSelect: () => void;
  readonly children: ReactNode;
}): JSX.Element {
  return <Command.Item className={styles["item"]} {...props} />;
}
