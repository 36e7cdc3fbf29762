/**
 * OpenCV and albumentations by what they do to the sizes of pictures. Sources: https://docs.opencv.org/4.x/ (`imread` gives
 * height, width, channels of unsigned bytes), https://albumentations.ai/docs/.
 */
import type { Span } from "../../../python/tree";
import type { Dtype } from "../../tensor";
import { isUnknown } from "../../unknown";
import type { CallArguments } from "../arguments";
import type { Interpreter } from "../interpreter";
import { dictOf, itemsOf } from "../iteration";
import { dataTensor } from "../nn/tensors";
import { integer } from "../numbers";
import { LibraryName, ListValue, ObjectValue, TupleValue, type Native, type Value } from "../values";
import { libraryClass, libraryObject } from "./library-class";
import { channelsOfMode, imageOf, pictureOf } from "./images";
import { formOfArray, openArray, type OpenShape } from "./open-arrays";

function failed(interpreter: Interpreter, args: CallArguments, name: string, span: Span | undefined): Value {
  return args.unknown() ?? interpreter.unknown("call", span, { name });
}

/** `imread(path, flags)`: in colour unless it is told otherwise. */
const read: Native = (interpreter, args, span) => {
  const flag = args.or(1, "flags", 1);
  const name = flag instanceof LibraryName ? flag.path : undefined;
  if (flag === 0 || name === "cv2.IMREAD_GRAYSCALE")
    return openArray(interpreter, [undefined, undefined], "uint8");
  if (flag === 1 || name === "cv2.IMREAD_COLOR")
    return openArray(interpreter, [undefined, undefined, 3], "uint8");
  return interpreter.unknown("call", span, { name: "cv2.imread" });
};

/** `cvtColor(picture, code)`: the code's name says what it gives. */
const recoloured: Native = (interpreter, args, span) => {
  const form = formOfArray(args.at(0) ?? null);
  const code = args.or(1, "code", null);
  const to = code instanceof LibraryName ? /^cv2\.COLOR_\w+2([A-Z]+)$/.exec(code.path)?.[1] : undefined;
  if (form === undefined || to === undefined) return failed(interpreter, args, "cv2.cvtColor", span);
  const plane = form.shape.slice(0, 2);
  if (to === "GRAY") return openArray(interpreter, plane, form.dtype);
  return openArray(interpreter, [...plane, /A$/.test(to) ? 4 : 3], form.dtype);
};

/** `resize(picture, (width, height))`: a single channel loses its axis. */
const resized: Native = (interpreter, args, span) => {
  const form = formOfArray(args.at(0) ?? null);
  const [width, height] = sizesIn(interpreter, args.or(1, "dsize", null), span);
  if (form === undefined || width === undefined || height === undefined)
    return failed(interpreter, args, "cv2.resize", span);
  const channels = form.shape.slice(2);
  return openArray(interpreter, [height, width, ...(channels[0] === 1 ? [] : channels)], form.dtype);
};

function sizesIn(interpreter: Interpreter, value: Value, span: Span | undefined): (number | undefined)[] {
  if (!(value instanceof TupleValue || value instanceof ListValue)) return [];
  const items = itemsOf(interpreter, value, span);
  return isUnknown(items) ? [] : items.map((item) => integer(item));
}

const same: Native = (_, args) => args.at(0) ?? null;

/** What a transform does to a picture's plane, and to its type. */
interface Step {
  readonly plane?: readonly [height: number | undefined, width: number | undefined];
  readonly dtype?: Dtype;
  /** Channels come first, as tensors have them. */
  readonly isLast?: true;
}

const stepClass = libraryClass("BasicTransform", {});
const steps = new WeakMap<ObjectValue, readonly Step[]>();

function stepObject(interpreter: Interpreter, made: readonly Step[]): ObjectValue {
  const object = libraryObject(interpreter, stepClass, {});
  steps.set(object, made);
  return object;
}

/** Sizes by name or by position, or a pair by the name `size`. */
function sizing(name: string): Native {
  return (interpreter, args, span) => {
    const [first] = args.positional;
    const pair =
      args.keywords.get("size") ?? (first instanceof TupleValue || first instanceof ListValue ? first : null);
    const [height, width] =
      pair === null
        ? [integer(args.or(0, "height", null)), integer(args.or(1, "width", null))]
        : sizesIn(interpreter, pair, span);
    if (height === undefined || width === undefined)
      return failed(interpreter, args, `albumentations.${name}`, span);
    const isCertain = args.keywords.get("p") === undefined || integer(args.keywords.get("p") ?? null) === 1;
    // Applied by chance: pictures of another size would not make a batch, unless they have this one already.
    return isCertain
      ? stepObject(interpreter, [{ plane: [height, width] }])
      : failed(interpreter, args, `albumentations.${name}`, span);
  };
}

const keeping: Native = (interpreter) => stepObject(interpreter, []);

/** One after the other, or one of several that all leave sizes alone. */
const composed =
  (name: string, isChoice: boolean): Native =>
  (interpreter, args, span) => {
    const listed = itemsOf(interpreter, args.or(0, "transforms", null), span);
    if (isUnknown(listed)) return listed;
    const all: Step[] = [];
    for (const one of listed) {
      const own = one instanceof ObjectValue ? steps.get(one) : undefined;
      if (own === undefined)
        return isUnknown(one) ? one : failed(interpreter, args, `albumentations.${name}`, span);
      if (isChoice && own.length > 0) return failed(interpreter, args, `albumentations.${name}`, span);
      all.push(...own);
    }
    if (isChoice) return stepObject(interpreter, []);
    const object = libraryObject(interpreter, pipeline, {});
    steps.set(object, all);
    return object;
  };

/** `transform(image=…, mask=…)`: the same names with what became of them. */
const pipeline = libraryClass("Compose", {
  __call__: (interpreter, args, span) => {
    const object = args.at(0);
    const all = object instanceof ObjectValue ? (steps.get(object) ?? []) : [];
    if (args.unknownKeywords !== undefined) return args.unknownKeywords;
    return dictOf(
      [...args.keywords].map(
        ([name, value]) => [name, transformed(interpreter, name, value, all, span)] as const,
      ),
    );
  },
});

function transformed(
  interpreter: Interpreter,
  name: string,
  value: Value,
  all: readonly Step[],
  span: Span | undefined,
): Value {
  if (isUnknown(value)) return value;
  const form = formOfArray(asArray(interpreter, value));
  const isPicture = name === "image";
  if (form === undefined || !/^(image|mask)\d*$/.test(name))
    return interpreter.unknown("call", span, { name: `albumentations (${name})` });
  let shape: OpenShape = form.shape;
  let { dtype } = form;
  let isTensor = false;
  for (const { plane, dtype: own, isLast } of all) {
    if (plane !== undefined) shape = [...plane, ...shape.slice(2)];
    if (own !== undefined && isPicture) dtype = own;
    if (isLast !== true) continue;
    isTensor = true;
    if (isPicture) shape = [shape[2] ?? 1, shape[0], shape[1]];
  }
  const known = shape.filter((size) => size !== undefined);
  if (isTensor && known.length === shape.length && dtype !== undefined)
    return dataTensor(interpreter, known, dtype);
  return isTensor ? interpreter.unknown("imageSize", span) : openArray(interpreter, shape, dtype);
}

/** `numpy.array(picture)`: height, width and, of more than one, the channels. */
export function asArray(interpreter: Interpreter, value: Value): Value {
  const picture = pictureOf(value);
  if (picture === undefined) return value;
  const { height, width, channels } = picture;
  return openArray(interpreter, channels === 1 ? [height, width] : [height, width, channels], "uint8");
}

/** `Image.fromarray(array)`. */
const fromArray: Native = (interpreter, args, span) => {
  const form = formOfArray(args.at(0) ?? null);
  if (form === undefined || form.shape.length > 3)
    return failed(interpreter, args, "PIL.Image.fromarray", span);
  const [height, width, last] = form.shape;
  const mode = args.or(1, "mode", null);
  const channels = form.shape.length === 2 ? 1 : last;
  return imageOf(interpreter, { height, width, channels: channels ?? channelsOfMode(mode) });
};

const keepers = (
  "HorizontalFlip VerticalFlip Flip Rotate RandomRotate90 ShiftScaleRotate Affine SafeRotate Perspective ColorJitter " +
  "RandomBrightnessContrast RandomBrightness RandomContrast HueSaturationValue RGBShift GaussNoise GaussianBlur Blur " +
  "MotionBlur MedianBlur CoarseDropout Cutout ElasticTransform GridDistortion OpticalDistortion CLAHE RandomGamma " +
  "ImageCompression Sharpen ToGray Emboss ISONoise Posterize Solarize Equalize RandomFog RandomRain RandomShadow"
).split(" ");

const sizes = "Resize RandomCrop CenterCrop RandomResizedCrop".split(" ");

export const pictureFunctions: Readonly<Record<string, Native>> = {
  "cv2.imread": read,
  "cv2.cvtColor": recoloured,
  "cv2.resize": resized,
  ...Object.fromEntries(
    ["flip", "GaussianBlur", "medianBlur", "blur", "equalizeHist"].map((name) => [`cv2.${name}`, same]),
  ),
  "PIL.Image.fromarray": fromArray,
  "albumentations.Compose": composed("Compose", false),
  "albumentations.OneOf": composed("OneOf", true),
  "albumentations.SomeOf": composed("SomeOf", true),
  "albumentations.Normalize": (interpreter) => stepObject(interpreter, [{ dtype: "float32" }]),
  "albumentations.ToFloat": (interpreter) => stepObject(interpreter, [{ dtype: "float32" }]),
  "albumentations.pytorch.ToTensorV2": (interpreter) => stepObject(interpreter, [{ isLast: true }]),
  "albumentations.pytorch.transforms.ToTensorV2": (interpreter) =>
    stepObject(interpreter, [{ isLast: true }]),
  ...Object.fromEntries(sizes.map((name) => [`albumentations.${name}`, sizing(name)])),
  ...Object.fromEntries(keepers.map((name) => [`albumentations.${name}`, keeping])),
};
