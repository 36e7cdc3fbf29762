/**
 * Images by their channels and size, and `torchvision.transforms` by what they do to those: enough to know the shape of what
 * a training script feeds its model. Sources: torchvision/transforms/{transforms,functional,_functional_pil}.py and
 * torchvision/transforms/v2.
 */
import type { Span } from "../../../python/tree";
import { isFloating, Tensor, type Dtype } from "../../tensor";
import { isUnknown } from "../../unknown";
import { CallArguments } from "../arguments";
import { isAlike } from "../either-way";
import type { Interpreter } from "../interpreter";
import { itemsOf } from "../iteration";
import { dataTensor } from "../nn/tensors";
import { integer } from "../numbers";
import {
  DtypeValue,
  LibraryName,
  ListValue,
  NativeFunction,
  ObjectValue,
  TupleValue,
  type Native,
  type Value,
} from "../values";
import { libraryClass, libraryObject } from "./library-class";

/** Height and width in pixels; undefined where only a run can know them. */
interface Size {
  readonly height: number | undefined;
  readonly width: number | undefined;
  /** The shorter side where it is known and the longer is not: a crop of no more than that has a known size. */
  readonly shorter?: number | undefined;
}

/** A picture as PIL holds it, or the last two dimensions of a tensor. */
interface Picture extends Size {
  readonly channels: number | undefined;
}

/** Bands of PIL's modes: https://pillow.readthedocs.io/en/stable/handbook/concepts.html#modes */
const modeChannels: Readonly<Record<string, number>> = {
  "1": 1,
  L: 1,
  P: 1,
  LA: 2,
  RGB: 3,
  YCbCr: 3,
  LAB: 3,
  HSV: 3,
  RGBA: 4,
  CMYK: 4,
};

/** How many bands a picture of a mode has; undefined for what is no mode. */
export function channelsOfMode(mode: Value): number | undefined {
  return typeof mode === "string" && Object.hasOwn(modeChannels, mode) ? modeChannels[mode] : undefined;
}

const same: Native = (_, args) => args.at(0) ?? null;

const image = libraryClass("Image", {
  convert: (interpreter, args, span) => {
    const picture = pictureOf(args.at(0) ?? null);
    const mode = args.at(1);
    if (picture === undefined) return interpreter.unknown("call", span, { name: "Image.convert" });
    if (mode === undefined) return args.at(0) ?? null;
    const channels = typeof mode === "string" ? modeChannels[mode] : undefined;
    return imageOf(interpreter, { ...picture, channels });
  },
  resize: (interpreter, args, span) => {
    const picture = pictureOf(args.at(0) ?? null);
    const [width, height] = numbersIn(interpreter, args.at(1) ?? null, span);
    if (picture === undefined) return interpreter.unknown("call", span, { name: "Image.resize" });
    return imageOf(interpreter, { channels: picture.channels, height, width });
  },
  crop: (interpreter, args, span) => {
    const picture = pictureOf(args.at(0) ?? null);
    const [left, upper, right, lower] = numbersIn(interpreter, args.at(1) ?? null, span);
    if (picture === undefined) return interpreter.unknown("call", span, { name: "Image.crop" });
    const known = left !== undefined && upper !== undefined && right !== undefined && lower !== undefined;
    const height = known ? lower - upper : undefined;
    const width = known ? right - left : undefined;
    return imageOf(interpreter, { channels: picture.channels, height, width });
  },
  transpose: (interpreter, args, span) => {
    const picture = pictureOf(args.at(0) ?? null);
    const [, way] = args.positional;
    if (picture === undefined || !(way instanceof LibraryName))
      return interpreter.unknown("call", span, { name: "Image.transpose" });
    const isTurned = /\.(ROTATE_90|ROTATE_270|TRANSPOSE|TRANSVERSE)$/.test(way.path);
    const { channels, height, width } = picture;
    return isTurned ? imageOf(interpreter, { channels, height: width, width: height }) : (args.at(0) ?? null);
  },
  rotate: (interpreter, args, span) =>
    args.or(3, "expand", false) === false
      ? (args.at(0) ?? null)
      : interpreter.unknown("call", span, { name: "Image.rotate" }),
  copy: same,
  filter: same,
  point: same,
  load: same,
});

/**
 * A picture's mode, `"RGB"`. Code that looks whether a picture has another mode refuses it or converts it: what goes on has
 * this one. Whether it has a certain mode, a run alone can tell.
 */
const mode = libraryClass("str", {
  __eq__: (interpreter, args, span) => {
    const { channels, asked } = comparedMode(args);
    if (channels === undefined || asked === undefined) return interpreter.unknown("imageChannels", span);
    return channels === asked;
  },
  __ne__: (interpreter, args, span) => {
    const { picture, channels, asked } = comparedMode(args);
    if (asked === undefined) return interpreter.unknown("imageChannels", span);
    if (channels === undefined) picture?.attributes.set(" channels", asked);
    return channels !== undefined && channels !== asked;
  },
});

/** The picture whose mode is compared, its channels, and those of the mode that is asked for. */
function comparedMode(args: CallArguments) {
  const [own, other] = [args.at(0), args.at(1)];
  const found = own instanceof ObjectValue ? own.attributes.get(" picture") : undefined;
  const picture = found instanceof ObjectValue ? found : undefined;
  const channels = picture === undefined ? undefined : pictureOf(picture)?.channels;
  return { picture, channels, asked: typeof other === "string" ? modeChannels[other] : undefined };
}

export function imageOf(interpreter: Interpreter, picture: Picture): ObjectValue {
  const { channels, height, width, shorter } = picture;
  const known = (side: number | undefined): Value =>
    side ?? interpreter.unknown("imageSize", interpreter.callSpan);
  const made = libraryObject(interpreter, image, {
    " channels": channels ?? null,
    " shorter": shorter ?? null,
    height: known(height),
    width: known(width),
    size: new TupleValue([known(width), known(height)]),
  });
  made.attributes.set("mode", libraryObject(interpreter, mode, { " picture": made }));
  return made;
}

export function pictureOf(value: Value): Picture | undefined {
  if (!(value instanceof ObjectValue) || value.type !== image) return undefined;
  const read = (name: string): number | undefined => {
    const found = value.attributes.get(name);
    return typeof found === "number" ? found : undefined;
  };
  return {
    channels: read(" channels"),
    height: read("height"),
    width: read("width"),
    shorter: read(" shorter"),
  };
}

/** The integers of a sequence, or one integer by itself. */
export function numbersIn(
  interpreter: Interpreter,
  value: Value,
  span: Span | undefined,
): (number | undefined)[] {
  if (!(value instanceof ListValue || value instanceof TupleValue)) return [integer(value)];
  const items = itemsOf(interpreter, value, span);
  return isUnknown(items) ? [] : items.map((item) => integer(item));
}

/** What a transform makes of a size; undefined when its own arguments are not known. */
export type Geometry = (size: Size) => Size | undefined;

/** Applies a change of size to an image or to the last two dimensions of a tensor. */
export function reshape(
  interpreter: Interpreter,
  value: Value,
  geometry: Geometry,
  name: string,
  span: Span | undefined,
): Value {
  if (isUnknown(value)) return value;
  const unknown = (): Value => interpreter.unknown("call", span, { name });
  const picture = pictureOf(value);
  if (picture !== undefined) {
    const size = geometry(picture);
    return size === undefined ? unknown() : imageOf(interpreter, { channels: picture.channels, ...size });
  }
  if (!(value instanceof Tensor) || value.shape.length < 2) return unknown();
  const [height, width] = value.shape.slice(-2);
  const size = geometry({ height, width });
  if (size?.height === undefined || size.width === undefined) return unknown();
  return dataTensor(interpreter, [...value.shape.slice(0, -2), size.height, size.width], value.dtype);
}

/** `Resize(size)`: one number is the shorter side, two are height and width. */
export function resized(sizes: readonly (number | undefined)[]): Geometry {
  const [height, width] = sizes;
  if (sizes.length === 2) return () => ({ height, width });
  return (size) => withShorterSide(size, height);
}

/** https://pytorch.org/vision/stable/generated/torchvision.transforms.Resize.html: `size * longer / shorter`, cut off. */
function withShorterSide({ height, width }: Size, side: number | undefined): Size {
  if (height === undefined || width === undefined || side === undefined)
    return { height: undefined, width: undefined, shorter: side };
  if (height === width) return { height: side, width: side };
  return height < width
    ? { height: side, width: Math.trunc((side * width) / height) }
    : { height: Math.trunc((side * height) / width), width: side };
}

/** A crop of one number is a square. */
export function cropped(sizes: readonly (number | undefined)[]): Geometry {
  const [height, width = height] = sizes;
  return () => ({ height, width });
}

/** `Pad(p)`, `Pad([left_right, top_bottom])`, `Pad([left, top, right, bottom])`. */
export function padded(paddings: readonly (number | undefined)[]): Geometry {
  const [left, top = left, right = left, bottom = top] = paddings;
  if (left === undefined || top === undefined || right === undefined || bottom === undefined)
    return () => undefined;
  return ({ height, width }) => ({
    height: height === undefined ? undefined : height + top + bottom,
    width: width === undefined ? undefined : width + left + right,
  });
}

type Shaping = (sizes: readonly (number | undefined)[]) => Geometry;

/** Transforms that change the size, by their first argument. */
const shapings: Readonly<Record<string, readonly [parameter: string, shaping: Shaping]>> = {
  Resize: ["size", resized],
  Scale: ["size", resized],
  CenterCrop: ["size", cropped],
  RandomCrop: ["size", cropped],
  RandomResizedCrop: ["size", cropped],
  RandomSizedCrop: ["size", cropped],
  Pad: ["padding", padded],
};

/** Transforms that leave size, channels and type as they are. */
const keepers = (
  "RandomHorizontalFlip RandomVerticalFlip ColorJitter RandomErasing RandomAffine RandomPerspective " +
  "GaussianBlur RandAugment AutoAugment TrivialAugmentWide AugMix RandomGrayscale RandomInvert RandomPosterize " +
  "RandomSolarize RandomAdjustSharpness RandomAutocontrast RandomEqualize ElasticTransform RandomPhotometricDistort " +
  "RandomChannelPermutation GaussianNoise"
).split(" ");

/** `torchvision.transforms.NAME(…)`: a callable that does `apply` to what it is given. */
function transform(name: string, apply: Native, ...held: Value[]): NativeFunction {
  return new NativeFunction(name, apply, held);
}

function shapingTransform(name: string, parameter: string, shaping: Shaping): Native {
  return (interpreter, args, span) => {
    if (args.keywords.has("max_size")) return interpreter.unknown("call", span, { name });
    const sizes = numbersIn(interpreter, args.or(0, parameter, null), span);
    const made = transform(name, (inner, given, place) =>
      reshape(inner, given.at(0) ?? null, shaping(sizes), name, place ?? span),
    );
    return withoutChange(made);
  };
}

const keeper =
  (name: string): Native =>
  () =>
    withoutChange(transform(name, same));

/** Transforms that keep the channels of what they are given. */
const channelKeepers = new WeakSet<NativeFunction>();

function withoutChange(made: NativeFunction): NativeFunction {
  channelKeepers.add(made);
  return made;
}

/** Channels that a transform needs: `Normalize` with several means refuses any other number. */
const channelsNeeded = new WeakMap<NativeFunction, number>();

const normalize: Native = (interpreter, args, span) => {
  const made = withoutChange(transform("Normalize", same));
  const means = itemsOf(interpreter, args.or(0, "mean", null), span);
  // One mean fits any number of channels.
  if (!isUnknown(means) && means.length > 1) channelsNeeded.set(made, means.length);
  return made;
};

/** The channels that the transforms behind a place need of what they are given; undefined where they leave that open. */
function channelsNeededBy(steps: readonly Value[]): number | undefined {
  for (const step of steps) {
    if (!(step instanceof NativeFunction)) return undefined;
    const needed = channelsNeeded.get(step);
    if (needed !== undefined) return needed;
    if (!channelKeepers.has(step)) return undefined;
  }
  return undefined;
}

/** A rotation keeps the size unless it is told to expand. */
const rotation: Native = (interpreter, args, span) =>
  args.or(2, "expand", false) === false
    ? transform("RandomRotation", same)
    : interpreter.unknown("call", span, { name: "RandomRotation" });

/** A picture becomes a tensor of its own shape; what is one already keeps it. */
export function tensorOfPicture(dtype: Dtype): Native {
  return (interpreter, given, span) => {
    const value = given.at(0) ?? null;
    if (isUnknown(value)) return value;
    if (value instanceof Tensor) return value.isArray ? channelsFirst(interpreter, value) : value;
    const picture = pictureOf(value);
    if (picture?.height === undefined || picture.width === undefined)
      return interpreter.unknown("imageSize", span);
    if (picture.channels === undefined) return interpreter.unknown("imageChannels", span);
    return dataTensor(interpreter, [picture.channels, picture.height, picture.width], dtype);
  };
}

const toTensor =
  (name: string, dtype: Dtype): Native =>
  () =>
    withoutChange(transform(name, tensorOfPicture(dtype)));

/** Of an array the channels come last; bytes become numbers between 0 and 1. */
function channelsFirst(interpreter: Interpreter, { shape, dtype }: Tensor): Value {
  const [height = 0, width = 0, channels = 1] = shape;
  return dataTensor(interpreter, [channels, height, width], dtype === "uint8" ? "float32" : dtype);
}

export const pictureOfTensor: Native = (interpreter, given, span) => {
  const value = given.at(0) ?? null;
  if (!(value instanceof Tensor) || value.shape.length !== 3)
    return isUnknown(value) ? value : interpreter.unknown("call", span, { name: "ToPILImage" });
  const [channels, height, width] = value.shape;
  return imageOf(interpreter, { channels, height, width });
};

const toImage: Native = () => transform("ToPILImage", pictureOfTensor);

/** A picture or tensor with another number of channels. */
export function withChannels(
  interpreter: Interpreter,
  value: Value,
  channels: number | undefined,
  span: Span | undefined,
): Value {
  const picture = pictureOf(value);
  if (picture !== undefined) return imageOf(interpreter, { ...picture, channels });
  if (!(value instanceof Tensor) || channels === undefined)
    return isUnknown(value) ? value : interpreter.unknown("call", span, { name: "Grayscale" });
  const shape = [...value.shape.slice(0, -3), channels, ...value.shape.slice(-2)];
  return dataTensor(interpreter, shape, value.dtype);
}

const grayscale: Native = (_, args) => {
  const channels = integer(args.or(0, "num_output_channels", 1));
  return transform("Grayscale", (interpreter, given, span) =>
    withChannels(interpreter, given.at(0) ?? null, channels, span),
  );
};

export function withDtype(
  interpreter: Interpreter,
  value: Value,
  dtype: Value,
  span: Span | undefined,
): Value {
  if (isUnknown(value)) return value;
  if (!(value instanceof Tensor) || !(dtype instanceof DtypeValue))
    return interpreter.unknown("call", span, { name: "ToDtype" });
  if (value.dtype === dtype.dtype) return value;
  return isFloating(value.dtype) || isFloating(dtype.dtype) || value.dtype === "uint8"
    ? dataTensor(interpreter, value.shape, dtype.dtype)
    : interpreter.unknown("call", span, { name: "ToDtype" });
}

/** `ConvertImageDtype(dtype)`, `ToDtype(dtype)`. */
const toDtype: Native = (_, args) => {
  const dtype = args.or(0, "dtype", new DtypeValue("float32"));
  return transform("ToDtype", (interpreter, given, span) =>
    withDtype(interpreter, given.at(0) ?? null, dtype, span),
  );
};

/** `Compose([…])`: one after the other. */
const compose: Native = (interpreter, args, span) => {
  const steps = itemsOf(interpreter, args.or(0, "transforms", null), span);
  if (isUnknown(steps)) return steps;
  return transform(
    "Compose",
    (inner, given, place) => {
      let value = given.at(0) ?? null;
      for (const [i, step] of steps.entries()) {
        const picture = pictureOf(value);
        const channels = picture?.channels ?? channelsNeededBy(steps.slice(i));
        if (picture !== undefined && channels !== picture.channels)
          value = imageOf(inner, { ...picture, channels });
        value = inner.call(step, new CallArguments([value]), place ?? span);
      }
      return value;
    },
    ...steps,
  );
};

/** Applied or not, by chance: known where it makes no difference. */
const perhaps: Native = (interpreter, args, span) => {
  const whole = compose(interpreter, args, span);
  if (!(whole instanceof NativeFunction)) return whole;
  return transform(
    "RandomApply",
    (inner, given, place) => {
      const before = given.at(0) ?? null;
      const after = inner.call(whole, new CallArguments([before]), place ?? span);
      return isAlike(before, after) ? before : inner.unknown("call", place ?? span, { name: "RandomApply" });
    },
    whole,
  );
};

const lambda: Native = (_, args) => {
  const callee = args.or(0, "lambd", null);
  return transform(
    "Lambda",
    (interpreter, given, span) => interpreter.call(callee, new CallArguments(given.positional), span),
    callee,
  );
};

const transforms: Readonly<Record<string, Native>> = {
  ...Object.fromEntries(
    Object.entries(shapings).map(([name, [parameter, shaping]]) => [
      name,
      shapingTransform(name, parameter, shaping),
    ]),
  ),
  ...Object.fromEntries(keepers.map((name) => [name, keeper(name)])),
  Normalize: normalize,
  RandomRotation: rotation,
  ToTensor: toTensor("ToTensor", "float32"),
  PILToTensor: toTensor("PILToTensor", "uint8"),
  ToImage: toTensor("ToImage", "uint8"),
  ToPILImage: toImage,
  Grayscale: grayscale,
  ConvertImageDtype: toDtype,
  ToDtype: toDtype,
  Compose: compose,
  RandomApply: perhaps,
  Lambda: lambda,
};

/** `Image.open(path)`: a picture of which nothing is known yet. */
const openImage: Native = (interpreter) =>
  imageOf(interpreter, { channels: undefined, height: undefined, width: undefined });

const transformPackages = [
  "torchvision.transforms",
  "torchvision.transforms.v2",
  "torchvision.transforms.transforms",
];

/** `PIL.ImageOps` that change neither size nor channels; a picture that is turned by its EXIF data has a size that only a run knows. */
const operations = "autocontrast equalize flip invert mirror posterize solarize".split(" ");

/** `ImageEnhance.Brightness(picture).enhance(factor)`. */
const enhancer = libraryClass("Enhance", {
  enhance: (_, args) => {
    const object = args.at(0);
    return object instanceof ObjectValue ? (object.attributes.get("image") ?? null) : null;
  },
});

const enhance: Native = (interpreter, args) =>
  libraryObject(interpreter, enhancer, { image: args.or(0, "image", null) });

export const imageFunctions: Readonly<Record<string, Native>> = {
  "PIL.Image.open": openImage,
  ...Object.fromEntries(operations.map((name) => [`PIL.ImageOps.${name}`, same])),
  "PIL.ImageOps.grayscale": (interpreter, args, span) =>
    withChannels(interpreter, args.or(0, "image", null), 1, span),
  ...Object.fromEntries(
    ["Brightness", "Color", "Contrast", "Sharpness"].map((name) => [`PIL.ImageEnhance.${name}`, enhance]),
  ),
  ...Object.fromEntries(
    transformPackages.flatMap((root) =>
      Object.entries(transforms).map(([name, native]) => [`${root}.${name}`, native] as const),
    ),
  ),
};
