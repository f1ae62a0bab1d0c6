/** Tests on two agents of two slots. One cluster serves them all, so a test depends on nothing that others left. */
import "./two-agents/pytorch.ts";
import "./two-agents/fsdp2.ts";
import "./two-agents/port.ts";
import "./two-agents/several-ranks.ts";
import "./two-agents/several-agents.ts";
import "./two-agents/broken-host.ts";
