/** Tests on one agent with four slots. One cluster serves them all, so a test depends on nothing that others left. */
import "./one-agent/bad-input.ts";
import "./one-agent/halving.ts";
import "./one-agent/profile.ts";
import "./one-agent/early-stopping.ts";
import "./one-agent/hostile-ends.ts";
import "./one-agent/asked-stops.ts";
import "./one-agent/spaces.ts";
import "./one-agent/ci-job.ts";
import "./one-agent/external-searcher.ts";
import "./one-agent/live-board.ts";
import "./one-agent/tasks.ts";
import "./one-agent/traces.ts";
import "./one-agent/webhook-triggers.ts";
import "./one-agent/failing-trials.ts";
import "./one-agent/python-client.ts";
import "./one-agent/python-command.ts";
// The last ones, since the cluster has users afterwards.
import "./one-agent/teams.ts";
import "./one-agent/disabled-owner.ts";
