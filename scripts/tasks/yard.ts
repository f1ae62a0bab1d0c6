// npm run -s yard -- …: the command line of this checkout.
import "@trainyard/cli/main";
