/** The program `vramlint` of the npm package. */
import { runProgram } from "./compiled-code";

runProgram(__filename, "program.js");
