/**
 * Attributes that an object really has although the evaluator does not model them. Without these, reading one would look
 * like a mistake of the script's, whose code "raises AttributeError".
 */
import type { Span } from "../../python/tree";
import { isUnknown } from "../unknown";
import { getAttribute } from "./attributes";
import { hasMethod } from "./builtins/methods";
import type { Interpreter } from "./interpreter";
import { NativeFunction, ObjectValue, type ClassValue, type Native, type Value } from "./values";

function names(text: string): ReadonlySet<string> {
  return new Set(text.trim().split(/\s+/));
}

/** `dir(object)` (https://docs.python.org/3/reference/datamodel.html). */
const ofObjects = names(`
  __delattr__ __dir__ __doc__ __eq__ __format__ __ge__ __getattribute__ __getstate__ __gt__ __hash__ __init__
  __init_subclass__ __le__ __lt__ __ne__ __new__ __reduce__ __reduce_ex__ __repr__ __setattr__ __sizeof__ __str__
  __subclasshook__ __weakref__
`);

/** `dir(torch.nn.Module())` in PyTorch 2.13, what `object` has left out. */
const ofModules = names(`
  T_destination _apply _backward_hooks _backward_pre_hooks _buffers _call_impl _compiled_call_impl _forward_hooks
  _forward_hooks_always_called _forward_hooks_with_kwargs _forward_pre_hooks _forward_pre_hooks_with_kwargs
  _get_backward_hooks _get_backward_pre_hooks _get_name _is_full_backward_hook _load_from_state_dict
  _load_state_dict_post_hooks _load_state_dict_pre_hooks _maybe_warn_non_full_backward_hook _modules _named_members
  _non_persistent_buffers_set _parameters _register_load_state_dict_pre_hook _register_state_dict_hook
  _replicate_for_data_parallel _save_to_state_dict _slow_forward _state_dict_hooks _state_dict_pre_hooks _version
  _wrapped_call_impl __annotations__ __getattr__ __setstate__ bfloat16 call_super_init dump_patches forward
  get_extra_state ipu mtia register_load_state_dict_post_hook register_load_state_dict_pre_hook
  register_state_dict_post_hook register_state_dict_pre_hook set_extra_state set_submodule to_empty xpu
`);

/**
 * What reading `name` of an object, a class or a `super()` of that class gives where the evaluator has found nothing; undefined
 * where nothing is there in Python either.
 */
export function beyondModel(
  interpreter: Interpreter,
  type: ClassValue,
  name: string,
  span: Span | undefined,
): Value | undefined {
  const builtin = type.find((one) => (interpreter.library.types.get(one.name) === one ? one : undefined));
  if (builtin !== undefined && hasMethod(builtin.name, name)) return unbound(name);
  const isThere =
    ofObjects.has(name) || (ofModules.has(name) && type.isSubclassOf(interpreter.library.moduleClass));
  return isThere ? interpreter.unknown("attribute", span, { name, type: type.name }) : undefined;
}

/** `str.split` and `dict.get`: the method of whatever comes first. */
function unbound(name: string): NativeFunction {
  const call: Native = (interpreter, args, span) => {
    const receiver = args.at(0) ?? null;
    const value = receiver instanceof ObjectValue ? (receiver.payload ?? receiver) : receiver;
    if (isUnknown(value)) return value;
    return interpreter.call(getAttribute(interpreter, value, name, span), args.withoutFirst(), span);
  };
  return new NativeFunction(name, call);
}
