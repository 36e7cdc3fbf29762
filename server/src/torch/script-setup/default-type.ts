/** `torch.set_default_dtype` and `set_default_tensor_type`: what new floating-point tensors are made of. */
import { lastName } from "../../python/last-name";
import type { Call } from "../../python/tree";
import type { ScriptValue, SetupContext } from "../script-setup";

const setters = /^torch\.set_default_(dtype|tensor_type)$/;

/** Whether it is other than single precision: wider, or narrower, as what is not known may be. */
export type DefaultType = "wider" | "narrower";

const types: Readonly<Record<string, DefaultType | "single">> = {
  float32: "single",
  float: "single",
  FloatTensor: "single",
  float64: "wider",
  double: "wider",
  DoubleTensor: "wider",
};

export function defaultTypeOf({ resolver, constants }: SetupContext): ScriptValue<DefaultType> | undefined {
  const given = resolver.callsOf((name) => setters.test(name)).map((call) => ({ call, type: typeOf(call) }));
  const { call, type } =
    given.find((one) => one.type === "narrower") ?? given.find((one) => one.type === "wider") ?? {};
  return call === undefined || type === undefined || type === "single"
    ? undefined
    : { value: type, span: call };

  function typeOf({ positional: [first], keywords }: Call): DefaultType | "single" {
    const expression = first ?? keywords[0]?.value;
    const text = constants.valueOf(expression);
    const name =
      typeof text === "string"
        ? text.split(".").at(-1)
        : expression === undefined
          ? undefined
          : (resolver.qualifiedName(expression)?.split(".").at(-1) ?? lastName(expression));
    return types[name ?? ""] ?? "narrower";
  }
}
