/** The program that the npm package installs: the command line, and the language server for editors. */
import { start } from "./cli/bin";

// Only loaded when it is asked for.
start(() => void import("./lsp/main"));
