/** Reasons that rest on other reasons. */
import { unknownReasons } from "../../messages/estimate";
import type { Message } from "../../messages/message";
import type { Unknown } from "../unknown";

/** The first cause: a condition on an unknown condition rests on what that one rests on. */
export function rootOf(reason: Message): Message {
  const inner = reason.values["reason"];
  return typeof inner === "object" ? rootOf(inner) : reason;
}

/** Whether a reason says that a model may have been changed. */
export function isChange({ reason }: Unknown): boolean {
  return reason.text === unknownReasons.changedModule;
}

/** Whether a limit of the evaluator is the reason: trying again would only cost as much again. */
export function isLimit(reason: Message): boolean {
  return rootOf(reason).text === unknownReasons.steps;
}
