/** The pages of one thing: an experiment, a trial, a model. */
import "./pages/experiment.ts";
import "./pages/trial.ts";
import "./pages/models.ts";
