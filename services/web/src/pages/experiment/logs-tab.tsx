import { getRouteApi } from "@tanstack/react-router";
import type { JSX } from "react";
import { LogView } from "../../components/log-view/log-view.tsx";
import type { TabProps } from "./tabs.ts";

const route = getRouteApi("/experiments/$experiment");

/** The lines of all trials. A line's link leads to the log of its experiment. */
export function LogsTab({ experiment }: TabProps): JSX.Element {
  const { id, endedAtMs } = experiment;
  const search = route.useSearch();
  const navigate = route.useNavigate();
  return (
    <LogView
      task={{ experiment: id }}
      search={search}
      onSearch={(next) => void navigate({ search: { ...next, tab: "logs" }, replace: true })}
      hrefOf={(cursor) => `/experiments/${id}?tab=logs&line=${cursor}`}
      live={endedAtMs === undefined}
    />
  );
}
