import {
  createContext,
  type JSX,
  type ReactNode,
  use,
  useEffect,
  useId,
  useLayoutEffect,
  useMemo,
  useRef,
  useState,
} from "react";

/** An action on a page: a button of its header and a line of the palette. */
export type Verb = {
  readonly title: string;
  readonly run: () => void;
  readonly danger?: boolean;
  readonly disabled?: boolean;
  readonly primary?: boolean;
  /** The reason why a disabled verb cannot run, which the menu shows with it. */
  readonly why?: string | undefined;
};

type Registry = {
  readonly verbs: readonly Verb[];
  readonly register: (id: string, verbs: readonly Verb[]) => void;
};

const Context = createContext<Registry>({ verbs: [], register: () => {} });

export function VerbsProvider({ children }: { readonly children: ReactNode }): JSX.Element {
  const [byPart, setByPart] = useState<Readonly<Record<string, readonly Verb[]>>>({});
  const registry = useMemo(
    (): Registry => ({
      verbs: Object.values(byPart).flat(),
      register: (id, verbs) => setByPart((all) => ({ ...all, [id]: verbs })),
    }),
    [byPart],
  );
  return <Context value={registry}>{children}</Context>;
}

export const usePageVerbs = (): readonly Verb[] => use(Context).verbs;

/** Returns the verbs such that running one runs the latest verb with its title. */
export function latestOf(verbs: readonly Verb[], latest: () => readonly Verb[]): readonly Verb[] {
  return verbs.map((verb) => ({
    ...verb,
    run: () =>
      latest()
        .find(({ title }) => title === verb.title)
        ?.run(),
  }));
}

/** Offers the verbs in the palette while the component is mounted. Their titles identify them. */
export function useOfferVerbs(verbs: readonly Verb[]): void {
  const { register } = use(Context);
  const id = useId();
  const latest = useRef(verbs);
  useLayoutEffect(() => {
    latest.current = verbs;
  });
  const key = verbs.map(({ title, disabled = false }) => `${title} ${disabled}`).join("\n");
  useEffect(() => {
    register(
      id,
      latestOf(verbs, () => latest.current),
    );
    return () => register(id, []);
    // oxlint-disable-next-line react/exhaustive-deps — the titles identify the lines, which run the verbs of the latest render
  }, [id, key]);
}
