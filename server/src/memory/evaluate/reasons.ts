/** Reasons that rest on other reasons. */
import type { Message } from "../../messages/message";

/** The first cause: a condition on an unknown condition rests on what that one rests on. */
export function rootOf(reason: Message): Message {
  const inner = reason.values["reason"];
  return typeof inner === "object" ? rootOf(inner) : reason;
}
