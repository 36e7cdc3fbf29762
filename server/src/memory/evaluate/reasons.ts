/** Reasons that rest on other reasons. */
import { unknownReasons } from "../../messages/estimate";
import type { Message } from "../../messages/message";

/** The first cause: a condition on an unknown condition rests on what that one rests on. */
export function rootOf(reason: Message): Message {
  const inner = reason.values["reason"];
  return typeof inner === "object" ? rootOf(inner) : reason;
}

/** Whether a limit of the evaluator is the reason: trying again would only cost as much again. */
export function isLimit(reason: Message): boolean {
  return rootOf(reason).text === unknownReasons.steps;
}
