/** Tests of the images, and of an installation on Kubernetes that runs them: one build serves all of them. */
import "./contents.ts";
import "./containers.ts";
import "./command.ts";
import "../kubernetes/install/installation.ts";
