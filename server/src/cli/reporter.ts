/** What a command writes with: the streams, the language, the colours. */
import pc from "picocolors";
import { render } from "../messages/message";
import type { Language, Message } from "../messages/message";
import type { Io, Output } from "./io";

export type Colors = ReturnType<typeof pc.createColors>;

export interface Terminal {
  readonly io: Io;
  readonly language: Language;
  /** For standard output. */
  readonly colors: Colors;
  text(source: Message): string;
  /** A line on standard error, behind the program's name. */
  complain(source: Message): void;
}

export function terminalFor(io: Io, language: Language): Terminal {
  const text = (source: Message): string => render(source, language);
  return {
    io,
    language,
    colors: pc.createColors(wantsColor(io.stdout, io.env)),
    text,
    complain: (source) => void io.stderr.write(`vramlint: ${text(source)}\n`),
  };
}

/** Colours on terminals only; FORCE_COLOR and NO_COLOR (https://no-color.org) decide before that. */
export function wantsColor(output: Output, env: Io["env"]): boolean {
  const force = env["FORCE_COLOR"];
  if (force !== undefined && force !== "") return force !== "0" && force !== "false";
  if (env["NO_COLOR"]) return false;
  return output.isTTY === true && env["TERM"] !== "dumb";
}
