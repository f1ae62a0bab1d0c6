/** Tests of the pages of single objects: an experiment, a trial, a model. */
import "./pages/experiment.ts";
import "./pages/population.ts";
import "./pages/trial.ts";
import "./pages/progress.ts";
import "./pages/models.ts";
