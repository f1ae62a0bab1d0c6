/** Tests of the pages' frame before any experiment exists, then of Home and the list of experiments. */
import "./pages/frame.ts";
import "./pages/experiments.ts";
import "./pages/experiments-columns.ts";
