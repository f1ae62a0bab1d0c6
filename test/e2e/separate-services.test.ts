/** Tests on a cluster whose services are processes of their own: some are killed, and all are looked at. */
import "./separate-services/custom-search.ts";
import "./separate-services/population.ts";
import "./separate-services/secure-by-default.ts";
import "./separate-services/several-gateways.ts";
import "./separate-services/subscription-users.ts";
import "./separate-services/operation.ts";
import "./separate-services/heavy-requests.ts";
