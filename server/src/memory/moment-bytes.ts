/** The bytes of one moment of a step, by what they are for. */

/** What bytes are for; `other` is CUDA's rounding and workspaces, and the buffers of sharded training. */
export const momentKinds = [
  "parameters",
  "buffers",
  "optimizer",
  "gradients",
  "inputs",
  "saved",
  "temporary",
  "other",
] as const;

export type MomentKind = (typeof momentKinds)[number];
export type MomentBytes = Readonly<Record<MomentKind, number>>;

/** All that lives in a moment, in bytes. */
export function totalOf(bytes: MomentBytes): number {
  let total = 0;
  for (const kind of momentKinds) total += bytes[kind];
  return total;
}
