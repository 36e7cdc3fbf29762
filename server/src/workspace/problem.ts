/** What went wrong with a file, in words that name it and say what to do. */
import { workspaceMessages } from "../messages/workspace";
import { message } from "../messages/message";
import type { Message, MessageValue } from "../messages/message";

export interface FileProblem {
  /** The path as it was given or found. */
  readonly path: string;
  readonly message: Message;
  /** `note` says a limit, `error` that something asked for was not done. */
  readonly severity: "error" | "note";
}

export function problem(
  path: string,
  text: keyof typeof workspaceMessages,
  values: Readonly<Record<string, MessageValue>> = {},
  severity: FileProblem["severity"] = "error",
): FileProblem {
  return { path, message: message(workspaceMessages[text], { path: printable(path), ...values }), severity };
}

/** The problem behind an error of the file system; the rest of the errors are thrown on. */
export function problemOf(path: string, error: unknown): FileProblem {
  const code = errorCode(error);
  switch (code) {
    case undefined:
      throw error;
    case "ENOENT":
    case "ENOTDIR":
      return problem(path, "missing");
    case "ELOOP":
      return problem(path, "danglingLink");
    case "EACCES":
    case "EPERM":
      return problem(path, "denied");
    case "EISDIR":
      return problem(path, "isDirectory");
    default:
      return problem(path, "unreadable", { code });
  }
}

/** `ENOENT` and the like; `undefined` for errors that are not the file system's. */
export function errorCode(error: unknown): string | undefined {
  if (!(error instanceof Error) || !("code" in error)) return undefined;
  return typeof error.code === "string" ? error.code : undefined;
}

/** An error of ours in one line for the log; not yet `printable`. */
export function describeError(error: unknown): string {
  return error instanceof Error ? `${error.name}: ${error.message}` : String(error);
}

/**
 * A text for people and terminals: control characters (line ends, escape sequences), direction marks and lone
 * surrogates are written out as escapes, so that a hostile file name cannot forge output.
 */
export function printable(text: string): string {
  return text.replace(/[\p{Cc}\p{Cf}\p{Cs}\u2028\u2029]/gu, (sign) => {
    const code = sign.codePointAt(0) ?? 0;
    return code < 0x100 ? `\\x${code.toString(16).padStart(2, "0")}` : `\\u{${code.toString(16)}}`;
  });
}
