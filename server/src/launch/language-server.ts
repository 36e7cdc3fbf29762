/** The language server as the extension starts it where Node is; a browser loads `server.js` itself. */
import { runProgram } from "./compiled-code";

runProgram(__filename, "server.js");
